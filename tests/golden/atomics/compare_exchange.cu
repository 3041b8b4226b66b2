typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 atomic_cas(u32* b, u32 n, u32 i, u32 v, u32 e) { return i < n ? atomicCAS(b + i, e, v) : 0u; }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_slots,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z
) {
  const u32 local_x = threadIdx.x;
  u32 v_i = local_x;
  u32 v_old = atomic_cas(b_slots, 128u, b_a[v_i], v_i, 0u);
  b_out[v_i] = v_old;
}
