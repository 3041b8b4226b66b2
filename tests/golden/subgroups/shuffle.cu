typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 intrinsic_subgroup32_shuffle(u32 value, u32 lane) { return __shfl_sync(0xffffffffu, value, (int)(lane & 31u)); }
FN u32 intrinsic_subgroup32_shuffle_xor(u32 value, u32 mask) { return __shfl_xor_sync(0xffffffffu, value, (int)(mask & 31u)); }

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
  u32 v_lane = intrinsic_subgroup32_shuffle(b_a[v_i], b_b[v_i]);
  u32 v_lane_1 = intrinsic_subgroup32_shuffle_xor(b_a[v_i], 5u);
  b_out[v_i] = (v_lane + v_lane_1);
}
