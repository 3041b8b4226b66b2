typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 div_u32(u32 a, u32 b) { return b ? a / b : 0u; }
FN u32 mod_u32(u32 a, u32 b) { return b ? a % b : 0u; }

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
  b_out[v_i] = (div_u32(b_a[v_i], b_b[v_i]) + mod_u32(b_a[v_i], b_b[v_i]));
}
