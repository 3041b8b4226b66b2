#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 div_u32(u32 a, u32 b) { return b ? a / b : 0u; }

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
  u32 v_call0_a = b_a[v_i];
  u32 v_call0_b = b_b[v_i];
  u32 v_call0_mask_a = (0u - (v_call0_a >> 31u));
  u32 v_call0_mask_b = (0u - (v_call0_b >> 31u));
  u32 v_call0_size_a = ((v_call0_a ^ v_call0_mask_a) - v_call0_mask_a);
  u32 v_call0_size_b = ((v_call0_b ^ v_call0_mask_b) - v_call0_mask_b);
  u32 v_call0_sign = (v_call0_mask_a ^ v_call0_mask_b);
  b_out[v_i] = ((div_u32(v_call0_size_a, v_call0_size_b) ^ v_call0_sign) - v_call0_sign);
}
