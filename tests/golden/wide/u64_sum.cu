typedef unsigned int u32;
#define FN static __device__ __forceinline__

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const uint2* __restrict__ b_a,
    const uint2* __restrict__ b_b,
    uint2* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  uint2 v_call0_a = b_a[v_i];
  uint2 v_call0_b = b_b[v_i];
  u32 v_call0_sum0 = (v_call0_a.x + v_call0_b.x);
  u32 v_call0_carry1 = ((u32)(v_call0_sum0 < v_call0_a.x));
  u32 v_call0_part1 = (v_call0_a.y + v_call0_b.y);
  u32 v_call0_sum1 = (v_call0_part1 + v_call0_carry1);
  b_out[v_i] = make_uint2(v_call0_sum0, v_call0_sum1);
}
