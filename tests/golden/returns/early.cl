#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 global_load_1(const __global u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_a,
    const __global u32* restrict b_b,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_a,
    const u32 len_b,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  const u32 workgroup_x = (u32)get_group_id(0) + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  u32 v_i = invocation_x;
  if (v_i >= len_out) {
    return;
  }
  b_out[v_i] = (global_load_1(b_a, len_a, v_i) + global_load_1(b_b, len_b, v_i));
}
