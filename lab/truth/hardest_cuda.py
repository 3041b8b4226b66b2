"""The CUDA C of the search for hard inputs: NVIDIA's double precision functions and a distance.

The distance is that of the exact result from the nearest midpoint between two floats, relative to the result;
the double precision functions are off by 2 of their last places at most, and the search keeps what is nearer
than a margin hundreds of times as large.
"""

from __future__ import annotations

from vyre.conform.oracle.truth.functions import ELEMENTARY

UNARY = ELEMENTARY
PAIRS = ("pow", "atan2")

UNARY_MARGIN = 2.0**-41
PAIR_MARGIN = {"f32": 2.0**-46, "f16": 2.0**-26, "bf16": 2.0**-23}

TRIED = 1 << 35
"""Random pairs of F32; of F16 and BF16 all 2^32 pairs are tried."""

FORMATS = {"f32": (24, -126, 127), "f16": (11, -14, 15), "bf16": (8, -126, 127)}
"""Bits of a significand, the smallest and the largest exponent of a normal number."""

_HEAD = """
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
typedef unsigned long long u64;
struct Found { unsigned a, b; double distance; };
const unsigned CAPACITY = 1u << 22;

template <int P, int LEAST, int MOST> __device__ double distance(double v) {
  double size = fabs(v);
  if (!(size > 0.0) || isinf(size)) return 1.0;
  int e = ilogb(size);
  if (e > MOST) return 1.0;
  double units = scalbn(size, P - 1 - (e < LEAST ? LEAST : e));
  return fabs(units - floor(units) - 0.5) / units;
}
__device__ void keep(unsigned a, unsigned b, double d, double margin, unsigned *count, Found *found) {
  if (d > margin) return;
  unsigned place = atomicAdd(count, 1u);
  if (place < CAPACITY) found[place] = Found{a, b, d};
}
__device__ u64 mixed(u64 z) {
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}
__device__ bool f32_pow_pair(u64 n, unsigned &a, unsigned &b) {
  u64 r = mixed(2 * n), s = mixed(2 * n + 1);
  a = (unsigned)r & 0x7FFFFFFFu;
  unsigned kind = (unsigned)(s >> 60) & 3u;
  if (kind == 2u) a = 0x3F800000u + ((a & 0x7FFFFFu) >> ((unsigned)(r >> 40) % 23u)) * (r >> 63 ? 1u : ~0u);
  if (kind == 3u) a &= 0xFFFFF000u;
  if (a == 0u || a >= 0x7F800000u || a == 0x3F800000u) return false;
  double power = -150.0 + 279.0 * ((double)(unsigned)s * 0x1p-32);
  b = __float_as_uint((float)(power / log2((double)__uint_as_float(a))));
  return true;
}
__device__ bool f32_atan2_pair(u64 n, unsigned &a, unsigned &b) {
  u64 r = mixed(2 * n), s = mixed(2 * n + 1);
  a = (unsigned)r & 0x7FFFFFFFu;
  b = (unsigned)s;
  if (s >> 62) {
    int e = (int)(a >> 23) + (int)((unsigned)(s >> 32) % 61u) - 30;
    if (e < 0 || e > 254) return false;
    b = b & 0x807FFFFFu | (unsigned)e << 23;
  }
  return a != 0u && a < 0x7F800000u && (b & 0x7FFFFFFFu) != 0u && (b & 0x7FFFFFFFu) < 0x7F800000u;
}
__device__ double f32_value(unsigned x) { return (double)__uint_as_float(x); }
__device__ double f16_value(unsigned x) { return (double)__half2float(__ushort_as_half((unsigned short)x)); }
__device__ double bf16_value(unsigned x) { return (double)__uint_as_float(x << 16); }
template <class Kernel> void search(const char *path, Kernel kernel, u64 total) {
  unsigned *count; Found *found;
  cudaMalloc(&count, 4); cudaMalloc(&found, sizeof(Found) * CAPACITY); cudaMemset(count, 0, 4);
  for (u64 base = 0; base < total; base += 1ull << 32) kernel<<<1u << 18, 256>>>(base, count, found);
  unsigned n = 0;
  cudaMemcpy(&n, count, 4, cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess || n > CAPACITY) {
    printf("%s failed, %u found\\n", path, n); exit(1);
  }
  Found *host = (Found *)malloc(sizeof(Found) * (n + 1));
  cudaMemcpy(host, found, sizeof(Found) * n, cudaMemcpyDeviceToHost);
  FILE *file = fopen(path, "wb");
  fwrite(host, sizeof(Found), n, file); fclose(file); free(host); cudaFree(count); cudaFree(found);
  printf("%s %u\\n", path, n);
}
"""

_UNARY = """
__global__ void unary_{name}(u64 base, unsigned *count, Found *found) {{
  for (unsigned k = 0; k < 64u; k++) {{
    unsigned x = (blockIdx.x * 64u + k) * 256u + threadIdx.x;
    keep(x, 0u, distance<{layout}>({name}(f32_value(x))), {margin}, count, found);
  }}
}}
"""

_PAIRS = """
__global__ void {fmt}_{name}(u64 base, unsigned *count, Found *found) {{
  for (unsigned k = 0; k < 64u; k++) {{
    u64 n = base + (u64)((blockIdx.x * 64u + k) * 256u + threadIdx.x);
    unsigned a, b;
    {pick}
    keep(a, b, distance<{layout}>({name}({fmt}_value(a), {fmt}_value(b))), {margin}, count, found);
  }}
}}
"""

_EVERY = "a = (unsigned)n >> 16; b = (unsigned)n & 0xFFFFu; if (a >> 15) continue;"
"""Signs of the first operand say nothing about rounding."""


def source() -> str:
    """A program that writes a file for each function: `unary_sin`, `f32_pow`, `f16_pow`, …"""
    parts, calls = [_HEAD], list[str]()
    for name in UNARY:
        layout = ", ".join(map(str, FORMATS["f32"]))
        parts.append(_UNARY.format(name=name, layout=layout, margin=UNARY_MARGIN.hex()))
        calls.append(f'search("unary_{name}", unary_{name}, 1ull << 32);')
    for fmt, numbers in FORMATS.items():
        for name in PAIRS:
            pick = f"if (!f32_{name}_pair(n, a, b)) continue;" if fmt == "f32" else _EVERY
            layout, margin = ", ".join(map(str, numbers)), PAIR_MARGIN[fmt].hex()
            parts.append(_PAIRS.format(fmt=fmt, name=name, pick=pick, layout=layout, margin=margin))
            calls.append(f'search("{fmt}_{name}", {fmt}_{name}, {TRIED if fmt == "f32" else 1 << 32}ull);')
    return "".join(parts) + "int main() { " + " ".join(calls) + " return 0; }\n"
