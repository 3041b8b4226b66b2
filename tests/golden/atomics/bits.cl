#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_a,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  u32 v_p = atomic_and(&b_out[0u], b_a[v_i]);
  u32 v_q = atomic_or(&b_out[1u], b_a[v_i]);
  u32 v_r = atomic_xor(&b_out[2u], b_a[v_i]);
}
