#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global uint4* restrict b_a,
    __global uint4* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  uint4 v_v = b_a[v_i];
  b_out[v_i] = ((uint4)(v_v.w, v_v.z, (v_v.y + v_v.x), v_i));
}
