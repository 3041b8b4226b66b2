typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 native_f32_add(u32 a, u32 b) { float x = __uint_as_float(a), y = __uint_as_float(b); return __float_as_uint(__fadd_rn(x, y)); }
FN u32 native_f32_mul(u32 a, u32 b) { float x = __uint_as_float(a), y = __uint_as_float(b); return __float_as_uint(__fmul_rn(x, y)); }
FN u32 native_f32_sub(u32 a, u32 b) { float x = __uint_as_float(a), y = __uint_as_float(b); return __float_as_uint(__fsub_rn(x, y)); }
FN u32 soft_f32_canon(u32 v_a) {
  return (((v_a & 2147483647u) > 2139095040u) ? 2143289344u : v_a);
}

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    const u32* __restrict__ b_b,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_out[v_i] = soft_f32_canon(native_f32_add(native_f32_mul(b_a[v_i], b_b[v_i]), native_f32_sub(b_a[v_i], 1069547520u)));
}
