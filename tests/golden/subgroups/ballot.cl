#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 popcount_u32(u32 a) { return popcount(a); }
#ifdef __NV_CL_C_VERSION
FN u32 intrinsic_subgroup32_ballot(u32 condition) { u32 r; asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(r) : "r"(condition)); return r; }
#else
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
FN u32 intrinsic_subgroup32_ballot(u32 condition) { return sub_group_ballot(condition != 0u).x; }
#endif

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
#ifdef cl_intel_required_subgroup_size
__attribute__((intel_reqd_sub_group_size(32)))
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
  u32 v_lane = intrinsic_subgroup32_ballot(b_a[v_i]);
  b_out[v_i] = popcount_u32(v_lane);
}
