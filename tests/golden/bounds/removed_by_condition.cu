typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 load_1(const u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_a,
    const u32 len_out
) {
  const u32 local_x = threadIdx.x;
  const u32 workgroup_x = blockIdx.x + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  u32 v_i = invocation_x;
  if (v_i < len_out) {
    b_out[v_i] = load_1(b_a, len_a, v_i);
  }
}
