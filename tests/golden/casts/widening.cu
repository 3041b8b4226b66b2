typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN uint2 zext_1_2(u32 a) { return make_uint2(a, 0u); }
FN uint2 sext_2(u32 a) { return make_uint2(a, 0u - (a >> 31)); }
FN uint4 splat_4(u32 a) { return make_uint4(a, a, a, a); }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    uint2* b_wide,
    uint4* b_vec,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_wide[v_i] = zext_1_2(b_a[v_i]);
  (b_wide + v_i)[1u] = sext_2(b_a[v_i]);
  b_vec[v_i] = splat_4(b_a[v_i]);
}
