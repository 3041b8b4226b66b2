typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 native_f32_eq(u32 a, u32 b) { float x = __uint_as_float(a), y = __uint_as_float(b); return (u32)(x == y); }
FN u32 native_f32_lt(u32 a, u32 b) { float x = __uint_as_float(a), y = __uint_as_float(b); return (u32)(__fadd_rn(x, 0.0f) < __fadd_rn(y, 0.0f)); }
FN u32 native_f32_ne(u32 a, u32 b) { float x = __uint_as_float(a), y = __uint_as_float(b); return (u32)(x != y); }
FN u32 soft_f32_is_inf(u32 v_a) {
  return ((u32)((v_a & 2147483647u) == 2139095040u));
}
FN u32 soft_f32_is_nan(u32 v_a) {
  return ((u32)((v_a & 2147483647u) > 2139095040u));
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
  b_out[v_i] = ((((native_f32_lt(b_a[v_i], b_b[v_i]) + (native_f32_eq(b_a[v_i], b_b[v_i]) << 1u)) + (native_f32_ne(b_a[v_i], b_b[v_i]) << 2u)) + (soft_f32_is_nan(b_a[v_i]) << 3u)) + (soft_f32_is_inf(b_b[v_i]) << 4u));
}
