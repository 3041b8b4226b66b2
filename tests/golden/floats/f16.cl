#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN float f16_value(u32 a) { ushort h = (ushort)a; return vload_half(0, (const half*)&h); }
FN u32 f16_bits(float x) { ushort h; vstore_half_rte(x, 0, (half*)&h); return h; }
FN u32 native_f16_add(u32 a, u32 b) { float x = f16_value(a), y = f16_value(b); return f16_bits(x + y); }
FN u32 native_f16_mul(u32 a, u32 b) { float x = f16_value(a), y = f16_value(b); return f16_bits(x * y); }
FN u32 soft_f16_canon(u32 v_a) {
  return (((v_a & 32767u) > 31744u) ? 32256u : v_a);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vyre_main(
    const __global ushort* restrict b_a,
    const __global ushort* restrict b_b,
    __global ushort* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = (u32)get_local_id(0);
  u32 v_i = local_x;
  b_out[v_i] = (ushort)(soft_f16_canon(native_f16_add(native_f16_mul(((u32)b_a[v_i]), ((u32)b_b[v_i])), ((u32)b_a[v_i]))) & 65535u);
}
