"""The elements of an exact product that a sum of doubles left open, by teams of processors.

A workgroup has a tile of the result. Where few of its elements are open, all invocations sum one of them
after the other together, each some of the k. Where many are, each invocation sums its own few at once, so
that what is loaded and widened serves several sums. Both keep levels of doubles (`levels`). Where even those
cannot tell, every bit is kept (`exact`), an invocation an element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.sizes import product
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, Expr, LitU32, LocalId, Select, UnOp, Var, f64, fadd
from vyre.ir.node import Assign, Barrier, If, Store
from vyre.ir.operators import UnaryOp
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.kernels.certain import OPEN
from vyre.planning.kernels.exact import exact_bits
from vyre.planning.kernels.levels import LevelSum, parts_of, settled
from vyre.planning.kernels.open import double, open_node, open_tops
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import plus, times

if TYPE_CHECKING:
    from vyre.planning.draft import Draft
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
LEVELS = 5
PARTS = LEVELS + 1
"""What a sum is: a part for each level, and the size of what they left."""
LANES = 64
ACROSS = 32
"""Invocations along a row of the tile; the others lie below them."""
HIGH, WIDE = 4, 2
"""Rows and columns of an invocation: rows side by side, columns `ACROSS` apart."""
EACH = HIGH * WIDE
ROWS, COLUMNS = LANES // ACROSS * HIGH, ACROSS * WIDE
FEW = 16
"""Open elements of a tile up to which they are summed one after the other."""


def open_tile_variants(site: Site) -> tuple[Variant, ...]:
    *batch, rows, columns = site.type.shape
    kernel = _OpenTile(site, site.pull())
    kernel.write()
    drafted = site.finished(kernel.pull, LANES)
    cover = (product(batch), 1), (rows, ROWS), (columns, COLUMNS)
    return (Variant(drafted, cover, (), f"what is open, tiles of {ROWS} x {COLUMNS}, levels of doubles"),)


class _OpenTile:
    """The statements of the kernel, in the order in which they are written."""

    def __init__(self, site: Site, pull: Pull) -> None:
        self.site, self.pull, self.node = site, pull, open_node(site)
        self.draft: Draft = pull.draft
        own = self.draft.own
        self.state = own(BufferDecl.workgroup("state", T.U32, EACH * LANES))
        """The bits of every element of the tile, `OPEN` where they are not known yet."""
        self.masks = own(BufferDecl.workgroup("masks", T.U32, LANES))
        self.listed = own(BufferDecl.workgroup("listed", T.U32, FEW))
        self.parts = own(BufferDecl.workgroup("parts", T.F64, PARTS * LANES))
        self.sums = own(BufferDecl.workgroup("sums", T.F64, PARTS))
        self.own = own(BufferDecl.private("own", T.F64, PARTS * EACH))
        self.deep = site.of(self.node.left).shape[-1]

    def write(self) -> None:
        draft, shape = self.draft, self.site.type.shape
        self.lane = draft.let(LocalId(0), "lane")
        self.rows, self.columns, self.depth = (draft.size(size) for size in (*shape[-2:], self.deep))
        group = draft.group()
        wide = draft.let((self.columns + LitU32(COLUMNS - 1)) // LitU32(COLUMNS), "wide")
        high = draft.let((self.rows + LitU32(ROWS - 1)) // LitU32(ROWS), "high")
        rest = draft.let(group // wide, "q")
        self.first_column = draft.let(times(group % wide, LitU32(COLUMNS)), "column")
        self.first_row = draft.let(times(rest % high, LitU32(ROWS)), "row")
        number = draft.let(rest // high, "batch")
        with draft.where(number < draft.size(product(shape[:-2]))):
            self.batch = draft.parted(number, shape[:-2])
            self._look()
            self._list()
            self._few()
            self._many()
            self._leave()

    def _place(self, lane: Expr, number: Expr) -> tuple[Expr, Expr]:
        """The row and the column of an element of an invocation."""
        down, across = lane // LitU32(ACROSS), lane % LitU32(ACROSS)
        row = plus(times(down, LitU32(HIGH)), number // LitU32(WIDE))
        column = plus(across, times(number % LitU32(WIDE), LitU32(ACROSS)))
        let = self.draft.let
        return let(plus(self.first_row, row), "r"), let(plus(self.first_column, column), "c")

    def _is_inside(self, row: Expr, column: Expr) -> Expr:
        return (row < self.rows) & (column < self.columns)

    def _at(self, number: Expr) -> Expr:
        return plus(times(number, LitU32(LANES)), self.lane)

    def _look(self) -> None:
        """Reads what was found, and notes what is open."""
        draft = self.draft
        self.mask = draft.variable(LitU32(0), "mask")
        with draft.loop("e", LitU32(EACH)) as number:
            row, column = self._place(self.lane, number)
            bits = draft.variable(LitU32(0), "bits")
            with draft.where(self._is_inside(row, column)):
                found = self.pull.at(self.node.found, *self.batch, row, column)
                draft.emit(Assign(bits.name, Cast(T.U32, found)))
            draft.emit(
                Store(self.state.name, self._at(number), bits),
                Assign(self.mask.name, self.mask | (bits.eq(OPEN) << number)),
            )
        draft.emit(Store(self.masks.name, self.lane, self.mask), Barrier())

    def _list(self) -> None:
        """Counts what is open in the tile, and lists the first of it."""
        draft = self.draft
        self.open = draft.variable(LitU32(0), "open")
        before = draft.variable(LitU32(0), "before")
        with draft.loop("i", LitU32(LANES)) as lane:
            count = draft.variable(UnOp(UnaryOp.Popcount, self.masks[lane]), "count")
            draft.emit(
                Assign(self.open.name, self.open + count),
                Assign(before.name, before + Select(lane < self.lane, count, LitU32(0))),
            )
        with draft.loop("e", LitU32(EACH)) as number:
            is_open = ((self.mask >> number) & LitU32(1)).ne(0) & (before < LitU32(FEW))
            listed = Store(self.listed.name, before, self._at(number))
            draft.emit(If(is_open, [listed, Assign(before.name, before + LitU32(1))]))
        draft.emit(Barrier())

    def _few(self) -> None:
        """All invocations sum an open element; every one takes part in every turn, whatever is left to do."""
        draft, lane = self.draft, self.lane
        with draft.loop("t", LitU32(FEW)) as turn:
            wanted = draft.variable((self.open <= LitU32(FEW)) & (turn < self.open), "wanted")
            at = draft.variable(self.listed[turn], "at")
            with draft.where(wanted):
                self._share(at)
            draft.emit(Barrier())
            with draft.where(wanted & (lane < LitU32(PARTS))):
                total = draft.variable(f64(0.0), "total")
                first = draft.let(times(lane, LitU32(LANES)), "first")
                with draft.loop("i", LitU32(LANES)) as other:
                    draft.emit(Assign(total.name, fadd(total, self.parts[plus(first, other)])))
                draft.emit(Store(self.sums.name, lane, total))
            draft.emit(Barrier())
            with draft.where(wanted & lane.eq(0)):
                tops = self._tops(*self._place(at % LitU32(LANES), at // LitU32(LANES)))
                parts = [draft.variable(self.sums[LitU32(k)], "part") for k in range(PARTS)]
                bits = settled(draft, tops, parts, self.node.element)
                draft.emit(Store(self.state.name, at, bits))
        draft.emit(Barrier())

    def _share(self, at: Expr) -> None:
        """The parts of an invocation's share of one sum: every so many of the k."""
        draft = self.draft
        row, column = self._place(at % LitU32(LANES), at // LitU32(LANES))
        tops = self._tops(row, column)
        total = LevelSum(draft, tops)
        turns = draft.let((self.depth + LitU32(LANES - 1)) // LitU32(LANES), "turns")
        with draft.loop("k", turns) as turn:
            k = draft.let(plus(times(turn, LitU32(LANES)), self.lane), "k")
            with draft.where(k < self.depth):
                total.add(self._left(row, k), self._right(k, column))
        for number, part in enumerate(parts_of(total.held, tops)):
            draft.emit(Store(self.parts.name, plus(LitU32(number * LANES), self.lane), part))

    def _many(self) -> None:
        """Each invocation sums all of its elements, if one of them is open."""
        draft, node = self.draft, self.node
        with draft.where((self.open > LitU32(FEW)) & self.mask.ne(0)):
            places = [self._place(self.lane, LitU32(number)) for number in range(EACH)]
            rows, columns = [row for row, _ in places[::WIDE]], [column for _, column in places[:WIDE]]
            totals = [LevelSum(draft, self._tops(*place)) for place in places]
            with draft.loop("k", self.depth) as k:
                lefts = [self._left(row, k) for row in rows]
                rights = [self._right(k, column) for column in columns]
                for number, total in enumerate(totals):
                    total.add(lefts[number // WIDE], rights[number % WIDE])
            for number, total in enumerate(totals):
                for part, value in enumerate(total.held):
                    draft.emit(Store(self.own.name, LitU32(number * PARTS + part), value))
            with (
                draft.loop("e", LitU32(EACH)) as number,
                draft.where(((self.mask >> number) & LitU32(1)).ne(0)),
            ):
                tops = self._tops(*self._place(self.lane, number))
                first = draft.let(times(number, LitU32(PARTS)), "first")
                held = [draft.variable(self.own[plus(first, LitU32(k))], "held") for k in range(PARTS)]
                bits = settled(draft, tops, parts_of(held, tops), node.element)
                draft.emit(Store(self.state.name, self._at(number), bits))

    def _leave(self) -> None:
        draft, site = self.draft, self.site
        with draft.loop("e", LitU32(EACH)) as number:
            row, column = self._place(self.lane, number)
            with draft.where(self._is_inside(row, column)):
                place = Place(site.type.shape, (*self.batch, row, column))
                bits = draft.variable(self.state[self._at(number)], "bits")
                with draft.where(bits.eq(OPEN)):
                    draft.emit(Assign(bits.name, exact_bits(site, self.pull, place, again=True)))
                site.close(self.pull, place, Cast(self.node.element, bits), self.node.element)

    def _tops(self, row: Expr, column: Expr) -> list[Expr]:
        return open_tops(self.site, self.pull, (*self.batch, row, column), LEVELS)

    def _left(self, row: Expr, k: Expr) -> Var:
        return double(self.site, self.pull, self.node.left, (*self.batch, row, k))

    def _right(self, k: Expr, column: Expr) -> Var:
        return double(self.site, self.pull, self.node.right, (*self.batch, k, column))
