"""Scans and recurrences: one invocation goes along a row and leaves what it has so far at every element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Recurrence, Scan
from vyre.graph.sizes import product
from vyre.ir.expr import Expr, FMulAdd, Literal, LitU32, Var
from vyre.ir.node import Assign, If, Loop
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.joins import MOVES, Join
from vyre.planning.kernels.reduced import Counter
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import rounded, widened

if TYPE_CHECKING:
    from vyre.graph.sizes import Size
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
LANES = 64


def scan_variants(site: Site) -> tuple[Variant, ...]:
    node = site.node
    assert isinstance(node, Scan)
    pull, of = site.pull(), site.of(node.source)
    rows, row = _rows(site, node.axis)
    draft, length = pull.draft, of.shape[node.axis]
    kind = of.element.loaded if node.joining in MOVES else node.accumulator
    join = Join(node.joining, kind, of.element)
    index = draft.invocation(LANES, rows)
    with draft.where(index < draft.size(rows)):
        others = draft.parted(index, row)
        total = draft.variable(join.empty(), "total")
        counter = Counter(draft, join, length.static) if join.ordered else None
        k = Var(draft.fresh("k"))
        with draft.block() as body:
            place = _at(of.shape, node.axis, others, k)

            def take() -> None:
                value = draft.let(widened(pull.value(node.source, place), of.element.loaded, kind))
                if counter is None:
                    first, later = Assign(total.name, value), Assign(total.name, join.of(total, value))
                    draft.emit(If(k.eq(0), [first], [later]))
                else:
                    counter.push(k, value)
                    counter.total(total, k + LitU32(1))

            def leave() -> None:
                value, _ = rounded(total, kind, node.element, lambda e: draft.variable(e, "v"))
                draft.store(draft.flat(place), value)

            for step in (leave, take) if node.exclusive else (take, leave):
                step()
        draft.emit(Loop(k.name, LitU32(0), draft.size(length), body))
    return (Variant(site.finished(pull, LANES), ((rows, LANES),)),)


def recurrence_variants(site: Site) -> tuple[Variant, ...]:
    node = site.node
    assert isinstance(node, Recurrence)
    pull, of = site.pull(), site.type
    rows, row = _rows(site, node.axis)
    draft = pull.draft
    index = draft.invocation(LANES, rows)
    with draft.where(index < draft.size(rows)):
        others = draft.parted(index, row)
        start: Expr = Literal(T.F32, 0)
        if node.initial is not None:
            start = _single(site, pull, node.initial, Place(row, others))
        state = draft.variable(start, "h")
        k = Var(draft.fresh("k"))
        with draft.block() as body:
            place = _at(of.shape, node.axis, others, k)
            factor, term = (_single(site, pull, name, place) for name in (node.factor, node.term))
            draft.emit(Assign(state.name, FMulAdd(factor, state, term)))
            draft.store(draft.flat(place), rounded(state, T.F32, node.element, draft.let)[0])
        draft.emit(Loop(k.name, LitU32(0), draft.size(of.shape[node.axis]), body))
    return (Variant(site.finished(pull, LANES), ((rows, LANES),)),)


def _single(site: Site, pull: Pull, name: str, place: Place) -> Expr:
    """An element in F32."""
    return pull.draft.let(widened(pull.value(name, place), site.of(name).element, T.F32))


def _rows(site: Site, axis: int) -> tuple[Size, tuple[Size, ...]]:
    """How many rows there are, and the shape of their number."""
    shape = site.type.shape
    rest = (*shape[:axis], *shape[axis + 1 :])
    return product(rest), rest


def _at(shape: tuple[Size, ...], axis: int, others: tuple[Expr, ...], along: Expr) -> Place:
    return Place(shape, (*others[:axis], along, *others[axis:]))
