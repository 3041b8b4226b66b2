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
  u32 v_call0_a = b_a[v_i];
  u32 v_call0_b = b_b[v_i];
  u32 v_call1_a = b_a[v_i];
  u32 v_call2_a = ((v_call0_a < v_call0_b) ? v_call0_a : v_call0_b);
  u32 v_call2_amount = ((v_call1_a > 3u) ? v_call1_a : 3u);
  b_out[v_i] = ((v_call2_a << (v_call2_amount & 31u)) | (v_call2_a >> ((0u - v_call2_amount) & 31u)));
}
