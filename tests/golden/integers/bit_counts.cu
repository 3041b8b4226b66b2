typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 popcount_u32(u32 a) { return (u32)__popc(a); }
FN u32 clz_u32(u32 a) { return (u32)__clz((int)a); }
FN u32 ctz_u32(u32 a) { return (u32)__popc((a & (0u - a)) - 1u); }
FN u32 reverse_u32(u32 a) { return __brev(a); }

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
  u32 v_x = b_a[v_i];
  b_out[v_i] = (((popcount_u32(v_x) + (clz_u32(v_x) * 100u)) + (ctz_u32(v_x) * 10000u)) + reverse_u32(v_x));
}
