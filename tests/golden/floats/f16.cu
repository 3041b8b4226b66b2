typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN float f16_value(u32 a) { float r; asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(r) : "r"(a)); return r; }
FN u32 f16_bits(float x) { u32 r; asm("{.reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.u32.u16 %0, h;}" : "=r"(r) : "f"(x)); return r; }
FN u32 native_f16_add(u32 a, u32 b) { float x = f16_value(a), y = f16_value(b); return f16_bits(__fadd_rn(x, y)); }
FN u32 native_f16_mul(u32 a, u32 b) { float x = f16_value(a), y = f16_value(b); return f16_bits(__fmul_rn(x, y)); }
FN u32 soft_f16_canon(u32 v_a) {
  return (((v_a & 32767u) > 31744u) ? 32256u : v_a);
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
  b_out[v_i] = (unsigned short)(soft_f16_canon(native_f16_add(native_f16_mul(((u32)b_a[v_i]), ((u32)b_b[v_i])), ((u32)b_a[v_i]))) & 65535u);
}
