typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 load_1(const u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }
FN void store_1(u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const u32* __restrict__ b_a,
    u32* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_a,
    const u32 len_out
) {
  const u32 local_x = threadIdx.x;
  const u32 workgroup_x = blockIdx.x + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  u32 b_counts[16] = { 0u };
  u32 stop_k = 8u;
  for (u32 v_k = 0u; v_k < stop_k; v_k++) {
    u32 v_digit = ((load_1(b_a, len_a, invocation_x) >> ((v_k << 2u) & 31u)) & 15u);
    b_counts[v_digit] = (b_counts[v_digit] + 1u);
  }
  store_1(b_out, len_out, invocation_x, load_1(b_counts, 16u, load_1(b_out, len_out, invocation_x)));
}
