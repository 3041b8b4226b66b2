typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN double neg_double(double a) { return __longlong_as_double(__double_as_longlong(a) ^ 0x8000000000000000L); }

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
  b_out[v_i] = neg_double((((v_i & 1u) != 0u) ? b_a[v_i] : b_b[v_i]));
}
