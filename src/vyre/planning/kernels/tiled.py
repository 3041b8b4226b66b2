"""Products of matrices by tiles: a workgroup reads a tile of each side, an invocation sums 4 x 4 elements.

Every element of the result has one invocation, which adds its products with k ascending. So tiles never show
in the bits: rows and columns past the end are computed from zeros and not stored, and no k past the end is
ever taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.sizes import product
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, LitU32, LocalId, Select, Var
from vyre.ir.node import Assign, Barrier, If, Loop, Store
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.kernels.products import KINDS, factor, product_node, result, step_of
from vyre.planning.kernels.site import ALWAYS, Variant, WrittenLater
from vyre.planning.numbers import literal, plus, times

if TYPE_CHECKING:
    from vyre.planning.draft import Draft, Drafted
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
LANES = 256
SIDE = 64
"""Rows and columns of a tile of the result."""
DEEP = 16
"""How far a tile reaches along k."""
EACH = 4
ACROSS = SIDE // EACH
LEAST = 12
"""Rows and columns from which on a tile is worth its barriers."""


def tiled_variant(site: Site) -> Variant:
    return Variant(
        WrittenLater(lambda: _Tile(site, site.pull()).drafted()),
        ((product(site.type.shape[:-2]), 1), (site.type.shape[-2], SIDE), (site.type.shape[-1], SIDE)),
        ((site.type.shape[-2], LEAST, ALWAYS), (site.type.shape[-1], LEAST, ALWAYS)),
        f"tiles of {SIDE} x {SIDE}",
    )


class _Tile:
    """The statements of the kernel, in the order in which they are written."""

    def __init__(self, site: Site, pull: Pull) -> None:
        self.site, self.pull = site, pull
        self.draft: Draft = pull.draft
        self.node = product_node(site)
        self.kind = KINDS[self.node.accumulator]
        draft = self.draft
        self.local = draft.let(LocalId(0), "lane")
        self.rows, self.columns = (draft.size(size) for size in site.type.shape[-2:])
        self.depth = draft.size(site.of(self.node.left).shape[-1])
        self.left = draft.own(BufferDecl.workgroup("left", self.kind, SIDE * DEEP))
        self.right = draft.own(BufferDecl.workgroup("right", self.kind, SIDE * DEEP))
        self.mask = draft.own(BufferDecl.workgroup("mask", T.U32, SIDE * DEEP)) if self.node.mask else None

    def drafted(self) -> Drafted:
        draft = self.draft
        group = draft.group()
        wide = draft.let((self.columns + LitU32(SIDE - 1)) // LitU32(SIDE), "wide")
        high = draft.let((self.rows + LitU32(SIDE - 1)) // LitU32(SIDE), "high")
        rest = draft.let(group // wide, "q")
        self.first_column = draft.let(times(group % wide, LitU32(SIDE)), "column")
        self.first_row = draft.let(times(rest % high, LitU32(SIDE)), "row")
        number = draft.let(rest // high, "batch")
        count = product(self.site.type.shape[:-2])
        with draft.where(number < draft.size(count)):
            self.batch = draft.parted(number, self.site.type.shape[:-2])
            self._body()
        return self.site.finished(self.pull, LANES)

    def _body(self) -> None:
        draft = self.draft
        down, across = (
            draft.let(self.local // LitU32(ACROSS), "y"),
            draft.let(self.local % LitU32(ACROSS), "x"),
        )
        totals = [[draft.variable(literal(self.kind, 0), "total") for _ in range(EACH)] for _ in range(EACH)]
        turns = draft.let((self.depth + LitU32(DEEP - 1)) // LitU32(DEEP), "turns")
        turn = Var(draft.fresh("t"))
        with draft.block() as body:
            start = draft.let(times(turn, LitU32(DEEP)), "start")
            self._fill(start)
            draft.emit(Barrier())
            reach = draft.let(self.depth - start, "reach")
            stop = draft.let(Select(reach < LitU32(DEEP), reach, LitU32(DEEP)), "stop")
            k = Var(draft.fresh("k"))
            with draft.block() as inner:
                self._step(k, down, across, totals)
            draft.emit(Loop(k.name, LitU32(0), stop, inner), Barrier())
        draft.emit(Loop(turn.name, LitU32(0), turns, body))
        # What follows is written once: a loop over the sums, which have to lie in memory for that.
        sums = draft.own(BufferDecl.private("sums", self.kind, EACH * EACH))
        for number, total in enumerate(total for row in totals for total in row):
            draft.emit(Store(sums.name, LitU32(number), total))
        number = Var(draft.fresh("e"))
        with draft.block() as last:
            row = plus(times(down, LitU32(EACH)), number // LitU32(EACH))
            column = plus(across, times(number % LitU32(EACH), LitU32(ACROSS)))
            self._leave(row, column, sums[number])
        draft.emit(Loop(number.name, LitU32(0), LitU32(EACH * EACH), last))

    def _row(self, down: Expr, i: int) -> Expr:
        return plus(times(down, LitU32(EACH)), LitU32(i))

    def _column(self, across: Expr, j: int) -> Expr:
        return plus(across, LitU32(j * ACROSS))

    def _fill(self, start: Expr) -> None:
        """Reads a tile of each side, zeros past the end."""
        draft, node = self.draft, self.node
        zero = literal(self.kind, 0)
        for number in range(SIDE * DEEP // LANES):
            at = draft.let(plus(self.local, LitU32(number * LANES)), "e")
            row = draft.let(plus(self.first_row, at // LitU32(DEEP)), "r")
            k = draft.let(plus(start, at % LitU32(DEEP)), "k")
            inside = draft.let((row < self.rows) & (k < self.depth), "in")
            value = factor(self.site, self.pull, node.left, (*self.batch, row, k))
            draft.emit(Store(self.left.name, at, Select(inside, value, zero)))
            if self.mask is not None and node.mask is not None:
                taken = self.pull.at(node.mask, *self.batch, row, k).cast(T.U32)
                draft.emit(Store(self.mask.name, at, Select(inside, taken, LitU32(0))))
            k = draft.let(plus(start, at // LitU32(SIDE)), "k")
            column = draft.let(plus(self.first_column, at % LitU32(SIDE)), "c")
            inside = draft.let((column < self.columns) & (k < self.depth), "in")
            value = factor(self.site, self.pull, node.right, (*self.batch, k, column))
            draft.emit(Store(self.right.name, at, Select(inside, value, zero)))

    def _step(self, k: Expr, down: Expr, across: Expr, totals: list[list[Var]]) -> None:
        draft = self.draft
        columns = [
            draft.variable(self.right[plus(times(k, LitU32(SIDE)), self._column(across, j))], "b")
            for j in range(EACH)
        ]
        for i, row in enumerate(totals):
            at = draft.let(plus(times(self._row(down, i), LitU32(DEEP)), k), "e")
            value = draft.variable(self.left[at], "a")
            added = [
                Assign(total.name, step_of(self.node, value, column, total))
                for total, column in zip(row, columns, strict=True)
            ]
            draft.emit(*added if self.mask is None else (If(self.mask[at].ne(0), added),))

    def _leave(self, row: Expr, column: Expr, total: Expr) -> None:
        draft = self.draft
        total = draft.variable(total, "total")
        row = draft.let(plus(self.first_row, row), "r")
        column = draft.let(plus(self.first_column, column), "c")
        with draft.where((row < self.rows) & (column < self.columns)):
            place = Place(self.site.type.shape, (*self.batch, row, column))
            self.site.close(self.pull, place, *result(self.site, self.pull, place, total))
