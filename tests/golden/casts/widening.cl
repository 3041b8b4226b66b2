#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN uint2 zext_1_2(u32 a) { return (uint2)(a, 0u); }
FN uint2 sext_2(u32 a) { return (uint2)(a, 0u - (a >> 31)); }
FN uint4 splat_4(u32 a) { return (uint4)(a); }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_a,
    __global uint2* b_wide,
    __global uint4* b_vec,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  b_wide[v_i] = zext_1_2(b_a[v_i]);
  (b_wide + v_i)[1u] = sext_2(b_a[v_i]);
  b_vec[v_i] = splat_4(b_a[v_i]);
}
