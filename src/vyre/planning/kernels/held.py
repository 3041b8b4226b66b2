"""Rows that a core holds: reduced as often as it takes, and what follows computed where they are.

A workgroup is one invocation, which takes one row, or some rows one after the other. What is read more than
once is kept in its memory, which is near; every step is a loop over neighbours, which becomes vectors. The
tree of decision 9 is taken level by level: each level joins neighbours of the one before, and who has none
goes up as it is. Where the order of joining does not show in the bits, whole parts of a row are joined with
each other instead, which takes no neighbours apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Broadcast, ElementWise, Reduce
from vyre.graph.sizes import Size, product
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Expr, LitU32, UnOp
from vyre.ir.node import Assign, Block, Store
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.planning.draft import Place
from vyre.planning.joins import MOVES, Join
from vyre.planning.kernels.site import Variant
from vyre.planning.layout import strides_of
from vyre.planning.numbers import literal, plus, reloaded, rounded, times, widened

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.expr import Var
    from vyre.ir.types import DataType
    from vyre.planning.draft import Draft
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull
    from vyre.planning.rows import RowChain

PARTS = 8
"""Of a row that are joined with each other at once, where the order does not matter; a power of two."""
FEW = 16
"""Values that are joined one by one, outside of memory."""
EACH, MANY = 8, 64
"""Rows of a workgroup, where there are so many workgroups: its memory is cleared once for all of them."""


def held_variant(site: Site, chain: RowChain) -> Variant:
    return _HeldRow(site, site.pull(), chain).variant()


class _HeldRow:
    """The statements of the kernel, in the order in which they are written."""

    def __init__(self, site: Site, pull: Pull, chain: RowChain) -> None:
        self.site, self.pull, self.chain = site, pull, chain
        self.draft: Draft = pull.draft
        length = chain.shape[-1].static
        assert length is not None
        self.length = length
        self._held: dict[str, BufferDecl] = {}
        self._levels: dict[tuple[DataType, int], BufferDecl] = {}

    def variant(self) -> Variant:
        draft, site = self.draft, self.site
        count = product(self.chain.shape[:-1])
        each = EACH if count.static is not None and count.static >= EACH * MANY else 1
        group = draft.group()
        with draft.loop("r", LitU32(each)) as r:
            row = draft.let(plus(times(group, LitU32(each)), r), "row")
            with draft.where(row < draft.size(count)):
                self._row(row)
        label = "a workgroup a row" if each == 1 else f"a workgroup {each} rows"
        return Variant(site.finished(self.pull, 1), ((count, each),), (), f"{label}, held in memory")

    def _row(self, row: Expr) -> None:
        self.number, self.row = row, self.draft.parted(row, self.chain.shape[:-1])
        for name in self.chain.steps:
            if name in self.chain.reductions:
                self._reduce(name)
            else:
                self._hold(name)
        self._leave()

    def _place(self, column: Expr) -> Place:
        """Its number in row-major order is known without its coordinates: it grows with the row."""
        flat = self.draft.let(plus(times(self.number, LitU32(self.length)), column), "i")
        return Place(self.chain.shape, (*self.row, column), flat)

    def _element(self, name: str, column: Expr) -> Expr:
        self._recall_held(column)
        return self.pull.value(name, self._place(column))

    def _recall_held(self, column: Expr) -> None:
        """Says of what is held that it is read from there."""
        for name, buffer in self._held.items():
            self.draft.note((name, self._place(column)), self.draft.let(buffer[column]))

    def _hold(self, name: str) -> None:
        """Computes a value for the whole row."""
        draft, of = self.draft, self.site.of(name).element.loaded
        buffer = draft.own(BufferDecl.workgroup(f"held{len(self._held)}", of, self.length))
        with draft.loop("k", LitU32(self.length)) as k:
            draft.emit(Store(buffer.name, k, self._element(name, k)))
        self._held[name] = buffer

    def _reduce(self, name: str) -> None:
        """Joins the row, and notes the result as the value of the reduction."""
        draft, site = self.draft, self.site
        node = site.graph.nodes[name]
        assert isinstance(node, Reduce)
        of = site.of(node.source).element
        kind = of.loaded if node.joining in MOVES else node.accumulator
        join = Join(node.joining, kind, of)

        def given(column: Expr) -> Expr:
            return draft.let(widened(self._element(node.source, column), of.loaded, kind))

        if not join.ordered and self.length >= PARTS * PARTS:
            total = self._folded(join, given)
        else:
            total = self._tree(join, given, near=self._is_near(node.source))
        value, made = rounded(total, kind, node.element, draft.let)
        value = draft.let(reloaded(node.element, draft.let(value), made))
        draft.note((name, Place(site.of(name).shape, self.row)), value)

    def _folded(self, join: Join, given: Callable[[Expr], Expr]) -> Var:
        """All of a row joined part by part. Of zeros and of NaNs the first one stays, which such a fold may
        miss: a row in which it could have is joined again, from the left."""
        draft = self.draft
        level, count = self._level(join.kind, self.length // PARTS, -1), self.length
        self._fold(join, given, count, level)
        while (count := count // PARTS) >= PARTS * PARTS:
            below, level = level, self._level(join.kind, count // PARTS, -count)
            self._fold(join, lambda at, below=below: draft.let(below[at]), count, level)
        values: list[Expr] = [draft.variable(level[LitU32(k)], "x") for k in range(count)]
        total = draft.variable(_joined(draft, join, values), "total")
        if join.kind.is_float and join.joining in MOVES:
            zero = BinOp(BinaryOp.FEq, total, literal(join.kind, 0))
            with draft.where((zero | UnOp(UnaryOp.FIsNaN, total)).ne(0)):
                draft.emit(Assign(total.name, given(LitU32(0))))
                with draft.loop("k", LitU32(self.length)) as k:
                    draft.emit(Assign(total.name, join.of(total, given(k))))
        return total

    def _fold(self, join: Join, take: Callable[[Expr], Expr], count: int, above: BufferDecl) -> None:
        """The level above `count` values, as many as a part has of which there are `PARTS`; what is left over
        is joined with the first ones."""
        draft = self.draft
        each, rest = divmod(count, PARTS)
        with draft.loop("k", LitU32(each)) as k:
            values = [take(draft.let(plus(k, LitU32(each * part)), "k")) for part in range(PARTS)]
            draft.emit(Store(above.name, k, _joined(draft, join, values)))
        for left in range(rest):
            with draft.block() as last:
                kept = draft.let(above[LitU32(left)])
                draft.emit(Store(above.name, LitU32(left), join.of(kept, take(LitU32(each * PARTS + left)))))
            draft.emit(Block(last))

    def _is_near(self, name: str) -> bool:
        """Whether neighbours in the row are computed from what is held, from neighbours in memory and from
        what the whole row shares: then vectors of every other one are made of whole vectors."""
        graph, stored = self.site.graph, self.site.fusion.stored
        waiting = [name]
        while waiting:
            value = waiting.pop()
            node = graph.nodes[value]
            if value in self._held or value in self.chain.reductions:
                continue
            strides = strides_of(graph, value, stored)
            if strides is not None:
                if strides and strides[-1] not in (Size(0), Size(1)):
                    return False
            elif isinstance(node, ElementWise | Broadcast):
                waiting += node.operands
            else:
                return False
        return True

    def _tree(self, join: Join, given: Callable[[Expr], Expr], *, near: bool) -> Var:
        """The row joined in the order of the tree."""
        draft, kind = self.draft, join.kind
        level, count, number = self._level(kind, -(-self.length // 2), 1), -(-self.length // 2), 2
        if near:
            self._join(join, given, self.length, level)
        else:
            # Every other element would be fetched one by one.
            first = self._level(kind, self.length, 0)
            with draft.loop("k", LitU32(self.length)) as k:
                draft.emit(Store(first.name, k, given(k)))
            self._join(join, lambda at: draft.let(first[at]), self.length, level)
        while count > FEW:
            below, level = level, self._level(kind, -(-count // 2), number)
            self._join(join, lambda at, below=below: draft.let(below[at]), count, level)
            count, number = -(-count // 2), number + 1
        values: list[Expr] = [draft.variable(level[LitU32(k)], "x") for k in range(count)]
        return draft.variable(_joined(draft, join, values), "total")

    def _join(self, join: Join, given: Callable[[Expr], Expr], count: int, above: BufferDecl) -> None:
        """The level above `count` values."""
        draft = self.draft
        with draft.loop("k", LitU32(count // 2)) as k:
            first = draft.let(times(k, LitU32(2)), "k")
            value = join.of(given(first), given(draft.let(plus(first, LitU32(1)), "k")))
            draft.emit(Store(above.name, k, value))
        if count % 2:
            with draft.block() as last:
                draft.emit(Store(above.name, LitU32(count // 2), given(LitU32(count - 1))))
            draft.emit(Block(last))

    def _level(self, kind: DataType, count: int, number: int) -> BufferDecl:
        key = kind, number
        if key not in self._levels:
            buffer = BufferDecl.workgroup(f"level{len(self._levels)}", kind, count)
            self._levels[key] = self.draft.own(buffer)
        return self._levels[key]

    def _leave(self) -> None:
        draft, site = self.draft, self.site
        if site.core is not None:
            place = Place(site.type.shape, self.row)
            value = draft.recall((site.core, place))
            assert value is not None
            site.close(self.pull, place, value, site.type.element.loaded)
            return
        with draft.loop("k", LitU32(self.length)) as k:
            self._recall_held(k)
            place = self._place(k)
            draft.store(draft.flat(place), self.pull.computed(site.root, place))


def _joined(draft: Draft, join: Join, values: list[Expr]) -> Expr:
    """All of a few values, neighbours first; the last one waits where it has none."""
    while len(values) > 1:
        pairs = [draft.let(join.of(a, b)) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return values[0]
