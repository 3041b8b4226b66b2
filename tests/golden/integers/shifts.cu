typedef unsigned int u32;
#define FN static __device__ __forceinline__

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    const u32* __restrict__ b_b,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_out[v_i] = (((b_a[v_i] << (b_b[v_i] & 31u)) + (b_a[v_i] >> (b_b[v_i] & 31u))) + (b_a[v_i] >> 3u));
}
