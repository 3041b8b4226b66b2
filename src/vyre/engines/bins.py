"""`histogram`: how often each byte value occurs, or each of a number of u32, counted by atomics.

Bytes are counted in the memory of workgroups, which then add to the output; u32 in the output itself.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening, param
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.engines.runs import NOTHING, I, filled, over, step_over
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, LitU32, Var
from vyre.ir.node import Assign, Barrier, If, Let, Loop
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.node import Node

BINS = 256
_MOST_GROUPS = 2048
"""Workgroups that count at once; each adds its counts to the output once."""
_COLUMNS = 16
"""Neighbours that count without meeting: as many as every device has workgroup memory for."""
_TOGETHER = 8
"""Words that an invocation reads before it counts their bytes."""


def _columns(shape: Shape) -> int:
    """Rows of counts side by side; one alone where memory has no banks."""
    return min(shape.lanes, _COLUMNS) if shape.banks else 1


@cache
def count_program(shape: Shape) -> Program:
    """`param(0)` bytes in all, `param(1)` words for each invocation, added to the output."""
    lanes, columns = shape.lanes, _columns(shape)
    data, output = BufferDecl.read("input", 0, DataType.Bytes), BufferDecl.read_write("output", 1, U32)
    bins = BufferDecl.workgroup("bins", U32, BINS * columns, atomic=True)
    column = LOCAL & LitU32(columns - 1)
    together = min(shape.items, _TOGETHER)
    at, w = Var("at"), Var("w")

    def counted(word: Var, byte: int) -> Node:
        place = ((word >> LitU32(8 * byte)) & LitU32(0xFF)) * LitU32(columns) + column
        return Let(f"{word.name}_{byte}", Atomic(AtomicOp.Add, bins.name, place, LitU32(1)))

    read = [Var(f"word{k}") for k in range(together)]
    whole: list[Node] = [
        *(Let(x.name, data[at + LitU32(k * lanes) + LOCAL]) for k, x in enumerate(read)),
        *(counted(x, byte) for x in read for byte in range(4)),
    ]
    each = [If(w * LitU32(4) + LitU32(byte) < param(0), [counted(Var("last"), byte)]) for byte in range(4)]
    rest: list[Node] = [
        Let("w", at + Var("u") * LitU32(lanes) + LOCAL),
        If(w < data.length, [Let("last", data[w]), *each]),
    ]
    body: list[Node] = [
        Let("at", Var("first") + Var("k") * LitU32(lanes * together)),
        If(
            at + LitU32(lanes * together) <= param(0) >> LitU32(2),
            whole,
            [Loop("u", LitU32(0), LitU32(together), rest)],
        ),
    ]
    entry: list[Node] = [
        *opening(shape),
        Let("first", GROUP * (param(1) * LitU32(lanes))),
        Loop("k", LitU32(0), param(1) >> LitU32(together.bit_length() - 1), body),
        Barrier(),
        Loop("j", LitU32(0), LitU32(groups_for(BINS, lanes)), _added(bins, columns, lanes)),
    ]
    return Program((data, output, PARAMS, bins), (lanes, 1, 1), entry)


def _added(bins: BufferDecl, columns: int, lanes: int) -> list[Node]:
    """Adds the counts of a bin in all columns to the output."""
    bin_, total = Var("bin"), Var("total")
    # Every invocation begins in another column, so that few meet in a bank.
    column = (Var("c") + LOCAL) & LitU32(columns - 1)
    more = Assign("total", total + bins[bin_ * LitU32(columns) + column])
    summed: list[Node] = [
        Let("total", LitU32(0)),
        Loop("c", LitU32(0), LitU32(columns), [more]),
        Let("old", Atomic(AtomicOp.Add, "output", bin_, total)),
    ]
    return [Let("bin", Var("j") * LitU32(lanes) + LOCAL), If(bin_ < LitU32(BINS), summed)]


@lru_cache(maxsize=64)
def histogram_engine(*, shape: Shape | None = None) -> Engine:
    """256 counts."""
    cut = shape or Shape(512)

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        words = groups_for(count, 4)
        each = cut.items
        while groups_for(words, cut.lanes * each) > _MOST_GROUPS:
            each *= 2
        groups = groups_for(words, cut.lanes * each)
        clear = filled(cut, BINS, "output", 0)
        add = Step(count_program(cut), groups, {"input": "input", "output": "output"}, (count, each))
        return Plan({"output": Space(U32, BINS, written=True)}, (clear, add) if count else (clear,), NOTHING)

    return Engine("histogram", {"input": DataType.Bytes}, plan, cut)


@cache
def tally_program(shape: Shape) -> Program:
    """Adds 1 to the bin of every element; there is none past the last."""
    data, output = BufferDecl.read("input", 0, U32), BufferDecl.read_write("output", 1, U32)
    tally = Let("old", Atomic(AtomicOp.Add, "output", data[I], LitU32(1)))
    return over(shape, data.length, [If(data[I] < output.length, [tally])], (data, output))


@lru_cache(maxsize=64)
def bins_engine(bins: int, *, shape: Shape | None = None) -> Engine:
    """How often each u32 below `bins` occurs."""
    cut = shape or Shape()

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        clear = filled(cut, bins, "output", 0)
        add = step_over(tally_program(cut), cut, count, {"input": "input", "output": "output"})
        return Plan({"output": Space(U32, bins, written=True)}, (clear, add) if count else (clear,), NOTHING)

    return Engine("bins", {"input": U32}, plan, cut)
