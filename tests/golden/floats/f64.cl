#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN double native_f64_add(double x, double y) { return x + y; }
FN double native_f64_canon(double x) { return (as_ulong(x) & 0x7FFFFFFFFFFFFFFFUL) > 0x7FF0000000000000UL ? as_double((ulong)0x7FF8000000000000UL) : x; }
FN double native_f64_mul(double x, double y) { return x * y; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global double* restrict b_a,
    const __global double* restrict b_b,
    __global double* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  b_out[v_i] = native_f64_canon(native_f64_add(native_f64_mul(b_a[v_i], b_b[v_i]), as_double(0xBF647AE147AE147BUL)));
}
