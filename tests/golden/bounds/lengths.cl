#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN void global_store_1(__global u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_table,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  const u32 local_y = (u32)get_local_id(1);
  const u32 local_z = (u32)get_local_id(2);
  __local u32 b_shared[4];
  const u32 local_linear = local_x + local_y * 64u + local_z * 64u;
  for (u32 z = local_linear; z < 4u; z += 64u) b_shared[z] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  u32 v_i = local_x;
  global_store_1(b_out, len_out, v_i, ((len_out + (10u * 3u)) + 4u));
}
