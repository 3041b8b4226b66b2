#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 bf16_bits(float x) { u32 u = as_uint(x); return (u & 2147483647u) > 2139095040u ? 32704u : (u + 32767u + (u >> 16 & 1u)) >> 16; }
FN u32 native_bf16_sub(u32 a, u32 b) { float x = as_float(a << 16), y = as_float(b << 16); return bf16_bits(x - y); }
FN u32 soft_bf16_canon(u32 v_a) {
  return (((v_a & 32767u) > 32640u) ? 32704u : v_a);
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
  b_out[v_i] = (ushort)(soft_bf16_canon(native_bf16_sub(((u32)b_a[v_i]), ((u32)b_b[v_i]))) & 65535u);
}
