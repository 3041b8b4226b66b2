"""The parts that the programs of all engines share: where a workgroup stands, and what it combines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, LitU32, LocalId, Select, Var, WorkgroupId
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Return, Store
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.engines.monoids import Monoid
    from vyre.engines.plan import Shape

U32 = DataType.U32
PARAMS = BufferDecl.uniform("params", 2, U32, count=8)
"""The uniform of every program: the number of workgroups, then what the step says."""

WINDOW_START, WINDOW_STOP = PARAMS[LitU32(6)], PARAMS[LitU32(7)]
GROUP, LOCAL = Var("group"), Var("local")


def param(number: int) -> Expr:
    """Word `number` of the step's own parameters."""
    return PARAMS[LitU32(1 + number)]


def least(a: Expr, b: Expr) -> Expr:
    return Select(a < b, a, b)


def stretch(first: Expr, most: Expr, *buffers: BufferDecl) -> list[Node]:
    """Names `first` and `stop`: up to `most` elements of buffers of equal length.

    Each length is named, so that no access between the two has to be checked.
    """
    rest = buffers[0].length - Var("first")
    named: list[Node] = [Let("first", first), Let("stop0", Var("first") + least(rest, most))]
    for number, buffer in enumerate(buffers, 1):
        name = "stop" if number == len(buffers) else f"stop{number}"
        named.append(Let(name, least(Var(f"stop{number - 1}"), buffer.length)))
    return named


def opening(shape: Shape) -> list[Node]:
    """Names `group` and `local`; ends the workgroups that fill up the last row of the grid."""
    flat, groups = Var("flat"), PARAMS[LitU32(0)]
    group = groups - LitU32(1) - flat if shape.reverse else flat
    return [
        Let("flat", WorkgroupId(0) + WorkgroupId(1) * LitU32(shape.row)),
        If(flat >= groups, [Return()]),
        Let("group", group),
        Let("local", LocalId(0)),
    ]


def taken(source: BufferDecl, index: Expr, op: Monoid, *, truth: bool) -> Expr:
    """The element at `index`, or the neutral one past the end; `truth` makes it 0 or 1."""
    value = source[index].ne(0) if truth else source[index]
    return Select(index < source.length, value, op.start)


def halving(op: Monoid, tile: BufferDecl, lanes: int) -> list[Node]:
    """Joins all `lanes` elements of a workgroup buffer into element 0."""
    reach, mine, other = Var("reach"), Var("mine"), Var("other")
    joined: list[Node] = [
        Let("mine", tile[LOCAL]),
        Let("other", tile[LOCAL + reach]),
        Store(tile.name, LOCAL, op.join(mine, other)),
    ]
    body: list[Node] = [
        Barrier(),
        Let("reach", LitU32(lanes // 2) >> Var("level")),
        If(reach > LOCAL, joined),
    ]
    return [Loop("level", LitU32(0), LitU32(lanes.bit_length() - 1), body), Barrier()]


def upward(op: Monoid, tile: BufferDecl, lanes: int) -> list[Node]:
    """Turns each element of a workgroup buffer into the join of all up to it."""
    reach, mine, earlier = Var("reach"), Var("mine"), Var("earlier")
    body: list[Node] = [
        Let("reach", LitU32(1) << Var("level")),
        Let("earlier", Select(reach <= LOCAL, tile[LOCAL - reach], op.start)),
        Let("mine", tile[LOCAL]),
        Barrier(),
        Store(tile.name, LOCAL, op.join(earlier, mine)),
        Barrier(),
    ]
    return [Barrier(), Loop("level", LitU32(0), LitU32(lanes.bit_length() - 1), body)]


_BANKS = 32


def padded(place: Expr) -> Expr:
    """Leaves a gap after 32 words, so that rows and columns both fall into different banks."""
    return place + (place >> LitU32(5))


def padded_row(row: Expr, lanes: int) -> Expr:
    """The padded place of this invocation in a row of `lanes`."""
    if lanes % _BANKS:
        return padded(row * LitU32(lanes) + LOCAL)
    return row * LitU32(lanes + lanes // _BANKS) + padded(LOCAL)


def padded_own(items: int, number: Expr) -> Expr:
    """The padded place of one of the `items` neighbours of this invocation."""
    if items > _BANKS:
        return padded(LOCAL * LitU32(items) + number)
    return padded(LOCAL * LitU32(items)) + number


def padded_room(count: int) -> int:
    """Elements of a buffer that `count` padded places need."""
    return count + (count >> 5) + 1


_ROW = 16
"""Invocations whose values are joined one by one; then their rows are."""


def row_sums(op: Monoid, lanes: int) -> BufferDecl:
    """The memory of `ahead` beside the values."""
    return BufferDecl.workgroup("row_sums", op.value, -(-lanes // _ROW))


def ahead(op: Monoid, tile: BufferDecl, lanes: int) -> list[Node]:
    """`running` is the join of what the invocations before this one left in `tile`, `all` that of every one.

    A row is joined by each of its members, and so are the rows: two barriers, however many there are.
    """
    rows, row = row_sums(op, lanes), min(_ROW, lanes)
    running, whole, one, j = Var("running"), Var("whole"), Var("one"), Var("j")
    begin, number = Var("begin"), Var("number")
    in_row: list[Node] = [
        Let("one", tile[begin + j]),
        Assign("running", Select(begin + j < LOCAL, op.join(running, one), running)),
        Assign("whole", op.join(whole, one)),
    ]
    of_rows: list[Node] = [
        Let("one", rows[j]),
        If(j.eq(number), [Assign("running", op.join(Var("all"), running))]),
        Assign("all", op.join(Var("all"), one)),
    ]
    return [
        Barrier(),
        *(Let(name, op.start) for name in ("running", "whole", "all")),
        Let("number", LOCAL >> LitU32(row.bit_length() - 1)),
        Let("begin", number * LitU32(row)),
        Loop("j", LitU32(0), LitU32(row), in_row),
        If(LOCAL.eq(begin), [Store(rows.name, number, whole)]),
        Barrier(),
        Loop("j", LitU32(0), LitU32(-(-lanes // row)), of_rows),
    ]


def joined_into(op: Monoid, total: Var, value: Expr, name: str) -> list[Node]:
    """`total` becomes the join of itself and `value`."""
    return [Let(name, value), Assign(total.name, op.join(total, Var(name)))]
