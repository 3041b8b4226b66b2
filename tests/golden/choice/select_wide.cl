#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global uint4* restrict b_a,
    const __global uint4* restrict b_b,
    __global uint4* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  b_out[v_i] = (((v_i & 1u) != 0u) ? b_a[v_i] : b_b[v_i]);
}
