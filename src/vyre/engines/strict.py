"""`reduce_strict`: the left fold over floats, one invocation after the other, in chunks.

A chunk is short enough for the watchdog of any driver; the accumulator is carried from one to the next.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.float_fold import Fold, empty_bits, join
from vyre.engines.kernels import PARAMS, U32, WINDOW_START, WINDOW_STOP, param
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, Window
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, LitU32, Select, Var
from vyre.ir.node import Assign, Let, Loop, Store
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.node import Node

CHUNK = 1 << 18


@cache
def strict_program(fold: Fold) -> Program:
    """Folds a window of the input from the left, after `output[0]` where `param(0)` says so."""
    source = BufferDecl.read("input", 0, fold.element)
    output = BufferDecl.read_write("output", 1, U32, count=1)
    carried, total = param(0), Var("total")
    start = Select(carried, Cast(fold.element, output[LitU32(0)]), source[WINDOW_START])
    entry: list[Node] = [
        Let("total", start),
        Loop(
            "k",
            WINDOW_START + LitU32(1) - carried,
            WINDOW_STOP,
            [Assign("total", join(fold, total, source[Var("k")]))],
        ),
        Store("output", LitU32(0), Cast(U32, total)),
    ]
    return Program((source, output, PARAMS), (1, 1, 1), entry)


def strict_steps(fold: Fold, count: int, chunk: int) -> list[Step]:
    """One step a chunk, all of one program."""
    program = strict_program(fold)
    return [
        Step(
            program,
            1,
            {"input": Window("input", start, min(start + chunk, count)), "output": "output"},
            (int(start > 0),),
        )
        for start in range(0, count, max(chunk, 1))
    ]


@lru_cache(maxsize=64)
def strict_engine(fold: Fold, *, chunk: int = CHUNK, shape: Shape | None = None) -> Engine:
    """One u32 word: the bits of the reduction. There is nothing to cut, so `shape` changes nothing."""

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        outputs = {"output": Space(U32, 1, () if count else (empty_bits(fold),), written=bool(count))}
        return Plan(outputs, tuple(strict_steps(fold, count, chunk)))

    return Engine("reduce_strict", {"input": fold.element}, plan, shape or Shape())
