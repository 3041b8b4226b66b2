"""`histogram`: how often each byte value occurs, or each of a number of u32, counted by atomics.

Bytes are counted in the memory of workgroups, which then add to the output; u32 in the output itself.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening, param
from vyre.engines.plan import Engine, Plan, Shape, SlotPart, Space, Step, groups_for
from vyre.engines.runs import NOTHING, I, filled, over, step_over
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, BinOp, Lane, LitU32, Var
from vyre.ir.limits import U32_MAX
from vyre.ir.node import Assign, Barrier, If, Let, Loop
from vyre.ir.operators import AtomicOp, BinaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.plan import Bound
    from vyre.ir.node import Node

BINS = 256
_MOST_GROUPS = 1024
"""Workgroups that count at once; each adds its counts to the output once."""
COLUMNS = 16
"""Neighbours that count without meeting: as many as every device has workgroup memory for."""
MORE_COLUMNS = 32
"""As many as there are banks, on devices that have the memory."""
_TOGETHER = 32
"""Words that an invocation reads before it counts their bytes."""
_QUAD = 4
"""Words of the widest load."""


def columns_for(workgroup_bytes: int | None) -> int:
    """The columns that suit a device with so much workgroup memory."""
    return MORE_COLUMNS if (workgroup_bytes or 0) >= BINS * MORE_COLUMNS * U32.stride else COLUMNS


def _together(shape: Shape, quads: bool) -> int:
    """Loads before the first count."""
    return min(shape.items, _TOGETHER // _QUAD if quads else _TOGETHER)


@cache
def count_program(shape: Shape, columns: int, *, quads: bool) -> Program:
    """`param(0)` bytes in all, `param(1)` turns of so many loads for each invocation, added to the output.

    With `quads` a load is of four words. Counts are in rows of `columns` side by side.
    """
    lanes, together = shape.lanes, _together(shape, quads)
    element = DataType.Vec4U32 if quads else DataType.Bytes
    data, output = BufferDecl.read("input", 0, element), BufferDecl.read_write("output", 1, U32)
    bins = BufferDecl.workgroup("bins", U32, BINS * columns, atomic=True)
    column = LOCAL & LitU32(columns - 1)
    at, place, turn = Var("at"), Var("place"), lanes * together

    def words(name: str) -> list[Node]:
        """Takes what was loaded apart."""
        return [Let(f"{name}_{k}", Lane(Var(name), k)) for k in range(_QUAD)] if quads else []

    def counts(name: str) -> list[tuple[int, Node]]:
        """Every byte of a load by its number."""
        named = [Var(f"{name}_{k}") for k in range(_QUAD)] if quads else [Var(name)]
        found: list[tuple[int, Node]] = []
        for word in named:
            for byte in range(4):
                bin_ = ((word >> LitU32(8 * byte)) & LitU32(0xFF)) * LitU32(columns) + column
                add = Let(f"{word.name}_byte{byte}", Atomic(AtomicOp.Add, bins.name, bin_, LitU32(1)))
                found.append((len(found), add))
        return found

    read = [f"load{k}" for k in range(together)]
    whole: list[Node] = [
        Let("here", at + LOCAL),
        *(Let(name, data[Var("here") + LitU32(k * lanes)]) for k, name in enumerate(read)),
        *(node for name in read for node in words(name)),
        *(node for name in read for _, node in counts(name)),
    ]
    bytes_each = 4 * (_QUAD if quads else 1)
    rest: list[Node] = [
        Let("place", at + Var("u") * LitU32(lanes) + LOCAL),
        If(
            place < data.length,
            [
                Let("last", data[place]),
                *words("last"),
                *(If(place * LitU32(bytes_each) + LitU32(k) < param(0), [add]) for k, add in counts("last")),
            ],
        ),
    ]
    # Behind the end of what is read here lies at least one load more: the last one may be filled up.
    inside = BinOp(BinaryOp.And, at < LitU32(U32_MAX - turn), at + LitU32(turn) < data.length)
    body: list[Node] = [
        Let("at", Var("first") + Var("k") * LitU32(turn)),
        If(inside, whole, [Loop("u", LitU32(0), LitU32(together), rest)]),
    ]
    entry: list[Node] = [
        *opening(shape),
        Let("first", GROUP * (param(1) * LitU32(turn))),
        Loop("k", LitU32(0), param(1), body),
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
def histogram_engine(*, shape: Shape | None = None, columns: int = COLUMNS) -> Engine:
    """256 counts. Each workgroup has so many columns of them, or one alone where memory has no banks."""
    cut = shape or Shape(512)
    rows = min(cut.lanes, columns) if cut.banks else 1

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        clear = filled(cut, BINS, "output", 0)
        outputs = {"output": Space(U32, BINS, written=True)}
        if not count:
            return Plan(outputs, (clear,), NOTHING)
        quads = count % (4 * _QUAD) == 0
        loads = groups_for(count, 4 * _QUAD if quads else 4)
        turn = cut.lanes * _together(cut, quads)
        turns = groups_for(loads, turn * _MOST_GROUPS)
        data: Bound = SlotPart("input", DataType.Vec4U32, loads) if quads else "input"
        add = Step(
            count_program(cut, rows, quads=quads),
            groups_for(loads, turn * turns),
            {"input": data, "output": "output"},
            (count, turns),
        )
        return Plan(outputs, (clear, add), NOTHING)

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
