typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 native_f32_from_i32(u32 a) { return __float_as_uint(__int2float_rn((int)a)); }
FN u32 native_f32_to_i32_truncate(u32 a) { float x = __uint_as_float(a); return x == x ? (u32)__float2int_rz(x) : 0u; }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_out,
    u32* b_back,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  b_out[v_i] = native_f32_to_i32_truncate(b_a[v_i]);
  b_back[v_i] = native_f32_from_i32(b_out[v_i]);
}
