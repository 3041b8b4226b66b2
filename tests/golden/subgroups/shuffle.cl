#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
#ifdef __NV_CL_C_VERSION
FN u32 intrinsic_subgroup32_shuffle(u32 value, u32 lane) { u32 r; asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(r) : "r"(value), "r"(lane)); return r; }
FN u32 intrinsic_subgroup32_shuffle_xor(u32 value, u32 mask) { u32 r; asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(r) : "r"(value), "r"(mask)); return r; }
#else
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
FN u32 intrinsic_subgroup32_shuffle(u32 value, u32 lane) { return sub_group_shuffle(value, lane & 31u); }
FN u32 intrinsic_subgroup32_shuffle_xor(u32 value, u32 mask) { return sub_group_shuffle_xor(value, mask & 31u); }
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
  u32 v_lane = intrinsic_subgroup32_shuffle(b_a[v_i], b_b[v_i]);
  u32 v_lane_1 = intrinsic_subgroup32_shuffle_xor(b_a[v_i], 5u);
  b_out[v_i] = (v_lane + v_lane_1);
}
