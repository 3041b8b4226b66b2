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


def joined_into(op: Monoid, total: Var, value: Expr, name: str) -> list[Node]:
    """`total` becomes the join of itself and `value`."""
    return [Let(name, value), Assign(total.name, op.join(total, Var(name)))]
