"""The CUDA C of the truth: double precision functions of NVIDIA's library, the filter, and the digest.

NVIDIA documents these maximum errors in units in the last place of a double, from extensive but not
exhaustive tests: sin cos tan asin acos atan 2, exp log exp2 log2 exp10 log10 1, sqrt 0, and erf tanh sinh
cosh expm1 log1p cbrt 2 or less. The filter allows 256 (a relative error of 2^-44), and `lab/truth/make.py`
measures the errors on samples of every chunk.
"""

from __future__ import annotations

from vyre.conform.oracle.digest import CHUNK_BITS, A, B, Mixer
from vyre.conform.oracle.floats.functions import MARGIN

THREADS = 256
PER_THREAD = 16
PER_BLOCK = THREADS * PER_THREAD
OPTIONS = ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--std=c++17")

ULPS = (
    dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), 2)
    | dict.fromkeys(("exp", "log", "exp2", "log2", "exp10", "log10"), 1)
    | dict.fromkeys(("erf", "tanh", "sinh", "cosh", "expm1", "log1p", "cbrt"), 2)
)
"""NVIDIA's documented maximum errors, in ulps of a double."""

_CLAMPED = "({round}(d) != {round}(d)) ? 0u : (unsigned)(long long)fmin(fmax({round}(d), {low}), {high})"
_SIGNED = {"low": "-2147483648.0", "high": "2147483647.0"}

_EXACT = {
    "sqrt": "to_single(__dsqrt_rn(d))",
    "floor": "to_single(floor(d))",
    "ceil": "to_single(ceil(d))",
    "round": "to_single(rint(d))",
    "trunc": "to_single(trunc(d))",
    "f32_to_f16": "to_half(x, d)",
    "f32_to_bf16": "to_brain(x, d)",
    "f32_to_i32_nearest": _CLAMPED.format(round="rint", **_SIGNED),
    "f32_to_i32_truncate": _CLAMPED.format(round="trunc", **_SIGNED),
    "f32_to_i32_floor": _CLAMPED.format(round="floor", **_SIGNED),
    "f32_to_i32_ceil": _CLAMPED.format(round="ceil", **_SIGNED),
    "f32_to_u32_truncate": _CLAMPED.format(round="trunc", low="0.0", high="4294967295.0"),
    "i32_to_f32": "to_single((double)(int)x)",
    "u32_to_f32": "to_single((double)x)",
}


def _mixer(name: str, by: Mixer) -> str:
    a, b, c = by.shifts
    m, n = by.factors
    return (
        f"__device__ unsigned {name}(unsigned w) {{ w ^= w >> {a}; w *= {m}u; w ^= w >> {b}; w *= {n}u; "
        f"return w ^ w >> {c}; }}"
    )


_COMMON = f"""
{_mixer("mix_a", A)}
{_mixer("mix_b", B)}
__device__ unsigned to_single(double v) {{
  return v != v ? 0x7FC00000u : __float_as_uint(__double2float_rn(v));
}}
__device__ unsigned to_half(unsigned x, double d) {{
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(__uint_as_float(x)));
  return d != d ? 0x7E00u : h;
}}
__device__ unsigned to_brain(unsigned x, double d) {{
  unsigned short h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(__uint_as_float(x)));
  return d != d ? 0x7FC0u : h;
}}
"""

_KERNELS = f"""
extern "C" __global__ void digests(unsigned first, unsigned *sums, unsigned *count, unsigned *open,
                                   unsigned capacity) {{
  unsigned a = 0, b = 0;
  unsigned start = first + blockIdx.x * {PER_BLOCK}u + threadIdx.x;
  for (unsigned k = 0; k < {PER_THREAD}u; ++k) {{
    unsigned x = start + k * {THREADS}u;
    bool undecided = false;
    unsigned r = evaluate(x, undecided, (double *)0);
    if (undecided) {{
      unsigned at = atomicAdd(count, 1u);
      if (at < capacity) open[at] = x;
    }} else {{
      a += mix_a(r ^ mix_a(x));
      b += mix_b(r + mix_b(x));
    }}
  }}
  for (int step = 16; step; step >>= 1) {{
    a += __shfl_down_sync(0xFFFFFFFFu, a, step);
    b += __shfl_down_sync(0xFFFFFFFFu, b, step);
  }}
  if (threadIdx.x % 32 == 0) {{
    unsigned chunk = (blockIdx.x * {PER_BLOCK}u) >> {CHUNK_BITS};
    atomicAdd(sums + 2 * chunk, a);
    atomicAdd(sums + 2 * chunk + 1, b);
  }}
}}
extern "C" __global__ void samples(const unsigned *inputs, unsigned n, unsigned *results, double *values) {{
  unsigned i = blockIdx.x * {THREADS}u + threadIdx.x;
  if (i < n) {{
    bool undecided = false;
    results[i] = evaluate(inputs[i], undecided, values + i);
  }}
}}
"""


def source(name: str) -> str:
    """The module of one function: kernels `digests` and `samples`."""
    if name in ULPS:
        low, high = (1 - MARGIN).hex(), (1 + MARGIN).hex()
        body = f"""
  double v = {name}((double)__uint_as_float(x));
  if (value) *value = v;
  unsigned low = to_single(__dmul_rn(v, {low})), high = to_single(__dmul_rn(v, {high}));
  undecided = low != high;
  return low;"""
    else:
        body = f"""
  double d = (double)__uint_as_float(x);
  unsigned r = {_EXACT[name]};
  if (value) *value = 0.0;
  return r;"""
    evaluate = f"__device__ unsigned evaluate(unsigned x, bool &undecided, double *value) {{{body}\n}}\n"
    return _COMMON + evaluate + _KERNELS
