"""The largest errors of the quick exponentials, over every argument that they take.

    python -m lab.functions.quick_errors            exp, exp2 and exp10: minutes each
    python -m lab.functions.quick_errors exp2 --step 1001

A unit is 2^-34 of a significand between 1 and 2, as in `vyre.numeric.functions.quick`. The truth comes from
the C library's long doubles, whose error is some 2^-22 of a unit. The exit status is 1 where an error reaches
the slack of the base and one more. Needs llvmlite, and long doubles of 64 bits.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from lab.floats.jit import JitKernel, compiled
from vyre.ir.float_formats import F32
from vyre.numeric.functions import quick
from vyre.numeric.functions.script import Script

BASES = {"exp": quick.E, "exp2": quick.TWO, "exp10": quick.TEN}
LEAST = 102 << 23
BLOCK = 1 << 18
Long = np.longdouble


@dataclass(frozen=True, slots=True)
class Part:
    """The arguments with sizes `lo + step * k` below `hi`, of one sign."""

    name: str
    sign: int
    lo: int
    hi: int
    step: int


def kernels(name: str) -> list[JitKernel]:
    """For the upper and lower part of the sum, and the digits."""
    s = Script("soft.f32.quick", "a", doc="The sum before it is rounded.")
    value = quick.unrounded(s, s.params[0], BASES[name])
    return [compiled(s.gives(word)) for word in (value.high, value.low, value.n)]


def measured(part: Part) -> tuple[float, float]:
    """The least and the largest error."""
    run, base = kernels(part.name), BASES[part.name]
    least, most = 0.0, 0.0
    for start in range(part.lo, part.hi, BLOCK * part.step):
        stop = min(start + BLOCK * part.step, part.hi)
        given = np.arange(start, stop, part.step, dtype=np.uint64).astype(np.uint32) | np.uint32(part.sign)
        high, low, n = (kernel(given) for kernel in run)
        found = high.view(np.int32).astype(Long) * 2048 + low.astype(Long) - 1024 - base.slack
        octaves = (n.astype(np.int64) // 8 - 128).astype(Long)
        x = given.view(np.float32).astype(Long)
        if part.name == "exp2":
            true = np.exp2(x - octaves)
        else:
            log = Long(1) if part.name == "exp" else np.log(Long(10))
            true = np.exp(x * log - octaves * np.log(Long(2)))
        errors = found - true * 2**34
        least, most = min(least, float(errors.min())), max(most, float(errors.max()))
    return least, most


def parts(name: str, step: int, count: int) -> list[Part]:
    limit = BASES[name].limit
    size = -(-(limit - LEAST) // (count * step)) * step
    return [
        Part(name, sign, lo, min(lo + size, limit), step)
        for sign in (0, F32.sign)
        for lo in range(LEAST, limit, size)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("functions", nargs="*", help=f"of {', '.join(BASES)}; all without any")
    parser.add_argument("--step", type=int, default=1, help="take every so many sizes")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if np.finfo(Long).nmant < 63:
        sys.exit("Long doubles of this machine have fewer than 64 bits.")
    names: list[str] = options.functions or list(BASES)
    if unknown := [name for name in names if name not in BASES]:
        parser.error(f"there is no quick way for {', '.join(unknown)}.")
    good = True
    with ProcessPoolExecutor(options.workers) as pool:
        for name in names:
            found = list(pool.map(measured, parts(name, options.step, 8 * options.workers)))
            least, most = min(x for x, _ in found), max(x for _, x in found)
            good &= max(-least, most) < BASES[name].slack + 1
            print(f"{name}: from {least:.3f} to {most:.3f}, slack {BASES[name].slack}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
