"""Reductions: one invocation a row, or a workgroup where rows are long and few.

The tree of decision 9 is the perfect tree over the elements, filled up at the end with what changes nothing.
So aligned runs of a power of two are subtrees. Their results are kept like the digits of a binary counter:
a new one is joined with those of its size before it, and what is left at the end is joined from the right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Joining, Reduce
from vyre.graph.sizes import product
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, LitU32, LocalId, Select, Var
from vyre.ir.node import Assign, Barrier, Break, If, Let, Loop, Store
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType
from vyre.planning.draft import Draft, Place
from vyre.planning.joins import MOVES, Join
from vyre.planning.kernels.site import ALWAYS, Variant
from vyre.planning.numbers import plus, rounded, times, widened

if TYPE_CHECKING:
    from vyre.graph.sizes import Size
    from vyre.ir.node import Node
    from vyre.planning.draft import Drafted
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
ROW_LANES = 64
GROUP_LANES = 128
TURN = 8
"""Neighbours that are joined at once, a power of two."""
LONG = 512
"""From so many elements on, and below so many rows, a row is the work of a workgroup."""
FEW = 512
TEAM_LONG = 128
"""The same, however many the rows, where the invocations of a workgroup read side by side."""
LEVELS = 32


def reduce_variants(site: Site, *, team: bool = False) -> tuple[Variant, ...]:
    """For every row an invocation or a workgroup; the latter for fewer elements where it is a team."""
    node, source = _reduce(site), site.of(_reduce(site).source)
    length, rows = product(source.shape[axis] for axis in node.axes), site.type.count
    if node.joining in (Joining.ArgMin, Joining.ArgMax) or node.order is ReduceOrder.Strict:
        return (_by_row(site, length),)
    when = ((length, TEAM_LONG, ALWAYS),) if team else ((length, LONG, ALWAYS), (rows, 0, FEW))
    grouped = Variant(_grouped(site, length), ((rows, 1),), when, "a workgroup a row")
    return (*((grouped,) if grouped.possible else ()), _by_row(site, length))


def _reduce(site: Site) -> Reduce:
    assert isinstance(site.node, Reduce)
    return site.node


class _Row:
    """The elements that are joined to one element of the result."""

    def __init__(self, site: Site, pull: Pull, place: Place) -> None:
        node = _reduce(site)
        self.pull = pull
        self.source = node.source
        self.of = site.of(node.source)
        self.axes = node.axes
        self.outer = pull.draft.coords(place)
        moves = node.joining in MOVES
        self.kind = self.of.element.loaded if moves else node.accumulator
        self.join = Join(node.joining, self.kind, self.of.element)

    def element(self, number: Expr) -> Expr:
        """Element `number` of the row, in the type of the accumulator."""
        inner = iter(self.pull.draft.parted(number, tuple(self.of.shape[axis] for axis in self.axes)))
        outer = iter(self.outer)
        coords = tuple(next(inner) if axis in self.axes else next(outer) for axis in range(self.of.rank))
        value = self.pull.value(self.source, Place(self.of.shape, coords))
        return widened(value, self.of.element.loaded, self.kind)


def _by_row(site: Site, length: Size) -> Variant:
    pull, node = site.pull(), _reduce(site)
    draft, rows = pull.draft, site.type.count
    index = draft.invocation(ROW_LANES, rows)
    with draft.where(index < draft.size(rows)):
        place = Place(site.type.shape, None, index)
        row = _Row(site, pull, place)
        if node.joining in (Joining.ArgMin, Joining.ArgMax):
            site.close(pull, place, _argument(draft, row, length), T.U32)
        else:
            tree = row.join.ordered and node.order is ReduceOrder.TreeBinary
            total = _tree(draft, row, length) if tree else _chain(draft, row, length)
            value, kind = rounded(total, row.kind, node.element, draft.let)
            site.close(pull, place, value, kind)
    return Variant(site.finished(pull, ROW_LANES), ((rows, ROW_LANES),), (), "an invocation a row")


def _chain(draft: Draft, row: _Row, length: Size) -> Expr:
    """All elements joined from the left."""
    total = draft.variable(row.join.empty(), "total")
    k = Var(draft.fresh("k"))
    with draft.block() as body:
        value = draft.let(row.element(k))
        draft.emit(If(k.eq(0), [Assign(total.name, value)], [Assign(total.name, row.join.of(total, value))]))
    draft.emit(Loop(k.name, LitU32(0), draft.size(length), body))
    return total


def _argument(draft: Draft, row: _Row, length: Size) -> Expr:
    """Where the chosen element stands; 0 where there is none."""
    best, found = draft.variable(row.join.empty(), "best"), draft.variable(LitU32(0), "found")
    k = Var(draft.fresh("k"))
    with draft.block() as body:
        value = draft.let(row.element(k))
        wins = draft.let(k.eq(0) | row.join.beats(value, best))
        draft.emit(If(wins, [Assign(best.name, value), Assign(found.name, k)]))
    draft.emit(Loop(k.name, LitU32(0), draft.size(length), body))
    return found


def _tree(draft: Draft, row: _Row, length: Size) -> Expr:
    static = length.static
    if static == 0:
        return row.join.empty()
    if static == 1:
        return draft.let(row.element(LitU32(0)))
    if static is not None and static <= TURN:
        return _perfect(draft, row.join, [draft.let(row.element(LitU32(k))) for k in range(static)])
    counter = Counter(draft, row.join, static)
    total = draft.variable(row.join.empty(), "total")
    size = draft.size(length)
    number = draft.let((size + LitU32(TURN - 1)) // LitU32(TURN), "turns")
    turn = Var(draft.fresh("t"))
    with draft.block() as joined:
        with draft.block() as body:
            counter.push(
                turn, _perfect(draft, row.join, _elements(draft, row, times(turn, LitU32(TURN)), size))
            )
        draft.emit(Loop(turn.name, LitU32(0), number, body))
        counter.total(total, number)
    if static is None:
        # One element alone is not joined with anything: a NaN keeps its bits.
        with draft.block() as single:
            draft.emit(Assign(total.name, row.element(LitU32(0))))
        draft.emit(If(size.eq(1), single, joined))
    else:
        draft.emit(*joined)
    return total


def _elements(draft: Draft, row: _Row, first: Expr, size: Expr) -> list[Expr]:
    """`TURN` neighbours, filled up behind the last element."""
    found: list[Expr] = []
    for k in range(TURN):
        at = draft.let(plus(first, LitU32(k)), "k")
        found.append(draft.let(Select(at < size, row.element(at), row.join.filling())))
    return found


def _perfect(draft: Draft, join: Join, values: list[Expr]) -> Expr:
    """The tree over a few values; a power of two of them, or the last ones without neighbours."""
    while len(values) > 1:
        pairs = [draft.let(join.of(a, b)) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[len(pairs) * 2 :]
    return values[0]


class Counter:
    """Subtrees of one invocation, the digits of a binary counter."""

    def __init__(self, draft: Draft, join: Join, most: int | None) -> None:
        self.draft, self.join = draft, join
        self.levels = LEVELS if most is None else max(1, most.bit_length())
        self.digits = draft.own(BufferDecl.private(draft.fresh("digits"), join.kind, self.levels))

    def push(self, number: Expr, value: Expr) -> None:
        """Adds subtree `number`, counted from 0."""
        draft = self.draft
        carried = draft.variable(value, "x")
        level, kept = Var(draft.fresh("level")), Var(draft.fresh("kept"))
        full = (number >> level) & LitU32(1)
        body: list[Node] = [
            If(full.eq(0), [Store(self.digits.name, level, carried), Break()]),
            Let(kept.name, self.digits[level]),
            Assign(carried.name, self.join.of(kept, carried)),
        ]
        draft.emit(Loop(level.name, LitU32(0), LitU32(self.levels), body))

    def total(self, into: Var, number: Expr) -> None:
        """Joins what is left of `number` subtrees into a variable, which stays as it is if there are none."""
        draft = self.draft
        level, kept, last = (Var(draft.fresh(hint)) for hint in ("level", "kept", "last"))
        body: list[Node] = [
            If(
                ((number >> level) & LitU32(1)).ne(0),
                [
                    Let(kept.name, self.digits[level]),
                    If(
                        last.eq(0),
                        [Assign(into.name, kept), Assign(last.name, LitU32(1))],
                        [Assign(into.name, self.join.of(kept, into))],
                    ),
                ],
            )
        ]
        draft.emit(Let(last.name, LitU32(0)), Loop(level.name, LitU32(0), LitU32(self.levels), body))


def _grouped(site: Site, length: Size) -> Drafted:
    """A workgroup a row: each invocation joins `TURN` neighbours at a time, then the workgroup its lanes."""
    pull, node = site.pull(), _reduce(site)
    draft = pull.draft
    group = draft.group()
    local = draft.let(LocalId(0), "lane")
    place = Place(site.type.shape, None, group)
    with draft.where(group < draft.size(site.type.count)):
        row = _Row(site, pull, place)
        parts = draft.own(BufferDecl.workgroup("parts", row.kind, GROUP_LANES))
        counter = Counter(draft, row.join, length.static)
        size, each = draft.size(length), GROUP_LANES * TURN
        number = draft.let((size + LitU32(each - 1)) // LitU32(each), "turns")
        turn = Var(draft.fresh("t"))
        with draft.block() as body:
            first = draft.let(plus(times(turn, LitU32(each)), times(local, LitU32(TURN))), "first")
            mine = _perfect(draft, row.join, _elements(draft, row, first, size))
            draft.emit(Store(parts.name, local, mine), Barrier(), *_halved(draft, row.join, parts, local))
            with draft.where(local.eq(0)):
                counter.push(turn, parts[LitU32(0)])
            draft.emit(Barrier())
        draft.emit(Loop(turn.name, LitU32(0), number, body))
        with draft.where(local.eq(0)):
            total = draft.variable(row.join.empty(), "total")
            counter.total(total, number)
            value, kind = rounded(total, row.kind, node.element, draft.let)
            site.close(pull, place, value, kind)
    return site.finished(pull, GROUP_LANES)


def _halved(draft: Draft, join: Join, parts: BufferDecl, local: Expr) -> list[Node]:
    """Joins neighbours until the first holds all."""
    level, reach, a, b = (Var(draft.fresh(hint)) for hint in ("level", "reach", "a", "b"))
    joined: list[Node] = [
        Let(a.name, parts[local]),
        Let(b.name, parts[local + reach]),
        Store(parts.name, local, join.of(a, b)),
    ]
    body: list[Node] = [
        Let(reach.name, LitU32(1) << level),
        If((local & (reach * LitU32(2) - LitU32(1))).eq(0), joined),
        Barrier(),
    ]
    return [Loop(level.name, LitU32(0), LitU32(GROUP_LANES.bit_length() - 1), body)]
