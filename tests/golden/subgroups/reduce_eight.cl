#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
FN u32 intrinsic_subgroup8_reduce_add(u32 value) { return sub_group_reduce_add(value); }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
#ifdef cl_intel_required_subgroup_size
__attribute__((intel_reqd_sub_group_size(8)))
#endif
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
  u32 v_lane = intrinsic_subgroup8_reduce_add(b_a[v_i]);
  b_out[v_i] = v_lane;
}
