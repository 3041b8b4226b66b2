#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN void global_store_1(__global u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_n,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  const u32 workgroup_x = (u32)get_group_id(0) + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  const u32 local_y = (u32)get_local_id(1);
  const u32 local_z = (u32)get_local_id(2);
  __local u32 b_tile[64];
  const u32 local_linear = local_x + local_y * 64u + local_z * 64u;
  for (u32 z = local_linear; z < 64u; z += 64u) b_tile[z] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  u32 v_s = local_x;
  u32 v_going = 1u;
  u32 stop_k = 8u;
  for (u32 v_k = 0u; v_k < stop_k && v_going != 0u; v_k++) {
    if (v_going != 0u) {
      b_tile[local_x] = v_s;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    u32 v_then = 0u;
    if (v_going != 0u) {
      v_then = ((u32)(((u32)(v_k == b_n[0u])) != 0u));
    }
    if (v_then != 0u) {
      v_going = 0u;
      v_then = 0u;
    }
    if (v_going != 0u) {
      v_s = (v_s + b_tile[(63u - local_x)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  global_store_1(b_out, len_out, invocation_x, v_s);
}
