typedef unsigned int u32;
#define FN static __device__ __forceinline__

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
  u32 v_call0_a = b_a[v_i];
  u32 v_call0_root = 0u;
  u32 stop_call0_i = 16u;
  for (u32 v_call0_i = 0u; v_call0_i < stop_call0_i; v_call0_i++) {
    u32 v_call0_tried = (v_call0_root | (32768u >> (v_call0_i & 31u)));
    if ((v_call0_tried * v_call0_tried) <= v_call0_a) {
      v_call0_root = v_call0_tried;
    }
  }
  u32 v_call1_a = b_b[v_i];
  u32 v_call1_root = 0u;
  u32 stop_call1_i = 16u;
  for (u32 v_call1_i = 0u; v_call1_i < stop_call1_i; v_call1_i++) {
    u32 v_call1_tried = (v_call1_root | (32768u >> (v_call1_i & 31u)));
    if ((v_call1_tried * v_call1_tried) <= v_call1_a) {
      v_call1_root = v_call1_tried;
    }
  }
  b_out[v_i] = (v_call0_root + v_call1_root);
}
