#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 global_load_1(const __global u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }
FN void global_store_1(__global u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_params,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  global_store_1(b_out, len_out, v_i, (((b_params[0u] * v_i) + b_params[1u]) + global_load_1(b_params, 2u, v_i)));
}
