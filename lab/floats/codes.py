"""Floats of 8 and 4 bits by another hand: ml_dtypes and distances, held against the ops for all inputs.

python -m lab.floats.codes                  all 2^32 F32 of the five encoders on the CPU backend
python -m lab.floats.codes --blocks 3       only so many blocks of 2^18, spread evenly
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# Arithmetic on arrays of any type has no type that a checker knows.

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from vyre.backends.dispatch import dispatch
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, InvocationId
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

NAN = 0x7FC0_0000
DTYPES: dict[str, Any] = {"e4m3fn": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
LARGEST = {"e4m3fn": 0x7E, "e5m2": 0x7B}
CODE_OF_NAN = {"e4m3fn": 0x7F, "e5m2": 0x7E}
BLOCK = 1 << 18
_BLOCKS = (1 << 32) // BLOCK

NF4 = np.array(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ]
)
"""Each a number of 24 bits, so an F32."""


def decoded(name: str) -> Any:
    """The F32 of every code of 8 bits, NaN in its one form."""
    values = np.arange(256, dtype=np.uint8).view(DTYPES[name]).astype(np.float32)
    return np.where(np.isnan(values), np.uint32(NAN), values.view(np.uint32))


def encoded(name: str, words: Any, *, saturate: bool) -> Any:
    """The codes of many F32; ml_dtypes rounds as OCP does, keeps the sign of NaN, and never saturates."""
    values = words.view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        codes = values.astype(DTYPES[name]).view(np.uint8)
    size, nan = codes & 0x7F, np.isnan(values)
    if saturate:
        codes = np.where(size > LARGEST[name], codes & 0x80 | LARGEST[name], codes)
    else:
        nan |= np.isnan(codes.view(DTYPES[name]).astype(np.float32))
    return np.where(nan, CODE_OF_NAN[name], codes).astype(np.uint32)


def nearest_nf4(words: Any) -> Any:
    """The lowest of the nearest codes. Near a middle both distances are exact in F64."""
    with np.errstate(invalid="ignore"):
        values = words.view(np.float32).astype(np.float64)
    nan = np.isnan(values)
    inside = np.clip(np.where(nan, 0, values), -2, 2)
    best = np.zeros(len(values), np.uint32)
    least = np.abs(inside - NF4[0])
    for code in range(1, 16):
        distance = np.abs(inside - NF4[code])
        nearer = distance < least
        best[nearer] = code
        least = np.where(nearer, distance, least)
    return np.where(nan, np.uint32(7), best)


ENCODERS: dict[str, Callable[[Any], Any]] = {
    **{f"fp8.{name}.encode": lambda w, name=name: encoded(name, w, saturate=True) for name in DTYPES},
    **{f"fp8.{name}.encode_over": lambda w, name=name: encoded(name, w, saturate=False) for name in DTYPES},
    "nf4.encode": nearest_nf4,
}
"""The codes of many F32 by the op that should give them."""


def found(op_id: str, words: Any) -> Any:
    """What the op gives on the CPU backend."""
    given = BufferDecl.read("given", 0, DataType.F32)
    out = BufferDecl.read_write("out", 1, DataType.U32)
    at = InvocationId(0)
    program = Program([given, out], (256,), [out.store(at, Call(op_id, (given[at],)))])
    results = np.zeros(len(words), np.uint32)
    dispatch(program, {"given": words.view(np.float32), "out": results}, backend="cpu")
    return results


def wrong(op_id: str, words: Any) -> list[str]:
    """The inputs for which the op and the other hand differ."""
    expected, actual = ENCODERS[op_id](words), found(op_id, words)
    return [
        f"{op_id}({words[k]:#010x}) gave {actual[k]:#x}, not {expected[k]:#x}"
        for k in np.flatnonzero(expected != actual)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=_BLOCKS)
    blocks: int = parser.parse_args().blocks
    bad = 0
    for k in range(blocks):
        first = _BLOCKS * k // blocks * BLOCK
        words = np.arange(first, first + BLOCK, dtype=np.uint64).astype(np.uint32)
        for op_id in ENCODERS:
            lines = wrong(op_id, words)
            bad += len(lines)
            sys.stderr.write("".join(f"{line}\n" for line in lines[:3]))
    sys.stdout.write(f"{blocks * BLOCK} inputs of {len(ENCODERS)} encoders, {bad} wrong\n")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
