#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN void global_store_1(__global u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

__kernel __attribute__((reqd_work_group_size(4, 2, 2)))
void vyre_main(
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  const u32 workgroup_x = (u32)get_group_id(0) + base_x;
  const u32 invocation_x = workgroup_x * 4u + local_x;
  const u32 local_y = (u32)get_local_id(1);
  const u32 workgroup_y = (u32)get_group_id(1) + base_y;
  const u32 invocation_y = workgroup_y * 2u + local_y;
  const u32 local_z = (u32)get_local_id(2);
  const u32 workgroup_z = (u32)get_group_id(2) + base_z;
  const u32 invocation_z = workgroup_z * 2u + local_z;
  u32 v_i = (invocation_x + ((invocation_y + (invocation_z << 3u)) << 3u));
  global_store_1(b_out, 128u, v_i, (((((local_x + (local_y * 10u)) + (local_z * 100u)) + workgroup_x) + (workgroup_y * 7u)) + (workgroup_z * 49u)));
}
