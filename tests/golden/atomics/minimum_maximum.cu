typedef unsigned int u32;
#define FN static __device__ __forceinline__

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  u32 v_low = atomicMin(&b_out[0u], b_a[v_i]);
  u32 v_high = atomicMax(&b_out[1u], b_a[v_i]);
}
