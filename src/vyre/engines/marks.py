"""Elements that are kept, chosen by a bitmap: flags are read once, and kept neighbours stay neighbours.

marks       bit b of word w says whether flag 32 * w + b is set; every workgroup counts its own
ends        the counts of workgroups, scanned: the last one is how many are kept
kept        the place of an element follows from the end of its workgroup, and the bits behind it
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, halving, opening, upward
from vyre.engines.monoids import monoid
from vyre.engines.plan import Count, Shape, SlotPart, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import LitU32, Select, UnOp, Var
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Store
from vyre.ir.operators import UnaryOp
from vyre.ir.program import Program

if TYPE_CHECKING:
    from vyre.engines.plan import Bound
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.types import DataType

BITS = 32
_TOGETHER = 8
"""Flags that an invocation reads before it looks at them."""
_J, _K = Var("j"), Var("k")


def _ones(word: Expr) -> Expr:
    return UnOp(UnaryOp.Popcount, word)


@cache
def marks_program(shape: Shape) -> Program:
    """A word of `marks` for each invocation, and how many of its workgroup's bits are set."""
    lanes = shape.lanes
    flags = BufferDecl.read("flags", 0, U32)
    marks, counts = BufferDecl.read_write("marks", 1, U32), BufferDecl.read_write("counts", 2, U32)
    tile = BufferDecl.workgroup("tile", U32, lanes)
    # Up to 32 neighbours read rows of flags together; each then has a column of bits, and needs a row.
    width = min(lanes, BITS)
    rows = BITS // width
    column, chunk = Var("column"), Var("chunk")
    first = (GROUP * LitU32(lanes) + chunk) * LitU32(BITS) + column
    read: list[Node] = [Let("i", Var("first") + _K * LitU32(_TOGETHER * width))]
    for number in range(_TOGETHER):
        place = Var("i") + LitU32(number * width)
        read.append(Let(f"set{number}", Select(place < flags.length, flags[place].ne(0), LitU32(0))))
    gathered: Expr = LitU32(0)
    for number in range(_TOGETHER):
        gathered = gathered | (Var(f"set{number}") << LitU32(number))
    read.append(Assign("own", Var("own") | (gathered << (_K * LitU32(_TOGETHER)))))
    bit = column * LitU32(rows) + (_J >> LitU32(width.bit_length() - 1))
    turned = ((tile[chunk + (_J & LitU32(width - 1))] >> bit) & LitU32(1)) << _J
    entry: list[Node] = [
        *opening(shape),
        Let("column", LOCAL & LitU32(width - 1)),
        Let("chunk", LOCAL - column),
        Let("first", first),
        Let("own", LitU32(0)),
        Loop("k", LitU32(0), LitU32(BITS // _TOGETHER), read),
        Store("tile", LOCAL, Var("own")),
        Barrier(),
        Let("word", LitU32(0)),
        Loop("j", LitU32(0), LitU32(BITS), [Assign("word", Var("word") | turned)]),
        Store("marks", GROUP * LitU32(lanes) + LOCAL, Var("word")),
        Barrier(),
        Store("tile", LOCAL, _ones(Var("word"))),
        *halving(monoid("add"), tile, lanes),
        If(LOCAL.eq(0), [Store("counts", GROUP, tile[LitU32(0)])]),
    ]
    return Program(arranged((flags, marks, counts, PARAMS, tile)), (lanes, 1, 1), entry)


@cache
def kept_program(carrier: DataType, shape: Shape) -> Program:
    """Element i goes to its place where its bit is set."""
    lanes = shape.lanes
    values = BufferDecl.read("input", 0, carrier)
    marks, ends = BufferDecl.read("marks", 1, U32), BufferDecl.read("ends", 2, U32)
    output = BufferDecl.read_write("output", 3, carrier)
    words, sums = BufferDecl.workgroup("words", U32, lanes), BufferDecl.workgroup("sums", U32, lanes)
    at, word, bit = Var("at"), Var("word"), Var("bit")
    place = Var("first") + sums[at >> LitU32(5)] - _ones(word >> bit)
    each: list[Node] = [
        Let("at", _K * LitU32(lanes) + LOCAL),
        Let("value", values[GROUP * LitU32(lanes * BITS) + at]),
        Let("word", words[at >> LitU32(5)]),
        Let("bit", at & LitU32(31)),
        If((word >> bit) & LitU32(1), [Store("output", place, Var("value"))]),
    ]
    before = Select(LitU32(0) < GROUP, ends[GROUP - LitU32(1)], LitU32(0))
    entry: list[Node] = [
        *opening(shape),
        Let("first", before),
        Let("own", marks[GROUP * LitU32(lanes) + LOCAL]),
        Store("words", LOCAL, Var("own")),
        Store("sums", LOCAL, _ones(Var("own"))),
        *upward(monoid("add"), sums, lanes),
        Barrier(),
        Loop("k", LitU32(0), LitU32(BITS), each),
    ]
    return Program(arranged((values, marks, ends, output, PARAMS, words, sums)), (lanes, 1, 1), entry)


def marked_steps(
    carrier: DataType, shape: Shape, count: int, source: str, flags: str, target: str
) -> tuple[list[Step], dict[str, Space], Count]:
    """The steps that leave the elements of `source` whose flag is set in `target`, which has as many."""
    groups = groups_for(count, shape.lanes * BITS)
    marked: dict[str, Bound] = {"flags": flags, "marks": "marks", "counts": "mark_counts"}
    scanned, scratch = scan_steps("add", shape, groups, "mark_counts", "mark_ends", inclusive=True)
    scratch |= {
        "marks": Space(U32, groups * shape.lanes, written=True),
        "mark_counts": Space(U32, groups, written=True),
        "mark_ends": Space(U32, groups, written=True),
    }
    kept: dict[str, Bound] = {
        "input": SlotPart(source, carrier, count),
        "marks": "marks",
        "ends": "mark_ends",
        "output": SlotPart(target, carrier, count),
    }
    steps = [
        Step(marks_program(shape), groups, marked),
        *scanned,
        Step(kept_program(carrier, shape), groups, kept),
    ]
    return steps, scratch, Count("mark_ends", count, groups - 1)
