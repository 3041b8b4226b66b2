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
  u32 v_row = (v_i >> 4u);
  u32 v_column = (v_i & 15u);
  u32 v_sum = 0u;
  u32 stop_k = 16u;
  for (u32 v_k = 0u; v_k < stop_k; v_k++) {
    u32 stop_bit = 2u;
    for (u32 v_bit = 0u; v_bit < stop_bit; v_bit++) {
      v_sum = ((v_sum + (b_a[((v_row << 4u) + v_k)] * b_b[((v_k << 4u) + v_column)])) + v_bit);
    }
  }
  b_out[v_i] = v_sum;
}
