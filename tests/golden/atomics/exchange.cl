#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN void global_store_1(__global u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }
FN u32 global_atomic_exchange(__global u32* b, u32 n, u32 i, u32 v) { return i < n ? atomic_xchg(b + i, v) : 0u; }

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global u32* restrict b_a,
    __global u32* b_slots,
    __global u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_slots,
    const u32 len_out
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  u32 v_old = global_atomic_exchange(b_slots, len_slots, b_a[v_i], v_i);
  global_store_1(b_out, len_out, v_i, v_old);
}
