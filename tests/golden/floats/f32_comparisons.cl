#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 native_f32_eq(u32 a, u32 b) { float x = as_float(a), y = as_float(b); return (u32)(x == y); }
FN u32 native_f32_lt(u32 a, u32 b) { float x = as_float(a), y = as_float(b); return (u32)(x < y); }
FN u32 native_f32_ne(u32 a, u32 b) { float x = as_float(a), y = as_float(b); return (u32)(x != y); }
FN u32 soft_f32_is_inf(u32 v_a) {
  return ((u32)((v_a & 2147483647u) == 2139095040u));
}
FN u32 soft_f32_is_nan(u32 v_a) {
  return ((u32)((v_a & 2147483647u) > 2139095040u));
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
  b_out[v_i] = ((((native_f32_lt(b_a[v_i], b_b[v_i]) + (native_f32_eq(b_a[v_i], b_b[v_i]) << 1u)) + (native_f32_ne(b_a[v_i], b_b[v_i]) << 2u)) + (soft_f32_is_nan(b_a[v_i]) << 3u)) + (soft_f32_is_inf(b_b[v_i]) << 4u));
}
