#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN uint2 global_load_2(const __global uint2* b, u32 n, u32 i) { return i < n ? b[i] : (uint2)(0u); }
FN void global_store_2(__global uint2* b, u32 n, u32 i, uint2 v) { if (i < n) b[i] = v; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global uint2* restrict b_a,
    __global uint2* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_a,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  const u32 workgroup_x = (u32)get_group_id(0) + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  uint2 v_x = global_load_2(b_a, len_a, invocation_x);
  global_store_2(b_out, len_out, invocation_x, ((uint2)(v_x.y, v_x.x)));
}
