"""Rows that a workgroup holds: reduced as often as it takes, and what follows computed where they are.

An invocation has four neighbours of a row, and four more a whole workgroup further on, in variables from the
first reduction to the last store. The tree of decision 9 over the elements is taken as it stands: four
neighbours are a subtree, the results of four neighbouring invocations make the next one, and so on in the
workgroup's memory. What is left at the end is few, and every invocation joins it for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Reduce
from vyre.graph.sizes import product
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, Expr, Lane, LitU32, LocalId, MakeVec, Select
from vyre.ir.node import Barrier, Store
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.joins import MOVES, Join
from vyre.planning.kernels.site import Variant
from vyre.planning.layout import lies_in_fours
from vyre.planning.numbers import plus, reloaded, rounded, times, widened

if TYPE_CHECKING:
    from vyre.planning.draft import Draft
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull
    from vyre.planning.rows import RowChain

T = DataType
FOUR = 4
EACH = 16
"""Elements of an invocation, where a workgroup can be as large as that asks for."""
FEWEST, MOST = 32, 1024
WIDEST = 16
"""Results that an invocation joins at most on one level."""
LAST = 4
"""Results that every invocation joins for itself."""


def row_variant(site: Site, rows: RowChain) -> Variant:
    return _RowKernel(site, site.pull(), rows).variant()


class _RowKernel:
    """The statements of the kernel, in the order in which they are written."""

    def __init__(self, site: Site, pull: Pull, rows: RowChain) -> None:
        self.site, self.pull, self.rows = site, pull, rows
        self.draft: Draft = pull.draft
        length = rows.shape[-1].static
        assert length is not None
        self.length = length
        filled = 1 << (length - 1).bit_length()
        self.lanes = min(MOST, max(FEWEST, filled // EACH))
        self.fours = filled // (FOUR * self.lanes)
        self.levels = _levels(filled // FOUR, self.lanes)
        self.lane = self.draft.let(LocalId(0), "lane")
        self._parts: dict[DataType, BufferDecl] = {}

    def variant(self) -> Variant:
        draft, site = self.draft, self.site
        count = product(self.rows.shape[:-1])
        group = draft.group()
        output = self._output()
        with draft.where(group < draft.size(count)):
            self.row = draft.parted(group, self.rows.shape[:-1])
            self._places()
            for name in self.rows.reductions:
                self._reduce(name)
            self._leave(output)
        return Variant(
            site.finished(self.pull, self.lanes, output),
            ((count, 1),),
            (),
            "a workgroup a row, held in variables",
        )

    def _output(self) -> DataType | None:
        """What the output is seen as, where that is not the type of the root."""
        of = self.site.of(self.site.root)
        whole = self.site.core is None and self.length % FOUR == 0
        return T.Vec4U32 if whole and of.element is T.F32 else None

    def _places(self) -> None:
        """Where the elements of the invocation are, and the values of what the reductions read."""
        draft = self.draft
        self.columns: list[Expr] = []
        self.early = self._leaves(self.rows.reductions)
        self.late = [name for name in self._leaves((self.site.root,)) if name not in self.early]
        for number in range(self.fours):
            first = plus(times(self.lane, LitU32(FOUR)), LitU32(number * FOUR * self.lanes))
            first = draft.let(first, "k")
            places = [draft.let(plus(first, LitU32(k)), "k") for k in range(FOUR)]
            self.columns += places
            self._load(self.early, places)

    def _load(self, leaves: list[str], columns: list[Expr]) -> None:
        """Loads four neighbours of each value at once, and notes what each of them is."""
        draft = self.draft
        for leaf in leaves:
            four = self.pull.four(leaf, Place(self.rows.shape, (*self.row, columns[0])))
            for lane, column in enumerate(columns):
                value = draft.let(Cast(T.F32, Lane(four, lane)))
                draft.note((leaf, Place(self.rows.shape, (*self.row, column))), value)

    def _leaves(self, roots: tuple[str, ...]) -> list[str]:
        """Values of the shape of the rows that are read for others, from memory and four at a time."""
        graph, stored = self.site.graph, self.site.fusion.stored
        found: list[str] = []
        waiting, seen = list(roots), set[str]()
        while waiting:
            for name in graph.nodes[waiting.pop()].operands:
                of = graph.types[name]
                if name in seen:
                    continue
                seen.add(name)
                whole = of.shape == self.rows.shape and of.element is T.F32
                if whole and lies_in_fours(graph, name, stored, -1):
                    found.append(name)
                elif name not in stored:
                    waiting.append(name)
        return found

    def _element(self, name: str, column: Expr) -> Expr:
        return self.pull.value(name, Place(self.rows.shape, (*self.row, column)))

    def _reduce(self, name: str) -> None:
        """Joins the row, and notes the result as the value of the reduction."""
        draft, site = self.draft, self.site
        node = site.graph.nodes[name]
        assert isinstance(node, Reduce)
        of = site.of(node.source).element
        kind = of.loaded if node.joining in MOVES else node.accumulator
        join = Join(node.joining, kind, of)
        values: list[Expr] = []
        for number, column in enumerate(self.columns):
            value = widened(self._element(node.source, column), of.loaded, kind)
            if (number // FOUR + 1) * FOUR * self.lanes > self.length:
                value = Select(column < LitU32(self.length), value, join.filling())
            values.append(draft.let(value))
        joined = [_joined(draft, join, values[at : at + FOUR]) for at in range(0, len(values), FOUR)]
        total = self._shared(join, joined)
        value, made = rounded(total, kind, node.element, draft.let)
        value = draft.let(reloaded(node.element, draft.let(value), made))
        draft.note((name, Place(site.of(name).shape, self.row)), value)

    def _shared(self, join: Join, mine: list[Expr]) -> Expr:
        """The results of all invocations joined, level by level in parts of the workgroup's memory."""
        draft = self.draft
        parts = self._memory(join.kind)
        for number, value in enumerate(mine):
            draft.emit(Store(parts.name, plus(self.lane, LitU32(number * self.lanes)), value))
        draft.emit(Barrier())
        start, count = 0, self.levels[0]
        for fewer in self.levels[1:]:
            each = count // fewer
            with draft.where(self.lane < LitU32(fewer)):
                first = draft.let(plus(times(self.lane, LitU32(each)), LitU32(start)), "first")
                taken: list[Expr] = [draft.variable(parts[plus(first, LitU32(k))], "x") for k in range(each)]
                value = _joined(draft, join, taken)
                draft.emit(Store(parts.name, plus(self.lane, LitU32(start + count)), value))
            draft.emit(Barrier())
            start, count = start + count, fewer
        return _joined(draft, join, [draft.variable(parts[LitU32(start + k)], "x") for k in range(count)])

    def _memory(self, kind: DataType) -> BufferDecl:
        if kind not in self._parts:
            buffer = BufferDecl.workgroup(f"parts{len(self._parts)}", kind, sum(self.levels))
            self._parts[kind] = self.draft.own(buffer)
        return self._parts[kind]

    def _leave(self, output: DataType | None) -> None:
        draft, site = self.draft, self.site
        if site.core is not None:
            shape = site.type.shape
            value = draft.recall((site.core, Place(shape, self.row)))
            assert value is not None
            with draft.where(self.lane.eq(0)):
                site.close(self.pull, Place(shape, self.row), value, site.type.element.loaded)
            return
        for number in range(self.fours):
            columns = self.columns[FOUR * number : FOUR * (number + 1)]
            past = (number + 1) * FOUR * self.lanes > self.length
            self._load(self.late, columns)
            if output is not None:
                self._store_four(columns, past=past)
                continue
            for column in columns:
                if past:
                    with draft.where(column < LitU32(self.length)):
                        self._store(column)
                else:
                    self._store(column)

    def _store(self, column: Expr) -> None:
        place = Place(self.rows.shape, (*self.row, column))
        self.draft.store(self.draft.flat(place), self.pull.computed(self.site.root, place))

    def _store_four(self, columns: list[Expr], *, past: bool) -> None:
        draft, shape = self.draft, self.rows.shape
        with draft.block() as body:
            values = [
                Cast(T.U32, draft.let(self.pull.computed(self.site.root, Place(shape, (*self.row, column)))))
                for column in columns
            ]
            at = draft.flat(Place(shape, (*self.row, columns[0]))) >> LitU32(2)
            draft.store(at, MakeVec(T.Vec4U32, tuple(values)))
        if past:
            with draft.where(columns[0] < LitU32(self.length)):
                draft.emit(*body)
        else:
            draft.emit(*body)


def _levels(count: int, lanes: int) -> tuple[int, ...]:
    """How many results there are on each level, the first one included, until they are few.

    From the second on an invocation makes one of them at most. There are two levels at least: what one
    reduction left on the last is still read when the next one writes to the first.
    """
    found = [count]
    while found[-1] > LAST or len(found) == 1:
        each = FOUR if found[-1] > WIDEST * WIDEST else min(WIDEST, max(2, found[-1] // LAST))
        each = max(each, found[-1] // lanes)
        found.append(found[-1] // each)
    return tuple(found)


def _joined(draft: Draft, join: Join, values: list[Expr]) -> Expr:
    """The tree over a power of two of values."""
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=True)
        values = [draft.let(join.of(a, b)) for a, b in pairs]
    return values[0]
