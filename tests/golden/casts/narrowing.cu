typedef unsigned int u32;
#define FN static __device__ __forceinline__

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const uint2* __restrict__ b_a,
    const uint4* __restrict__ b_b,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_out[v_i] = (b_a[v_i].x ^ b_b[v_i].x);
}
