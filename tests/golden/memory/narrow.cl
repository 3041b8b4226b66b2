#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 sign_8(u32 a) { return (a ^ 128u) - 128u; }
FN u32 global_load_sh(const __global ushort* b, u32 n, u32 i) { return i < n ? ((u32)b[i] ^ 32768u) - 32768u : 0u; }
FN u32 global_load_sb(const __global uchar* b, u32 n, u32 i) { return i < n ? ((u32)b[i] ^ 128u) - 128u : 0u; }
FN void global_store_h(__global ushort* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = (ushort)v; }
FN void global_store_b(__global uchar* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = (uchar)v; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global uchar* restrict b_a,
    const __global uchar* restrict b_b,
    __global ushort* b_c,
    __global uchar* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_a,
    const u32 len_c,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  const u32 workgroup_x = (u32)get_group_id(0) + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  const u32 local_y = (u32)get_local_id(1);
  const u32 local_z = (u32)get_local_id(2);
  __local uchar b_tile[64];
  const u32 local_linear = local_x + local_y * 64u + local_z * 64u;
  for (u32 z = local_linear; z < 64u; z += 64u) b_tile[z] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  u32 v_k = local_x;
  b_tile[v_k] = (uchar)global_load_sb(b_a, len_a, invocation_x);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  global_store_h(b_c, len_c, invocation_x, (sign_8(((u32)b_tile[(63u - v_k)])) + ((u32)b_b[v_k])));
  global_store_b(b_out, len_out, invocation_x, global_load_sh(b_c, len_c, invocation_x));
}
