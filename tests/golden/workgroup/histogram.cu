typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 load_1(const u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  const u32 workgroup_x = blockIdx.x + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  const u32 local_y = threadIdx.y;
  const u32 local_z = threadIdx.z;
  __shared__ u32 b_bins[16];
  const u32 local_linear = local_x + local_y * 64u + local_z * 64u;
  for (u32 z = local_linear; z < 16u; z += 64u) b_bins[z] = 0u;
  __syncthreads();
  u32 v_old = atomicAdd(&b_bins[(load_1(b_a, 128u, invocation_x) & 15u)], 1u);
  __syncthreads();
  if (local_x < 16u) {
    u32 v_seen = b_bins[local_x];
    u32 v_old_1 = atomicAdd(&b_out[local_x], v_seen);
    u32 v_sum = v_old_1;
  }
}
