typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN void store_1(u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_n,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_out
) {
  const u32 local_x = threadIdx.x;
  const u32 workgroup_x = blockIdx.x + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  const u32 local_y = threadIdx.y;
  const u32 local_z = threadIdx.z;
  __shared__ u32 b_tile[64];
  const u32 local_linear = local_x + local_y * 64u + local_z * 64u;
  for (u32 z = local_linear; z < 64u; z += 64u) b_tile[z] = 0u;
  __syncthreads();
  u32 v_s = local_x;
  u32 stop_k = 8u;
  for (u32 v_k = 0u; v_k < stop_k; v_k++) {
    b_tile[local_x] = v_s;
    __syncthreads();
    if (v_k == b_n[0u]) {
      break;
    }
    v_s = (v_s + b_tile[(63u - local_x)]);
    __syncthreads();
  }
  store_1(b_out, len_out, invocation_x, v_s);
}
