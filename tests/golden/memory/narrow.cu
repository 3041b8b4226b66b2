typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 sign_8(u32 a) { return (a ^ 128u) - 128u; }
FN u32 load_sh(const unsigned short* b, u32 n, u32 i) { return i < n ? ((u32)b[i] ^ 32768u) - 32768u : 0u; }
FN u32 load_sb(const unsigned char* b, u32 n, u32 i) { return i < n ? ((u32)b[i] ^ 128u) - 128u : 0u; }
FN void store_h(unsigned short* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = (unsigned short)v; }
FN void store_b(unsigned char* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = (unsigned char)v; }

extern "C" __global__ void __launch_bounds__(64) vyre_main(
    const unsigned char* __restrict__ b_a,
    const unsigned char* __restrict__ b_b,
    unsigned short* b_c,
    unsigned char* b_out,
    const u32 base_x,
    const u32 base_y,
    const u32 base_z,
    const u32 len_a,
    const u32 len_c,
    const u32 len_out
) {
  const u32 local_x = threadIdx.x;
  const u32 workgroup_x = blockIdx.x + base_x;
  const u32 invocation_x = workgroup_x * 64u + local_x;
  const u32 local_y = threadIdx.y;
  const u32 local_z = threadIdx.z;
  __shared__ unsigned char b_tile[64];
  const u32 local_linear = local_x + local_y * 64u + local_z * 64u;
  for (u32 z = local_linear; z < 64u; z += 64u) b_tile[z] = 0u;
  __syncthreads();
  u32 v_k = local_x;
  b_tile[v_k] = (unsigned char)load_sb(b_a, len_a, invocation_x);
  __syncthreads();
  store_h(b_c, len_c, invocation_x, (sign_8(((u32)b_tile[(63u - v_k)])) + ((u32)b_b[v_k])));
  store_b(b_out, len_out, invocation_x, load_sh(b_c, len_c, invocation_x));
}
