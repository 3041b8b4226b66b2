"""Scans and recurrences: an invocation goes along a row, or a block of it, and leaves what it has so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Recurrence, Scan
from vyre.graph.sizes import Size, product
from vyre.ir.expr import Expr, FMulAdd, Literal, LitU32, Select, Var
from vyre.ir.node import Assign, If, Loop, Store
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.joins import MOVES, Join
from vyre.planning.kernels.reduced import Counter
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import rounded, widened
from vyre.planning.prefixes import BlockScan, levels_of

if TYPE_CHECKING:
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
LANES = 64


def scan_variants(site: Site) -> tuple[Variant, ...]:
    node = site.node
    assert isinstance(node, Scan)
    pull, of = site.pull(), site.of(node.source)
    rows, row = rows_of(site, node.axis)
    draft, length = pull.draft, of.shape[node.axis]
    kind = of.element.loaded if node.joining in MOVES else node.accumulator
    join = Join(node.joining, kind, of.element)
    blocks = node if isinstance(node, BlockScan) else None
    number = 1 if blocks is None else 1 + levels_of(length.static or 0, blocks.block)[0]
    index = draft.invocation(LANES, rows * number)
    with draft.where(index < draft.size(rows * number)):
        which = LitU32(0) if blocks is None else draft.let(index % LitU32(number), "block")
        others = draft.parted(index if blocks is None else draft.let(index // LitU32(number), "q"), row)
        total = draft.variable(join.empty(), "total")
        counter = Counter(draft, join, length.static) if join.ordered else None
        first, stop = LitU32(0), draft.size(length)
        if blocks is not None:
            first = draft.let(which * LitU32(blocks.block), "first")
            last = draft.let(first + LitU32(blocks.block), "last")
            stop = draft.let(Select(last < stop, last, stop), "stop")
            _continue(pull, blocks, of.shape, others, which, counter, total, join)
        k = Var(draft.fresh("k"))
        with draft.block() as body:
            place = at_place(of.shape, node.axis, others, k)

            def take() -> None:
                value = draft.let(widened(pull.value(node.source, place), of.element.loaded, kind))
                if counter is None:
                    begin, later = Assign(total.name, value), Assign(total.name, join.of(total, value))
                    draft.emit(If(k.eq(0), [begin], [later]))
                else:
                    counter.push(k, value)
                    counter.total(total, k + LitU32(1))

            def leave() -> None:
                value, _ = rounded(total, kind, node.element, lambda e: draft.variable(e, "v"))
                draft.store(draft.flat(place), value)

            for step in (leave, take) if node.exclusive else (take, leave):
                step()
        draft.emit(Loop(k.name, first, stop, body))
    label = "" if blocks is None else f"an invocation for {blocks.block} elements"
    return (Variant(site.finished(pull, LANES), ((rows * number, LANES),), (), label),)


def _continue(
    pull: Pull,
    node: BlockScan,
    shape: tuple[Size, ...],
    others: tuple[Expr, ...],
    which: Expr,
    counter: Counter | None,
    total: Var,
    join: Join,
) -> None:
    """What is known before a block: the subtree of every digit of its number, from the highest."""
    draft = pull.draft
    counts = levels_of(shape[node.axis].static or 0, node.block)
    trees = along(shape, node.axis, Size(sum(counts)))
    for level in reversed(range(len(counts))):
        digits = draft.let(which >> LitU32(level), "digits")
        with draft.where((digits & LitU32(1)).ne(0)):
            at = draft.let(digits + LitU32(sum(counts[:level])) - LitU32(1), "k")
            value = draft.let(pull.value(node.trees, at_place(trees, node.axis, others, at)))
            if counter is None:
                only = (which >> LitU32(level + 1)).eq(0)
                joined = Assign(total.name, join.of(total, value))
                draft.emit(If(only, [Assign(total.name, value)], [joined]))
            else:
                size = node.block.bit_length() - 1
                draft.emit(Store(counter.digits.name, LitU32(level + size), value))
    if counter is not None:
        counter.total(total, which * LitU32(node.block))


def along(shape: tuple[Size, ...], axis: int, size: Size) -> tuple[Size, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def recurrence_variants(site: Site) -> tuple[Variant, ...]:
    node = site.node
    assert isinstance(node, Recurrence)
    pull, of = site.pull(), site.type
    rows, row = rows_of(site, node.axis)
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
            place = at_place(of.shape, node.axis, others, k)
            factor, term = (_single(site, pull, name, place) for name in (node.factor, node.term))
            draft.emit(Assign(state.name, FMulAdd(factor, state, term)))
            draft.store(draft.flat(place), rounded(state, T.F32, node.element, draft.let)[0])
        draft.emit(Loop(k.name, LitU32(0), draft.size(of.shape[node.axis]), body))
    return (Variant(site.finished(pull, LANES), ((rows, LANES),)),)


def _single(site: Site, pull: Pull, name: str, place: Place) -> Expr:
    """An element in F32."""
    return pull.draft.let(widened(pull.value(name, place), site.of(name).element, T.F32))


def rows_of(site: Site, axis: int) -> tuple[Size, tuple[Size, ...]]:
    """How many rows there are, and the shape of their number."""
    shape = site.type.shape
    rest = (*shape[:axis], *shape[axis + 1 :])
    return product(rest), rest


def at_place(shape: tuple[Size, ...], axis: int, others: tuple[Expr, ...], along: Expr) -> Place:
    return Place(shape, (*others[:axis], along, *others[axis:]))
