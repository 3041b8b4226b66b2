typedef unsigned int u32;
#define FN static __device__ __forceinline__

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
  b_out[(invocation_x & 255u)] = (b_a[local_x] + b_a[(invocation_x % 200u)]);
}
