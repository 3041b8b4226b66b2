#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global uint2* restrict b_a,
    const __global uint2* restrict b_b,
    __global uint2* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  uint2 v_call0_a = b_a[v_i];
  uint2 v_call0_b = b_b[v_i];
  u32 v_call0_sum0 = (v_call0_a.x + v_call0_b.x);
  u32 v_call0_carry1 = ((u32)(v_call0_sum0 < v_call0_a.x));
  u32 v_call0_part1 = (v_call0_a.y + v_call0_b.y);
  u32 v_call0_sum1 = (v_call0_part1 + v_call0_carry1);
  b_out[v_i] = ((uint2)(v_call0_sum0, v_call0_sum1));
}
