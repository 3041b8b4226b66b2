#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global uint2* restrict b_a,
    __global uint2* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  uint2 v_x = b_a[v_i];
  b_out[v_i] = ((v_x.y != 0u) ? v_x : ((uint2)(2596069104u, 305419896u)));
}
