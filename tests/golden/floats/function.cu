typedef unsigned int u32;
#define FN static __device__ __forceinline__
__constant__ unsigned long long vyre_constants[] = { 0x3E3E5DF24C23A183UL, 0x3E7B638C74572F67UL, 0x3EB62BFEAE2F8EEAUL, 0x3EEFFCB94E0A1651UL, 0x3F24309130117845UL, 0x3F55D87FE8709979UL, 0x3F83B2AB6FBA4116UL, 0x3FAC6B08D7047E2FUL, 0x3FCEBFBDFF82C58FUL, 0x3FE62E42FEFA39EFUL };
FN double native_f64_add(double x, double y) { return __dadd_rn(x, y); }
FN double native_f64_fma(double x, double y, double z) { return __fma_rn(x, y, z); }
FN double native_f64_from_f32(u32 a) { return (double)__uint_as_float(a); }
FN u32 native_f64_high_word(double x) { return (u32)((unsigned long long)__double_as_longlong(x) >> 32); }
FN double native_f64_joined(u32 a, u32 b) { return __hiloint2double((int)a, (int)b); }
FN u32 native_f64_low_word(double x) { return (u32)(unsigned long long)__double_as_longlong(x); }
FN double native_f64_scale(double x, u32 b) { return __hiloint2double(__double2hiint(x) + (int)(b << 20), __double2loint(x)); }
FN double native_f64_sub(double x, double y) { return __dsub_rn(x, y); }
FN u32 native_f64_to_f32(double x) { return __float_as_uint(__double2float_rn(x)); }
FN u32 double_f32_exp2(u32 v_a) {
  u32 v_size = (v_a & 2147483647u);
  double v_x = native_f64_from_f32(((v_a & 2147483648u) | ((v_size < 1132462080u) ? v_size : 1132462080u)));
  double v_lifted = native_f64_add(v_x, __longlong_as_double(0x4338000000000000L));
  double v_rest = native_f64_sub(v_x, native_f64_sub(v_lifted, __longlong_as_double(0x4338000000000000L)));
  double v_sum = native_f64_fma(__longlong_as_double(vyre_constants[0]), v_rest, __longlong_as_double(vyre_constants[1]));
  double v_sum_2 = native_f64_fma(v_sum, v_rest, __longlong_as_double(vyre_constants[2]));
  double v_sum_3 = native_f64_fma(v_sum_2, v_rest, __longlong_as_double(vyre_constants[3]));
  double v_sum_4 = native_f64_fma(v_sum_3, v_rest, __longlong_as_double(vyre_constants[4]));
  double v_sum_5 = native_f64_fma(v_sum_4, v_rest, __longlong_as_double(vyre_constants[5]));
  double v_sum_6 = native_f64_fma(v_sum_5, v_rest, __longlong_as_double(vyre_constants[6]));
  double v_sum_7 = native_f64_fma(v_sum_6, v_rest, __longlong_as_double(vyre_constants[7]));
  double v_sum_8 = native_f64_fma(v_sum_7, v_rest, __longlong_as_double(vyre_constants[8]));
  double v_sum_9 = native_f64_fma(v_sum_8, v_rest, __longlong_as_double(vyre_constants[9]));
  double v_sum_10 = native_f64_fma(v_sum_9, v_rest, __longlong_as_double(0x3FF0000000000000L));
  double v_power = native_f64_scale(v_sum_10, native_f64_low_word(v_lifted));
  u32 v_value = native_f64_to_f32(native_f64_joined(native_f64_high_word(v_power), (native_f64_low_word(v_power) | (v_a & 1u))));
  return (((v_a & 2147483647u) > 2139095040u) ? 2143289344u : v_value);
}

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_out[v_i] = double_f32_exp2(b_a[v_i]);
}
