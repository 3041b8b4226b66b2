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
  const u32 workgroup_x = (u32)get_group_id(0) + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  b_out[(invocation_x & 255u)] = (b_a[local_x] + b_a[(invocation_x % 200u)]);
}
