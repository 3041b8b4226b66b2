typedef unsigned int u32;
#define FN static __device__ __forceinline__
__constant__ unsigned long long vyre_constants[] = { 0xBF647AE147AE147BUL };
FN double native_f64_add(double x, double y) { return __dadd_rn(x, y); }
FN double native_f64_canon(double x) { return ((unsigned long long)__double_as_longlong(x) & 0x7FFFFFFFFFFFFFFFUL) > 0x7FF0000000000000UL ? __longlong_as_double((unsigned long long)0x7FF8000000000000UL) : x; }
FN double native_f64_mul(double x, double y) { return __dmul_rn(x, y); }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const double* __restrict__ b_a,
    const double* __restrict__ b_b,
    double* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_out[v_i] = native_f64_canon(native_f64_add(native_f64_mul(b_a[v_i], b_b[v_i]), __longlong_as_double(vyre_constants[0])));
}
