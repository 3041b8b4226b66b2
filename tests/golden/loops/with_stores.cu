typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN void store_1(u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

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
  u32 stop_k = (b_a[v_i] % 5u);
  for (u32 v_k = 0u; v_k < stop_k; v_k++) {
    store_1(b_out, 128u, ((v_i << 2u) + v_k), (v_k * b_b[v_k]));
  }
}
