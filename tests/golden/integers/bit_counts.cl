#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 popcount_u32(u32 a) { return popcount(a); }
FN u32 clz_u32(u32 a) { return clz(a); }
FN u32 ctz_u32(u32 a) { return popcount((a & (0u - a)) - 1u); }
FN u32 reverse_u32(u32 a) {
  a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
  a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
  a = ((a >> 4) & 0x0F0F0F0Fu) | ((a & 0x0F0F0F0Fu) << 4);
  a = ((a >> 8) & 0x00FF00FFu) | ((a & 0x00FF00FFu) << 8);
  return (a >> 16) | (a << 16);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_a,
    const __global u32* restrict b_b,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  u32 v_x = b_a[v_i];
  b_out[v_i] = (((popcount_u32(v_x) + (clz_u32(v_x) * 100u)) + (ctz_u32(v_x) * 10000u)) + reverse_u32(v_x));
}
