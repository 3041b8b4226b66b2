#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN void global_store_1(__global u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_a,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_a,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  const u32 workgroup_x = (u32)get_group_id(0) + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  u32 v_found = len_a;
  u32 stop_k = len_a;
  for (u32 v_k = 0u; v_k < stop_k; v_k++) {
    if (b_a[v_k] == invocation_x) {
      v_found = v_k;
      break;
    }
  }
  global_store_1(b_out, len_out, invocation_x, v_found);
}
