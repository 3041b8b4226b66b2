#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 global_load_1(const __global u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }

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
  const u32 local_y = (u32)get_local_id(1);
  const u32 local_z = (u32)get_local_id(2);
  __local u32 b_bins[16];
  const u32 local_linear = local_x + local_y * 64u + local_z * 64u;
  for (u32 z = local_linear; z < 16u; z += 64u) b_bins[z] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  u32 v_old = atomic_add(&b_bins[(global_load_1(b_a, 128u, invocation_x) & 15u)], 1u);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (local_x < 16u) {
    u32 v_seen = b_bins[local_x];
    u32 v_old_1 = atomic_add(&b_out[local_x], v_seen);
    u32 v_sum = v_old_1;
  }
}
