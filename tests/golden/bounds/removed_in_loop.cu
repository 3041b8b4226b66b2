typedef unsigned int u32;
#define FN static __device__ __forceinline__

extern "C" __global__ void __launch_bounds__(1) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  u32 stop_k = 256u;
  for (u32 v_k = 0u; v_k < stop_k; v_k++) {
    b_out[v_k] = (b_a[v_k] + b_a[(255u - v_k)]);
  }
}
