#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 native_f32_max(u32 a, u32 b) { float x = as_float(a), y = as_float(b); return x == y ? (a & b) : (x > y || (b & 2147483647u) > 2139095040u) ? a : b; }
FN u32 native_f32_min(u32 a, u32 b) { float x = as_float(a), y = as_float(b); return x == y ? (a | b) : (x < y || (b & 2147483647u) > 2139095040u) ? a : b; }
FN u32 soft_f32_canon(u32 v_a) {
  return (((v_a & 2147483647u) > 2139095040u) ? 2143289344u : v_a);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_a,
    const __global u32* restrict b_b,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  b_out[v_i] = soft_f32_canon(native_f32_min(b_a[v_i], native_f32_max(b_b[v_i], 0u)));
}
