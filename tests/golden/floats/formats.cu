typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN float f16_value(u32 a) { float r; asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(r) : "r"(a)); return r; }
FN u32 f16_bits(float x) { u32 r; asm("{.reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.u32.u16 %0, h;}" : "=r"(r) : "f"(x)); return r; }
FN u32 native_f16_to_f32(u32 a) { return __float_as_uint(f16_value(a)); }
FN u32 soft_f32_canon(u32 v_a) {
  return (((v_a & 2147483647u) > 2139095040u) ? 2143289344u : v_a);
}
FN u32 soft_f32_to_bf16(u32 v_a) {
  u32 v_odd = ((v_a >> 16u) & 1u);
  u32 v_nearest = (((v_a + 32767u) + v_odd) >> 16u);
  return (((v_a & 2147483647u) > 2139095040u) ? 32704u : v_nearest);
}

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const unsigned short* __restrict__ b_a,
    const u32* __restrict__ b_b,
    unsigned short* b_half,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_out[v_i] = soft_f32_canon(native_f16_to_f32(((u32)b_a[v_i])));
  b_half[v_i] = (unsigned short)(soft_f32_to_bf16(b_b[v_i]) & 65535u);
}
