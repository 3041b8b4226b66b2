#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 native_f32_add(u32 a, u32 b) { float x = as_float(a), y = as_float(b); return as_uint(x + y); }
FN u32 native_f32_mul(u32 a, u32 b) { float x = as_float(a), y = as_float(b); return as_uint(x * y); }
FN u32 soft_f32_canon(u32 v_a) {
  return (((v_a & 2147483647u) > 2139095040u) ? 2143289344u : v_a);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void vyre_main(
    const __global u32* restrict b_a,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  u32 v_start = 0u;
  u32 v_stop = 128u;
  u32 v_total = ((v_start < v_stop) ? b_a[v_start] : 0u);
  u32 stop_k = v_stop;
  for (u32 v_k = ((v_start < v_stop) ? (v_start + 1u) : v_stop); v_k < stop_k; v_k++) {
    v_total = native_f32_add(v_total, b_a[v_k]);
  }
  b_out[0u] = ((((v_start < v_stop) ? (v_stop - v_start) : 0u) > 1u) ? soft_f32_canon(native_f32_mul(v_total, 1065353216u)) : ((v_start < v_stop) ? b_a[v_start] : 0u));
}
