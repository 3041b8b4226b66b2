typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN uint2 load_2(const uint2* b, u32 n, u32 i) { return i < n ? b[i] : make_uint2(0u, 0u); }
FN void store_2(uint2* b, u32 n, u32 i, uint2 v) { if (i < n) b[i] = v; }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const uint2* __restrict__ b_a,
    uint2* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_a,
    const u32 len_out
) {
  const u32 local_x = threadIdx.x;
  const u32 workgroup_x = blockIdx.x + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  uint2 v_x = load_2(b_a, len_a, invocation_x);
  store_2(b_out, len_out, invocation_x, make_uint2(v_x.y, v_x.x));
}
