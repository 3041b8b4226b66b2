"""Witnesses: a soft op of F32 against the processor's own floats, on the hardest cases of every class.

Case `k` of a seed is in block `k >> 16`; blocks take turns through the classes of the operation. So any case
can be made again alone (`case`), any range of blocks can be run alone, and a run on another device visits the
same cases. Each side is machine code of its own; blocks stay in the cache. Needs llvmlite.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from lab.floats.hardest import ARITHMETIC, classes
from lab.floats.hardware import oracle
from lab.floats.jit import compiled
from lab.floats.records import Evidence, digest
from vyre.errors import OpError
from vyre.numeric.vector import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lab.floats.hardest import HardClass
    from lab.floats.jit import JitKernel
    from vyre.ir.op import Op

    Words = NDArray[np.uint32]

BLOCK_BITS = 16
BLOCK = 1 << BLOCK_BITS
_SEED_STEP = 0x9E3779B1


@dataclass(frozen=True, slots=True)
class ClassCount:
    """The cases of one class; `first` is the number of the first that differs."""

    name: str
    cases: int
    failures: int
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Witness:
    """What a run saw, class by class."""

    op_id: str
    seed: int
    counts: tuple[ClassCount, ...]
    seconds: float

    @property
    def cases(self) -> int:
        return sum(c.cases for c in self.counts)

    @property
    def failures(self) -> int:
        return sum(c.failures for c in self.counts)

    @property
    def first(self) -> int | None:
        """The number of the first case that differs."""
        return min((c.first for c in self.counts if c.first is not None), default=None)


def operation(op: Op) -> str:
    """The name under which an op's hard cases are found."""
    prefix, _, name = op.id.rpartition(".")
    if prefix != "soft.f32" or name not in ARITHMETIC:
        raise OpError(
            f"{op.id} has no classes of hard cases.", fix=f"take soft.f32.{{{','.join(ARITHMETIC)}}}."
        )
    return name


def generators(name: str) -> str:
    """A digest of the definitions that make the cases of an operation: it names the cases, given a seed."""
    found = sha256()
    for kind in classes(name):
        for index in range(kind.arity):
            found.update(f"{kind.name} {digest(kind.operand(index))}\n".encode())
    return found.hexdigest()


def evidence(found: Witness, by: str) -> Evidence:
    """The run as a record; it names the generators, so that changed ones need a new run."""
    name = found.op_id.rpartition(".")[2]
    return {
        "kind": "witnessed",
        "claim": f"equals the processor on the hardest cases of seed {found.seed}",
        "by": by,
        "cases": found.cases,
        "classes": {count.name: count.cases for count in found.counts},
        "generators": generators(name),
        "seconds": round(found.seconds, 1),
    }


def seed_word(seed: int, block: int) -> int:
    """Numbers are 32 bits; what is beyond goes on under another seed."""
    return (seed * _SEED_STEP + (block >> (32 - BLOCK_BITS))) & 0xFFFFFFFF


def case(name: str, number: int, *, seed: int = 1) -> tuple[HardClass, tuple[int, ...]]:
    """One case again, with no compiler: its class and its operands."""
    block = number >> BLOCK_BITS
    kinds = classes(name)
    kind = kinds[block % len(kinds)]
    given = [np.array([word], dtype=np.uint32) for word in (number & 0xFFFFFFFF, seed_word(seed, block))]
    return kind, tuple(int(evaluate(kind.operand(k), *given)[0]) for k in range(kind.arity))


def witness(
    op: Op,
    count: int,
    *,
    seed: int = 1,
    start: int = 0,
    threads: int | None = None,
) -> Witness:
    """At least `count` cases, in whole blocks from block `start` on, on all cores.

    `op` may be a wrong version of a soft op: its id says what it must equal.
    """
    name = operation(op)
    truth = oracle(op.id)
    if truth is None:
        raise OpError(f"the processor has no {op.id}.", fix="compare with the reference instead.")
    soft, kinds = compiled(op), classes(name)
    makers = [[_maker(kind, k) for k in range(kind.arity)] for kind in kinds]
    stop = start + -(-count // BLOCK)
    began = time.monotonic()
    tallies = [[0, 0, -1] for _ in kinds]

    def run(block: int) -> tuple[int, int, int]:
        operands = _operands(makers[block % len(kinds)], block, seed)
        got, expected = soft(*operands), truth(*operands)
        if np.array_equal(got, expected):
            return block, 0, 0
        wrong = np.flatnonzero(got != expected)
        return block, int(wrong.size), int(wrong[0])

    with ThreadPoolExecutor(threads or len(os.sched_getaffinity(0))) as pool:
        for few in _batches(start, stop):
            for block, failures, first in pool.map(run, few):
                tally = tallies[block % len(kinds)]
                tally[0] += BLOCK
                tally[1] += failures
                if failures and tally[2] < 0:
                    tally[2] = (block << BLOCK_BITS) + first
    counts = tuple(
        ClassCount(kind.name, cases, failures, None if first < 0 else first)
        for kind, (cases, failures, first) in zip(kinds, tallies, strict=True)
    )
    return Witness(op.id, seed, counts, time.monotonic() - began)


@cache
def _maker(kind: HardClass, index: int) -> JitKernel:
    return compiled(kind.operand(index))


def _batches(start: int, stop: int) -> Iterator[range]:
    """A pool takes all its work at once, so it gets a little at a time."""
    for first in range(start, stop, 256):
        yield range(first, min(first + 256, stop))


def _operands(makers: list[JitKernel], block: int, seed: int) -> list[Words]:
    first = np.uint32((block << BLOCK_BITS) & 0xFFFFFFFF)
    numbers = np.arange(BLOCK, dtype=np.uint32) + first
    seeds = np.full(BLOCK, seed_word(seed, block), dtype=np.uint32)
    return [maker(numbers, seeds) for maker in makers]
