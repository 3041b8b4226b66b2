"""Compares a correctly rounded function with the truth, input by input.

    python -m lab.functions.sweep exp                       all 2^32 inputs of F32
    python -m lab.functions.sweep all --count 67108864      2^26 spread inputs of every function
    python -m lab.functions.sweep sin --lo 0x4B000000 --hi 0x7F800000 --workers 16
    python -m lab.functions.sweep atan2 --count 100000000   random pairs, half of them hard

Runs in parts, one process each, and prints a line per function: inputs, differences, the first of them, how
many of the truths Arb decided, and how many roundings of two-argument functions stayed undecided. The exit
status is 1 when anything differs. Needs llvmlite and python-flint.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

from lab.floats.jit import JitKernel, compiled
from lab.floats.truth import truth
from lab.functions.pairs import pairs
from vyre.ir.types import DataType
from vyre.numeric.functions import FUNCTIONS, function_op, undecided_op
from vyre.numeric.soft.layout import LAYOUTS

BLOCK = 1 << 18
BINARY = ("atan2", "pow")


@dataclass(frozen=True, slots=True)
class Part:
    """Inputs `lo + step * k` below `hi`; of two-argument functions, the pairs number `lo` to `hi`."""

    name: str
    kind: str
    lo: int
    hi: int
    step: int


@dataclass(frozen=True, slots=True)
class Found:
    cases: int
    differences: int
    first: str
    arb: int
    undecided: int
    seconds: float


@cache
def kernel(op_id: str, *, undecided: bool = False) -> JitKernel:
    op = undecided_op(op_id) if undecided else function_op(op_id)
    if op is None:
        raise SystemExit(f"there is no {op_id}")
    return compiled(op)


def swept(part: Part) -> Found:
    fmt = LAYOUTS[DataType(part.kind.upper())]
    op_id = f"{fmt.prefix}.{part.name}"
    cases = differences = arb = undecided = 0
    first = ""
    seconds = 0.0
    for start in range(part.lo, part.hi, BLOCK * part.step):
        stop = min(start + BLOCK * part.step, part.hi)
        if part.name in BINARY:
            block = pairs(fmt, part.name, start, stop)
            undecided += int(kernel(op_id, undecided=True)(*block).sum())
        else:
            block = (np.arange(start, stop, part.step, dtype=np.uint64).astype(np.uint32),)
        run = kernel(op_id)
        began = time.perf_counter()
        got = run(*block)
        seconds += time.perf_counter() - began
        want, asked = truth(part.name, fmt, *block)
        wrong = np.flatnonzero(got != want)
        if wrong.size and not first:
            k = int(wrong[0])
            given = ", ".join(f"0x{int(a[k]):08X}" for a in block)
            first = f"{part.name}({given}) = 0x{int(got[k]):08X}, truth 0x{int(want[k]):08X}"
        cases += got.size
        differences += wrong.size
        arb += asked
    return Found(cases, differences, first, arb, undecided, seconds)


def parts(name: str, options: argparse.Namespace) -> list[Part]:
    width = LAYOUTS[DataType(options.format.upper())].width
    lo, hi = options.lo, min(options.hi, 1 << width)
    step = 1
    if options.count:
        lo, hi, step = (
            (0, options.count, 1) if name in BINARY else (lo, hi, max(1, (hi - lo) // options.count))
        )
    many = options.workers * 16
    size = -(-(hi - lo) // (many * step)) * step
    # Odd offsets, so that a stride does not always see the same low bits.
    return [
        Part(name, options.format, start + (start // size * 7919) % step, min(start + size, hi), step)
        for start in range(lo, hi, size)
    ]


def report(name: str, options: argparse.Namespace, pool: ProcessPoolExecutor) -> bool:
    began = time.perf_counter()
    found = list(pool.map(swept, parts(name, options)))
    cases, wrong = sum(f.cases for f in found), sum(f.differences for f in found)
    rate = cases / max(sum(f.seconds for f in found), 1e-9) / 1e6
    first = next((f.first for f in found if f.first), "")
    print(
        f"{options.format}.{name}: {cases} inputs, {wrong} differ{': ' + first if first else ''};"
        f" Arb decided {sum(f.arb for f in found)}, {sum(f.undecided for f in found)} undecided;"
        f" {rate:.1f} M/s a core, {time.perf_counter() - began:.0f} s in all",
        flush=True,
    )
    return wrong == 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("functions", nargs="+", help="names such as exp, or all")
    parser.add_argument("--format", choices=["f32", "f16", "bf16"], default="f32")
    parser.add_argument("--lo", type=lambda text: int(text, 0), default=0)
    parser.add_argument("--hi", type=lambda text: int(text, 0), default=1 << 32)
    parser.add_argument("--count", type=int, default=0, help="spread inputs (random pairs) instead of all")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    names = list(FUNCTIONS.values()) if options.functions == ["all"] else options.functions
    with ProcessPoolExecutor(options.workers) as pool:
        good = [report(name, options, pool) for name in names]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
