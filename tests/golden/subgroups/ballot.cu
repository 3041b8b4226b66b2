typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 popcount_u32(u32 a) { return (u32)__popc(a); }
FN u32 intrinsic_subgroup32_ballot(u32 condition) { return __ballot_sync(0xffffffffu, condition != 0u); }

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
  u32 v_lane = intrinsic_subgroup32_ballot(b_a[v_i]);
  b_out[v_i] = popcount_u32(v_lane);
}
