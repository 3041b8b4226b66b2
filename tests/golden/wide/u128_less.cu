typedef unsigned int u32;
#define FN static __device__ __forceinline__

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const uint4* __restrict__ b_a,
    const uint4* __restrict__ b_b,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  uint4 v_call0_a = b_a[v_i];
  uint4 v_call0_b = b_b[v_i];
  b_out[v_i] = (((u32)(v_call0_a.w < v_call0_b.w)) | (((u32)(v_call0_a.w == v_call0_b.w)) & (((u32)(v_call0_a.z < v_call0_b.z)) | (((u32)(v_call0_a.z == v_call0_b.z)) & (((u32)(v_call0_a.y < v_call0_b.y)) | (((u32)(v_call0_a.y == v_call0_b.y)) & ((u32)(v_call0_a.x < v_call0_b.x))))))));
}
