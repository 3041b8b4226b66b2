typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 bf16_bits(float x) { u32 u = __float_as_uint(x); return (u & 2147483647u) > 2139095040u ? 32704u : (u + 32767u + (u >> 16 & 1u)) >> 16; }
FN u32 native_bf16_sub(u32 a, u32 b) { float x = __uint_as_float(a << 16), y = __uint_as_float(b << 16); return bf16_bits(__fsub_rn(x, y)); }
FN u32 soft_bf16_canon(u32 v_a) {
  return (((v_a & 32767u) > 32640u) ? 32704u : v_a);
}

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const unsigned short* __restrict__ b_a,
    const unsigned short* __restrict__ b_b,
    unsigned short* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_out[v_i] = (unsigned short)(soft_bf16_canon(native_bf16_sub(((u32)b_a[v_i]), ((u32)b_b[v_i]))) & 65535u);
}
