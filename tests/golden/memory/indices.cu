typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN void store_1(u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

extern "C" __global__ void __launch_bounds__(16) vyre_main(
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  const u32 workgroup_x = blockIdx.x + base_x;
  const u32 invocation_x = workgroup_x * 4u + local_x;
  const u32 local_y = threadIdx.y;
  const u32 workgroup_y = blockIdx.y + base_y;
  const u32 invocation_y = workgroup_y * 2u + local_y;
  const u32 local_z = threadIdx.z;
  const u32 workgroup_z = blockIdx.z + base_z;
  const u32 invocation_z = workgroup_z * 2u + local_z;
  u32 v_i = (invocation_x + ((invocation_y + (invocation_z << 3u)) << 3u));
  store_1(b_out, 128u, v_i, (((((local_x + (local_y * 10u)) + (local_z * 100u)) + workgroup_x) + (workgroup_y * 7u)) + (workgroup_z * 49u)));
}
