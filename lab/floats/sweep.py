"""Sweeps: a soft op against the processor's own floats, on all inputs or on hard cases by number.

Each side runs in a kernel of its own, over blocks that stay in the cache. A sweep gives the number of
cases and the first one that differs. Needs llvmlite.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from lab.floats import cases
from lab.floats.hardware import oracle
from lab.floats.jit import compiled
from vyre.errors import OpError
from vyre.ir.types import DataType
from vyre.numeric.soft import soft_ops
from vyre.numeric.soft.layout import LAYOUTS, Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lab.floats.jit import JitKernel
    from vyre.ir.op import Op

    Words = NDArray[np.uint32]
    Block = tuple[Words, ...]

BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep saw; `first` are the operands of the first difference."""

    op_id: str
    kind: str
    cases: int
    failures: int
    seconds: float
    first: tuple[int, ...] = ()


def soft_op(op_id: str) -> Op:
    for op in soft_ops():
        if op.id == op_id:
            return op
    raise OpError(f"there is no soft op {op_id}.", fix="take an id from soft_ops().")


def exhaustive(op: Op, *, part: tuple[int, int] = (0, 1)) -> Sweep:
    """Every input of a unary op, or every pair of a binary 16-bit op; `part` is (index, of how many)."""
    width = 32 if ".from_" in op.id else _layout(op).width
    total = 1 << width * len(op.params)
    if len(op.params) > 2 or total > 1 << 32:
        raise OpError(f"{op.id} has too many inputs to run them all.", fix="use a sweep of hard cases.")
    index, parts = part
    start, stop = total * index // parts, total * (index + 1) // parts
    if len(op.params) == 1:
        blocks = _counted(start, stop)
    else:
        blocks = ((a >> np.uint32(16), a & np.uint32(0xFFFF)) for (a,) in _counted(start, stop))
    return _compare(op, "exhaustive" if parts == 1 else f"part {index} of {parts}", blocks)


def hard(op: Op, count: int, *, seed: int = 1) -> Sweep:
    """`count` hard cases of a binary op or an fma."""
    blocks = (hard_block(op, seed, start) for start in range(0, count, BLOCK))
    return _compare(op, f"hard cases, seed {seed}", blocks)


def hard_block(op: Op, seed: int, start: int) -> Block:
    """Cases `start` to `start + BLOCK`. Divisions alternate with quotients next to a midpoint."""
    fmt = _layout(op)
    number = np.arange(start, start + BLOCK, dtype=np.uint64).astype(np.uint32)
    # Numbers beyond 2^32 go on under another seed.
    seeds = np.full(BLOCK, (seed * 0x9E3779B1 + (start >> 32)) & 0xFFFFFFFF, dtype=np.uint32)
    first, second = _generator(fmt, "first")(number, seeds), _generator(fmt, "second")(number, seeds)
    if len(op.params) == 1:
        return (first,)
    if len(op.params) == 3:
        product = _kernel(soft_op(f"{fmt.prefix}.mul"))(first, second)
        return first, second, _generator(fmt, "addend")(number, seeds, product)
    if op.id.endswith(".div") and (start // BLOCK) & 1:
        return _generator(fmt, "dividend")(number, seeds, first), first
    return first, second


@cache
def _kernel(op: Op) -> JitKernel:
    return compiled(op)


@cache
def _generator(fmt: Layout, name: str) -> JitKernel:
    makers = {
        "first": cases.first_operand,
        "second": cases.second_operand,
        "dividend": cases.dividend,
        "addend": cases.addend,
    }
    return compiled(makers[name](fmt))


def _layout(op: Op) -> Layout:
    return LAYOUTS[DataType(op.id.split(".")[1].upper())]


def _counted(start: int, stop: int) -> Iterator[Block]:
    for first in range(start, stop, BLOCK):
        yield (np.arange(first, min(first + BLOCK, stop), dtype=np.uint64).astype(np.uint32),)


def _compare(op: Op, kind: str, blocks: Iterable[Block]) -> Sweep:
    truth = oracle(op.id)
    if truth is None:
        raise OpError(f"the processor has no {op.id}.", fix="compare with the reference instead.")
    kernel = _kernel(op)
    started = time.monotonic()
    seen = failures = 0
    first: tuple[int, ...] = ()
    for block in blocks:
        got, expected = kernel(*block), truth(*block)
        seen += got.size
        if not np.array_equal(got, expected):
            wrong = np.flatnonzero(got != expected)
            failures += wrong.size
            first = first or tuple(int(x[wrong[0]]) for x in block)
    return Sweep(op.id, kind, seen, failures, time.monotonic() - started, first)
