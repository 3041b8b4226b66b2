"""Elements that are kept, chosen by a bitmap: flags are read once, and kept neighbours stay neighbours.

marks       bit b of word w says whether flag 32 * w + b is set; every workgroup counts its own
ends        the counts of workgroups, scanned: the last one is how many are kept
kept        the place of an element follows from the end of its workgroup, and the bits behind it
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import (
    GROUP,
    LOCAL,
    PARAMS,
    U32,
    halving,
    opening,
    padded,
    padded_room,
    upward,
)
from vyre.engines.monoids import monoid
from vyre.engines.plan import Count, Shape, SlotPart, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import BinOp, Lane, LitU32, Select, UnOp, Var
from vyre.ir.limits import U32_MAX
from vyre.ir.node import Barrier, If, Let, Loop, Store
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.engines.plan import Bound
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

BITS = 32
_QUAD = 4
"""Flags that an invocation reads at once, which are neighbours."""
_QUADS = BITS // _QUAD
_TOGETHER = 16
"""Rows of elements that are read before the first one is stored."""


def _ones(word: Expr) -> Expr:
    return UnOp(UnaryOp.Popcount, word)


@cache
def marks_program(shape: Shape, *, quads: bool) -> Program:
    """A word of `marks` for each invocation, and how many of its workgroup's bits are set.

    With `quads` four flags are one load.
    """
    lanes = shape.lanes
    flags = BufferDecl.read("flags", 0, DataType.Vec4U32 if quads else U32)
    marks, counts = BufferDecl.read_write("marks", 1, U32), BufferDecl.read_write("counts", 2, U32)
    tile = BufferDecl.workgroup("tile", U32, padded_room(lanes))
    read: list[Node] = []
    for k in range(_QUADS):
        place = GROUP * LitU32(lanes * _QUADS) + LitU32(k * lanes) + LOCAL
        if quads:
            read.append(Let(f"quad{k}", flags[place]))
            read += [Let(f"flag{k}_{j}", Lane(Var(f"quad{k}"), j)) for j in range(_QUAD)]
        else:
            read.append(Let(f"place{k}", place * LitU32(_QUAD)))
            read += [Let(f"flag{k}_{j}", flags[Var(f"place{k}") + LitU32(j)]) for j in range(_QUAD)]
    own: Expr = LitU32(0)
    for k in range(_QUADS):
        for j in range(_QUAD):
            own = own | (Var(f"flag{k}_{j}").ne(0) << LitU32(_QUAD * k + j))
    # Each invocation has read a column of quads, and needs a row of eight.
    word: Expr = LitU32(0)
    for j in range(_QUADS):
        number = LOCAL * LitU32(_QUADS) + LitU32(j)
        column, turn = number & LitU32(lanes - 1), number >> LitU32(lanes.bit_length() - 1)
        bits = (tile[padded(column)] >> (turn * LitU32(_QUAD))) & LitU32((1 << _QUAD) - 1)
        word = word | (bits << LitU32(_QUAD * j))
    entry: list[Node] = [
        *opening(shape),
        *read,
        Store("tile", padded(LOCAL), own),
        Barrier(),
        Let("word", word),
        Store("marks", GROUP * LitU32(lanes) + LOCAL, Var("word")),
        Barrier(),
        Store("tile", LOCAL, _ones(Var("word"))),
        *halving(monoid("add"), tile, lanes),
        If(LOCAL.eq(0), [Store("counts", GROUP, tile[LitU32(0)])]),
    ]
    return Program(arranged((flags, marks, counts, PARAMS, tile)), (lanes, 1, 1), entry)


@cache
def last_program() -> Program:
    """The last of the ends: how many elements are kept."""
    ends, count = BufferDecl.read("ends", 0, U32), BufferDecl.read_write("count", 1, U32, count=1)
    last = Store("count", LitU32(0), ends[ends.length - LitU32(1)])
    return Program(arranged((ends, count, PARAMS)), (1, 1, 1), [last])


@cache
def kept_program(carrier: DataType, shape: Shape) -> Program:
    """Element i goes to its place where its bit is set."""
    lanes = shape.lanes
    values = BufferDecl.read("input", 0, carrier)
    marks, ends = BufferDecl.read("marks", 1, U32), BufferDecl.read("ends", 2, U32)
    output = BufferDecl.read_write("output", 3, carrier)
    words, sums = BufferDecl.workgroup("words", U32, lanes), BufferDecl.workgroup("sums", U32, lanes)
    first, row = Var("first"), Var("row")

    def stored(number: Expr, bit: Expr, value: Expr, name: str) -> list[Node]:
        """The element at a bit of a word, stored at its place, or past the end, which does nothing."""
        behind = Var(f"behind{name}")
        place = Select(behind & LitU32(1), sums[number] - _ones(behind), LitU32(U32_MAX))
        return [Let(f"behind{name}", words[number] >> bit), Store("output", place, value)]

    fast: list[Node] = []
    for k in range(BITS):
        if k % _TOGETHER == 0:
            fast += [
                Let(f"value{n}", values[Var("here") + LitU32(n * lanes)]) for n in range(k, k + _TOGETHER)
            ]
        at = k * lanes
        number = Var("chunk") + LitU32(at // BITS)
        fast += stored(number, Var("bit") + LitU32(at % BITS), Var(f"value{k}"), str(k))
    slow: list[Node] = [
        Let("at", row * LitU32(lanes) + LOCAL),
        Let("value", values[first + Var("at")]),
        *stored(Var("at") >> LitU32(5), Var("at") & LitU32(31), Var("value"), ""),
    ]
    size = lanes * BITS
    inside = BinOp(BinaryOp.And, first < LitU32(U32_MAX - size), first + LitU32(size - 1) < values.length)
    entry: list[Node] = [
        *opening(shape),
        Let("own", marks[GROUP * LitU32(lanes) + LOCAL]),
        Store("words", LOCAL, Var("own")),
        Store("sums", LOCAL, _ones(Var("own"))),
        *upward(monoid("add"), sums, lanes),
        Let("upto", sums[LOCAL]),
        Barrier(),
        Store("sums", LOCAL, Var("upto") + Select(LitU32(0) < GROUP, ends[GROUP - LitU32(1)], LitU32(0))),
        Barrier(),
        Let("first", GROUP * LitU32(size)),
        Let("chunk", LOCAL >> LitU32(5)),
        Let("bit", LOCAL & LitU32(31)),
        If(inside, [Let("here", first + LOCAL), *fast], [Loop("row", LitU32(0), LitU32(BITS), slow)]),
    ]
    return Program(arranged((values, marks, ends, output, PARAMS, words, sums)), (lanes, 1, 1), entry)


def marked_steps(
    carrier: DataType, shape: Shape, count: int, source: str, flags: str, target: str
) -> tuple[list[Step], dict[str, Space], Count]:
    """The steps that leave the elements of `source` whose flag is set in `target`, which has as many."""
    groups = groups_for(count, shape.lanes * BITS)
    quads = count % _QUAD == 0
    marked: dict[str, Bound] = {
        "flags": SlotPart(flags, DataType.Vec4U32, count // _QUAD) if quads else flags,
        "marks": "marks",
        "counts": "mark_counts",
    }
    scanned, scratch = scan_steps("add", shape, groups, "mark_counts", "mark_ends", inclusive=True)
    scratch |= {
        "marks": Space(U32, groups * shape.lanes, written=True),
        "mark_counts": Space(U32, groups, written=True),
        "mark_ends": Space(U32, groups, written=True),
        "mark_count": Space(U32, 1, written=True),
    }
    kept: dict[str, Bound] = {
        "input": SlotPart(source, carrier, count),
        "marks": "marks",
        "ends": "mark_ends",
        "output": SlotPart(target, carrier, count),
    }
    steps = [
        Step(marks_program(shape, quads=quads), groups, marked),
        *scanned,
        Step(last_program(), 1, {"ends": "mark_ends", "count": "mark_count"}),
        Step(kept_program(carrier, shape), groups, kept),
    ]
    return steps, scratch, Count("mark_count", count)
