"""Programs made into others that must do the same: cut into other workgroups, or counting their own turns.

    recut(program, shape)    the same invocations in workgroups of another size, and in another order
    counting(program)        a program that adds up the turns of its loops in a buffer of its own

A program whose invocations meet (barriers, workgroup memory, instructions of subgroups) keeps its workgroups,
and only their order along x is turned round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.engines.plan import groups_for
from vyre.ir.blocks import rewrite_blocks
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, Call, Expr, InvocationId, LitU32, LocalId, Var, WorkgroupId
from vyre.ir.node import Barrier, If, Let, Loop, Node
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import expressions, statements, transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.engines.plan import Shape
    from vyre.ir.grid import Grid

CUT, TURNS = "cut_of_the_grid", "turns_of_loops"
"""Buffers that are added: how the grid was cut before (uniform), and the number of turns."""
_ROW = 1024
_ZERO = LitU32(0)


def counting(program: Program) -> Program | None:
    """The program with a count of the turns that all loops took; None for one without loops."""
    if not any(isinstance(node, Loop) for _, node in statements(program.entry)):
        return None
    number = iter(range(program.size))

    def leave(node: Node, bodies: tuple[tuple[Node, ...], ...]) -> tuple[Node, ...]:
        if isinstance(node, Loop):
            counted = Atomic(AtomicOp.Add, TURNS, _ZERO, LitU32(1))
            bodies = ((Let(f"{TURNS}_{next(number)}", counted), *bodies[0]),)
        return (with_parts(node, node.exprs, bodies),)

    def enter(node: Node, scope: None, _: list[Node]) -> tuple[Node, None]:
        return node, scope

    entry = rewrite_blocks(program.entry, enter, None, leave=leave)
    turns = BufferDecl.read_write(TURNS, _free(program), DataType.U32, count=1)
    return Program((*program.buffers, turns), program.workgroup_size, entry)


def meets(program: Program) -> bool:
    """Whether the workgroups of a program are part of what it does."""
    return (
        any(b.access.shared for b in program.buffers)
        or any(isinstance(node, Barrier) for _, node in statements(program.entry))
        or any(isinstance(expr, Call) for expr in expressions(program.entry))
        or program.workgroup_size[1:] != (1, 1)
    )


def recut(program: Program, shape: Shape) -> Program:
    """The same invocations, dealt to workgroups of `shape.lanes`; its grid is that of `grid_for`."""
    size = program.workgroup_size[0]
    cut = BufferDecl.uniform(CUT, _free(program), DataType.U32, count=4)
    columns, total, row = cut[LitU32(0)], cut[LitU32(1)], cut[LitU32(2)]
    if meets(program):
        group = columns - 1 - WorkgroupId(0)
        named: dict[Expr, Expr] = {WorkgroupId(0): group, InvocationId(0): group * size + LocalId(0)}
        entry: tuple[Node, ...] = _replaced(program.entry, _bound(named))
        return Program((*program.buffers, cut), program.workgroup_size, (*_lets(named), *entry))
    place = (WorkgroupId(1) * row + WorkgroupId(0)) * shape.lanes + LocalId(0)
    here = Var("cut_place")
    own = total - 1 - here if shape.reverse else here
    turned, group, local = Var("cut_own"), Var("cut_group"), Var("cut_local")
    across, down = group % columns, group // columns
    named = {
        WorkgroupId(0): across, WorkgroupId(1): down, WorkgroupId(2): _ZERO,
        LocalId(0): local, LocalId(1): _ZERO, LocalId(2): _ZERO,
        InvocationId(0): across * size + local, InvocationId(1): down, InvocationId(2): _ZERO,
    }  # fmt: skip
    body = _replaced(program.entry, _bound(named))
    steps = (Let("cut_own", own), Let("cut_group", turned // size), Let("cut_local", turned % size))
    inside = If(here < total, (*steps, *_lets(named), *body))
    return Program((*program.buffers, cut), (shape.lanes,), (Let("cut_place", place), inside))


def grid_for(program: Program, shape: Shape, grid: Grid) -> tuple[Grid, tuple[int, int, int, int]]:
    """The grid of `recut(program, shape)` for that of the program, and the words of its buffer `CUT`."""
    total = grid[0] * grid[1] * grid[2] * program.workgroup_size[0]
    if meets(program):
        return grid, (grid[0], total, 0, 0)
    groups = groups_for(total, shape.lanes)
    row = min(groups, _ROW)
    return (row, groups_for(groups, row), 1), (grid[0], total, row, 0)


def _free(program: Program) -> int:
    return 1 + max((b.binding for b in program.buffers if b.binding is not None), default=-1)


def _name(place: Expr) -> str:
    match place:
        case WorkgroupId(axis=axis):
            return f"cut_workgroup_{axis}"
        case LocalId(axis=axis):
            return f"cut_local_{axis}"
        case InvocationId(axis=axis):
            return f"cut_invocation_{axis}"
        case _:
            raise AssertionError(place)


def _lets(named: dict[Expr, Expr]) -> list[Node]:
    return [Let(_name(place), value) for place, value in named.items()]


def _bound(named: dict[Expr, Expr]) -> Callable[[Expr], Expr]:
    known: dict[Expr, Expr] = {place: Var(_name(place)) for place in named}
    return lambda expr: known.get(expr, expr)


def _replaced(entry: tuple[Node, ...], replace: Callable[[Expr], Expr]) -> tuple[Node, ...]:
    def enter(node: Node, scope: None, _: list[Node]) -> tuple[Node, None]:
        exprs = tuple(transform(expr, replace) for expr in node.exprs)
        return with_parts(node, exprs, node.bodies), scope

    return rewrite_blocks(entry, enter, None)
