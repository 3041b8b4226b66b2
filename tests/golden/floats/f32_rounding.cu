typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 native_f32_ceil(u32 a) { float x = __uint_as_float(a); return __float_as_uint(ceilf(x)); }
FN u32 native_f32_floor(u32 a) { float x = __uint_as_float(a); return __float_as_uint(floorf(x)); }
FN u32 native_f32_round(u32 a) { float x = __uint_as_float(a); return __float_as_uint(rintf(x)); }
FN u32 native_f32_trunc(u32 a) { float x = __uint_as_float(a); return __float_as_uint(truncf(x)); }
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
  b_out[v_i] = soft_f32_canon(native_f32_floor(b_a[v_i]));
  (b_out + v_i)[1u] = soft_f32_canon(native_f32_ceil(b_a[v_i]));
  (b_out + v_i)[2u] = soft_f32_canon(native_f32_round(b_b[v_i]));
  (b_out + v_i)[3u] = soft_f32_canon(native_f32_trunc(b_b[v_i]));
}
