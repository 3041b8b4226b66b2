#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN void global_store_1(__global u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }
FN u32 constant_load_1(const __constant u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }
FN u32 constant_load_h(const __constant ushort* b, u32 n, u32 i) { return i < n ? (u32)b[i] : 0u; }
__constant __attribute__((aligned(16))) u32 words_days[] = { 31u, 28u, 31u, 30u, 31u, 30u, 31u, 31u, 30u, 31u, 30u, 31u };
__constant __attribute__((aligned(16))) u32 words_halves[] = { 1073757184u, 16896u };
__constant __attribute__((aligned(16))) u32 words_pairs[] = { 1u, 2u, 3u, 4u };

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  const u32 workgroup_x = (u32)get_group_id(0) + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  const __constant u32* b_days = (const __constant u32*)words_days;
  const __constant ushort* b_halves = (const __constant ushort*)words_halves;
  const __constant uint2* b_pairs = (const __constant uint2*)words_pairs;
  u32 v_i = invocation_x;
  global_store_1(b_out, len_out, v_i, (((b_days[(v_i % 12u)] + constant_load_1(b_days, 12u, v_i)) + b_pairs[(v_i & 1u)].y) + constant_load_h(b_halves, 3u, v_i)));
}
