typedef unsigned int u32;
#define FN static __device__ __forceinline__
__constant__ unsigned long long vyre_constants[] = { 0x3FF71547652B82FEUL, 0xBFE62E42FEFA39EFUL, 0xBC7ABC9E3B39803FUL, 0x3E9288AE2D208744UL, 0x3EC72C75C765C175UL, 0x3EFA019C0B69581CUL, 0x3F2A019AD80DEF90UL, 0x3F56C16C175DBD00UL, 0x3F81111111C4E792UL, 0x3FA55555555546D8UL, 0x3FC5555555553B62UL };
FN double native_f64_fma(double x, double y, double z) { return __fma_rn(x, y, z); }
FN double native_f64_from_f32(u32 a) { return (double)__uint_as_float(a); }
FN u32 native_f64_low_word(double x) { return (u32)(unsigned long long)__double_as_longlong(x); }
FN double native_f64_scale(double x, u32 b) { return __hiloint2double(__double2hiint(x) + (int)(b << 20), __double2loint(x)); }
FN double native_f64_sub(double x, double y) { return __dsub_rn(x, y); }
FN u32 native_f64_to_f32(double x) { return __float_as_uint(__double2float_rn(x)); }
FN u32 double_f32_exp(u32 v_a) {
  u32 v_size = (v_a & 2147483647u);
  double v_x = native_f64_from_f32(((v_a & 2147483648u) | ((v_size < 1132462080u) ? v_size : 1132462080u)));
  double v_lifted = native_f64_fma(v_x, __longlong_as_double(vyre_constants[0]), __longlong_as_double(0x4338000000000000L));
  double v_whole = native_f64_sub(v_lifted, __longlong_as_double(0x4338000000000000L));
  double v_rest = native_f64_fma(v_whole, __longlong_as_double(vyre_constants[1]), v_x);
  double v_rest_2 = native_f64_fma(v_whole, __longlong_as_double(vyre_constants[2]), v_rest);
  double v_sum = native_f64_fma(__longlong_as_double(vyre_constants[3]), v_rest_2, __longlong_as_double(vyre_constants[4]));
  double v_sum_2 = native_f64_fma(v_sum, v_rest_2, __longlong_as_double(vyre_constants[5]));
  double v_sum_3 = native_f64_fma(v_sum_2, v_rest_2, __longlong_as_double(vyre_constants[6]));
  double v_sum_4 = native_f64_fma(v_sum_3, v_rest_2, __longlong_as_double(vyre_constants[7]));
  double v_sum_5 = native_f64_fma(v_sum_4, v_rest_2, __longlong_as_double(vyre_constants[8]));
  double v_sum_6 = native_f64_fma(v_sum_5, v_rest_2, __longlong_as_double(vyre_constants[9]));
  double v_sum_7 = native_f64_fma(v_sum_6, v_rest_2, __longlong_as_double(vyre_constants[10]));
  double v_sum_8 = native_f64_fma(v_sum_7, v_rest_2, __longlong_as_double(0x3FE0000000000000L));
  double v_sum_9 = native_f64_fma(v_sum_8, v_rest_2, __longlong_as_double(0x3FF0000000000000L));
  double v_sum_10 = native_f64_fma(v_sum_9, v_rest_2, __longlong_as_double(0x3FF0000000000000L));
  double v_power = native_f64_scale(v_sum_10, native_f64_low_word(v_lifted));
  u32 v_value = native_f64_to_f32(v_power);
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
  b_out[v_i] = double_f32_exp(b_a[v_i]);
}
