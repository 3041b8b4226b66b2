"""`histogram`: how often each byte value occurs, or each of a number of u32, counted by atomics.

Bytes are counted in the memory of workgroups, whose rows of counts are then summed; u32 in the output itself.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening, param
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.engines.runs import NOTHING, I, filled, over, step_over
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, LitU32, Var
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.node import Node

BINS = 256
MOST_ROWS = 2048
"""Workgroups that count at once; each leaves a row of counts behind."""


@cache
def count_program(shape: Shape) -> Program:
    """`param(0)` bytes in all, `param(1)` words for each invocation; leaves one row a workgroup."""
    data = BufferDecl.read("input", 0, DataType.Bytes)
    rows = BufferDecl.read_write("output", 1, U32)
    bins = BufferDecl.workgroup("bins", U32, BINS, atomic=True)
    w, word = Var("w"), Var("word")
    whole = w * LitU32(4) + LitU32(3) < param(0)
    counted = [_count(bins, word, k) for k in range(4)]
    tail = [If(w * LitU32(4) + LitU32(k) < param(0), [_count(bins, word, k, "last")]) for k in range(4)]
    body: list[Node] = [
        Let("w", Var("first") + Var("k") * LitU32(shape.lanes)),
        If(w < data.length, [Let("word", data[w]), If(whole, counted, tail)]),
    ]
    bin_ = Var("j") * LitU32(shape.lanes) + LOCAL
    own = [If(bin_ < LitU32(BINS), [Store("output", GROUP * LitU32(BINS) + bin_, bins[bin_])])]
    entry: list[Node] = [
        *opening(shape),
        Let("first", GROUP * (param(1) * LitU32(shape.lanes)) + LOCAL),
        Loop("k", LitU32(0), param(1), body),
        Barrier(),
        Loop("j", LitU32(0), LitU32(groups_for(BINS, shape.lanes)), own),
    ]
    return Program((data, rows, PARAMS, bins), (shape.lanes, 1, 1), entry)


def _count(bins: BufferDecl, word: Var, byte: int, name: str = "old") -> Node:
    value = (word >> LitU32(8 * byte)) & LitU32(0xFF)
    return Let(f"{name}{byte}", Atomic(AtomicOp.Add, bins.name, value, LitU32(1)))


@cache
def rows_program(shape: Shape) -> Program:
    """The sums of `param(0)` rows, bin by bin."""
    rows = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    j, total = Var("j"), Var("total")
    entry: list[Node] = [
        *opening(shape),
        Let("j", GROUP * LitU32(shape.lanes) + LOCAL),
        Let("total", LitU32(0)),
        Loop("r", LitU32(0), param(0), [Assign("total", total + rows[Var("r") * LitU32(BINS) + j])]),
        If(j < LitU32(BINS), [Store("output", j, total)]),
    ]
    return Program((rows, output, PARAMS), (shape.lanes, 1, 1), entry)


@lru_cache(maxsize=64)
def histogram_engine(*, shape: Shape | None = None) -> Engine:
    """256 counts."""
    cut = shape or Shape()

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        words = groups_for(count, 4)
        each = cut.items
        while groups_for(words, cut.lanes * each) > MOST_ROWS:
            each *= 2
        rows = groups_for(words, cut.lanes * each)
        steps = [
            Step(
                rows_program(cut), groups_for(BINS, cut.lanes), {"input": "rows", "output": "output"}, (rows,)
            )
        ]
        if rows:
            bindings = {"input": "input", "output": "rows"}
            steps.insert(0, Step(count_program(cut), rows, bindings, (count, each)))
        return Plan({"output": Space(U32, BINS)}, tuple(steps), {"rows": Space(U32, max(rows, 1) * BINS)})

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
