#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline

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
  u32 v_x = 0u;
  if (b_a[v_i] > 9u) {
    v_x = b_b[v_i];
  } else {
    v_x = (b_a[v_i] + 1u);
  }
  b_out[v_i] = v_x;
}
