"""Products of matrices by large tiles whose sums stay in registers, for devices with many of them.

An invocation sums 4 x 8 elements or more. While it does, what it adds next is on its way from memory: the
next tile of each side is read to variables before the sums of this one, and kept in the other half of the
workgroup's memory behind them, so one barrier a step is enough.

Every element of the result has one invocation, which adds its products with k ascending. Past the last k
the sides are +0 and -0. Their product is -0, which changes no sum; so tiles never show in the bits. Rows and
columns past the end are computed from whatever is there and not stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import TYPE_CHECKING

from vyre.graph.sizes import product
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Cast, Expr, LitU32, LocalId, MakeVec, Select, Var
from vyre.ir.node import Assign, Barrier, If, Loop, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.kernels.products import KINDS, product_node, result, step_of
from vyre.planning.kernels.sides import FOUR, Extent, Side, SideRole
from vyre.planning.kernels.site import ALWAYS, Variant, WrittenLater
from vyre.planning.layout import by_four
from vyre.planning.numbers import literal, plus, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.node import Node
    from vyre.planning.draft import Draft, Drafted
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
DOWN, ACROSS = 8, 4
"""How 32 neighbouring invocations lie over their part of a tile."""
BAND = 8
"""Rows of tiles that are computed next to each other, so that what they read is still near."""


@dataclass(frozen=True, slots=True)
class Tile:
    """How the result is cut: `rows` x `columns` a workgroup, `high` x `wide` an invocation, `deep` a step.

    `overlapped` says that words are read while the products of those before are added."""

    rows: int
    columns: int
    deep: int
    high: int
    wide: int
    overlapped: bool = False

    @property
    def lanes(self) -> int:
        return self.rows * self.columns // (self.high * self.wide)


LARGE = Tile(128, 128, 8, 8, 8)
TALL = Tile(128, 64, 8, 8, 8)
BROAD = Tile(64, 128, 8, 8, 8)
SMALL = Tile(64, 64, 16, 4, 8, overlapped=True)
PACE = {LARGE: 100, TALL: 102, BROAD: 102, SMALL: 106}
"""What an element of each tile costs beside one of the largest, in hundredths: as measured on an H200
(docs/performance.md)."""
PROCESSORS = 132
"""Among which the workgroups are dealt out; those of an H200."""
WARP, HIDDEN = 32, 3
"""Invocations that go together; and how many such teams' worth of time waits for memory."""
ROOM = 16
"""Teams for which a processor has registers, with sums of 8 x 8."""
LEAST = 32
"""Rows and columns from which on a tile of these is worth its barriers."""
ENOUGH = 1 << 22
"""Elements of a result, whose shape is not known yet, from which on it is cut into large tiles."""
_SUMS = (T.F32, T.I32, T.U32)


def register_variants(site: Site) -> tuple[Variant, ...]:
    """The tiles that suit the shape; where it is known by the call alone, large ones and small ones."""
    node = product_node(site)
    if KINDS[node.accumulator] not in _SUMS:
        return ()
    shape = [size.static for size in site.type.shape]
    known = [size for size in shape if size is not None]
    if len(known) == len(shape):
        return (register_variant(site, best_tile(*known)),)
    return (register_variant(site, LARGE, ENOUGH), register_variant(site, SMALL))


def best_tile(*shape: int) -> Tile:
    """The tile whose workgroups end first, by a model: whole rounds of them, each as long as its elements
    take, longer where too few invocations are there to wait for memory in turns."""

    def time(tile: Tile) -> float:
        *batch, rows, columns = shape
        groups = prod(batch) * -(-rows // tile.rows) * -(-columns // tile.columns)
        rounds = max(1, -(-groups // PROCESSORS))
        teams = min(ROOM, rounds * tile.lanes // WARP)
        return rounds * tile.rows * tile.columns * PACE[tile] * (1 + HIDDEN / teams)

    return min(PACE, key=time)


def register_variant(site: Site, tile: Tile, least: int = 0) -> Variant:
    rows, columns = site.type.shape[-2:]
    return Variant(
        WrittenLater(lambda: _Product(site, site.pull(), tile).drafted()),
        ((product(site.type.shape[:-2]), 1), (rows, tile.rows), (columns, tile.columns)),
        (
            (rows, LEAST, ALWAYS),
            (columns, LEAST, ALWAYS),
            (site.type.count, least, ALWAYS),
            (site.of(product_node(site).left).shape[-1], 1, ALWAYS),
        ),
        f"tiles of {tile.rows} x {tile.columns} in registers",
    )


_Spot = tuple["Expr", list[int]]
"""The first line of an invocation in a tile, and how far its lines lie behind that."""


def _line(sides: list[Side], places: list[Expr], k: int, spots: list[_Spot]) -> list[list[Var]]:
    return [s.line(at, k, steps) for s, at, (_, steps) in zip(sides, places, spots, strict=True)]


def _steps(count: int, neighbours: int) -> list[int]:
    """How far the lines of an invocation lie behind its first one: fours of them, its neighbours' between."""
    return [i // FOUR * FOUR * neighbours + i % FOUR for i in range(count)]


class _Product:
    """The statements of the kernel, in the order in which they are written."""

    def __init__(self, site: Site, pull: Pull, tile: Tile) -> None:
        self.site, self.pull, self.tile = site, pull, tile
        self.draft: Draft = pull.draft
        self.node = product_node(site)
        self.kind = KINDS[self.node.accumulator]
        draft = self.draft
        self.lane = draft.let(LocalId(0), "lane")
        self.rows, self.columns = (draft.size(size) for size in site.type.shape[-2:])
        depth = site.of(self.node.left).shape[-1]
        self.depth = draft.size(depth)
        self.whole = depth.static is not None and depth.static % tile.deep == 0
        """Whether every step has all of its k."""
        fours = site.of(site.root).element is T.F32 and by_four(site.type.shape[-1])
        self.each = FOUR if fours else 1
        """Elements that are stored at once."""

    def drafted(self) -> Drafted:
        draft, tile = self.draft, self.tile
        group = draft.group()
        wide = draft.let((self.columns + LitU32(tile.columns - 1)) // LitU32(tile.columns), "wide")
        high = draft.let((self.rows + LitU32(tile.rows - 1)) // LitU32(tile.rows), "high")
        number = draft.let(group // draft.let(times(wide, high), "tiles"), "batch")
        row, column = self._banded(draft.let(group % draft.let(times(wide, high)), "n"), high, wide)
        self.first_row = draft.let(times(row, LitU32(tile.rows)), "row")
        self.first_column = draft.let(times(column, LitU32(tile.columns)), "column")
        with draft.where(number < draft.size(product(self.site.type.shape[:-2]))):
            self.batch = draft.parted(number, self.site.type.shape[:-2])
            self._body()
        return self.site.finished(self.pull, tile.lanes, T.Vec4U32 if self.each == FOUR else None)

    def _banded(self, number: Expr, high: Expr, wide: Expr) -> tuple[Expr, Expr]:
        """The row and the column of a tile by its number: down each column of a band, band after band."""
        draft = self.draft
        each = draft.let(times(wide, LitU32(BAND)), "each")
        above = draft.let(times(number // each, LitU32(BAND)), "above")
        left = draft.let(high - above, "left")
        rows = draft.let(Select(left < LitU32(BAND), left, LitU32(BAND)), "rows")
        inside = draft.let(number % each, "inside")
        return plus(above, inside % rows), inside // rows

    def _body(self) -> None:
        draft, tile = self.draft, self.tile
        row, column = self._lines()
        rows, columns = _steps(tile.high, DOWN), _steps(tile.wide, ACROSS)
        totals = [[draft.variable(literal(self.kind, 0), "total") for _ in columns] for _ in rows]
        sides = self._sides()
        turns = draft.let((self.depth + LitU32(tile.deep - 1)) // LitU32(tile.deep), "turns")
        turn = Var(draft.fresh("t"))
        draft.emit(*self._fetched(sides, LitU32(0), whole=self.whole))
        spots = [(row, rows), (column, columns), (row, rows)][: len(sides)]
        body = (self._overlapped if tile.overlapped else self._in_turn)(turn, sides, spots, totals)
        draft.emit(Loop(turn.name, LitU32(0), turns, body))
        self._leave(row, column, totals)

    def _in_turn(
        self, turn: Var, sides: list[Side], spots: list[_Spot], totals: list[list[Var]]
    ) -> list[Node]:
        """A step that reads the words of a k and adds their products: other teams fill the gaps."""
        draft, deep = self.draft, self.tile.deep
        with draft.block() as body:
            half = draft.let(turn & LitU32(1), "half")
            self._kept(sides, half)
            self._ahead(sides, draft.let(times(turn + LitU32(1), LitU32(deep)), "start"))
            places = [side.place(half, 0, first) for side, (first, _) in zip(sides, spots, strict=True)]
            for k in range(deep):
                self._add(_line(sides, places, k, spots), totals)
        return body

    def _overlapped(
        self, turn: Var, sides: list[Side], spots: list[_Spot], totals: list[list[Var]]
    ) -> list[Node]:
        """A step that reads the words of the next k before it adds the products of this one, past the barrier
        as well: few teams are there to fill the gaps."""
        draft, deep = self.draft, self.tile.deep

        def places(half: Expr, k: int) -> list[Expr]:
            return [side.place(half, k, first) for side, (first, _) in zip(sides, spots, strict=True)]

        self._kept(sides, LitU32(0))
        read = _line(sides, places(LitU32(0), 0), 0, spots)
        first = [[draft.variable(value, "first") for value in values] for values in read]
        self._ahead(sides, LitU32(deep))
        with draft.block() as body:
            half = draft.let(turn & LitU32(1), "half")
            other = draft.let(LitU32(1) - half, "other")
            here, now = places(half, 1), first
            for k in range(deep - 1):
                then = _line(sides, here, k, spots)
                self._add(now, totals)
                now = then
            self._kept(sides, other)
            then = _line(sides, places(other, 0), 0, spots)
            self._ahead(sides, draft.let(times(turn + LitU32(2), LitU32(deep)), "start"))
            self._add(now, totals)
            for old, new in zip(first, then, strict=True):
                draft.emit(*(Assign(x.name, y) for x, y in zip(old, new, strict=True)))
        return body

    def _kept(self, sides: list[Side], half: Expr) -> None:
        for side in sides:
            side.keep(self.lane, half)
        self.draft.emit(Barrier())

    def _add(self, now: list[list[Var]], totals: list[list[Var]]) -> None:
        left, right, *mask = now
        for number, (a, sums) in enumerate(zip(left, totals, strict=True)):
            pairs = zip(right, sums, strict=True)
            added = [Assign(total.name, step_of(self.node, a, b, total)) for b, total in pairs]
            self.draft.emit(*([If(mask[0][number].ne(0), added)] if mask else added))

    def _ahead(self, sides: list[Side], start: Expr) -> None:
        """Reads the tile that starts at `start`, of which there may be a part."""
        firsts = (self.first_row, self.first_column, self.first_row)
        pairs = zip(sides, firsts, strict=False)
        found = [side.at_once(self.lane, self.batch, first, start) for side, first in pairs]
        conditions = [] if self.whole else [start + LitU32(self.tile.deep) <= self.depth]
        if all(found):
            conditions += [part[0] for part in found if part]
            fast = [node for part in found if part for node in part[1]]
        else:
            fast = self._fetched(sides, start, whole=True)
        if not conditions:
            self.draft.emit(*fast)
            return
        inside = reduce(lambda a, b: BinOp(BinaryOp.And, a, b), conditions)
        self.draft.emit(If(inside, fast, self._fetched(sides, start, whole=self.whole)))

    def _sides(self) -> list[Side]:
        tile, node = self.tile, self.node
        lines = {SideRole.LEFT: tile.rows, SideRole.RIGHT: tile.columns, SideRole.MASK: tile.rows}
        names = {SideRole.LEFT: node.left, SideRole.RIGHT: node.right, SideRole.MASK: node.mask}
        return [
            Side(self.site, self.pull, name, Extent(lines[role], tile.deep, tile.lanes), role)
            for role, name in names.items()
            if name is not None
        ]

    def _lines(self) -> tuple[Expr, Expr]:
        """The first row and the first column of an invocation inside the tile.

        Neighbours by the lowest bit of the lane share rows, and those by the next one columns: memory
        serves two loads of four words at once where such neighbours want the same.
        """
        draft, tile, lane = self.draft, self.tile, self.lane
        across = draft.let((lane & LitU32(1)) | ((lane >> LitU32(1)) & LitU32(2)), "x")
        down = draft.let(((lane >> LitU32(1)) & LitU32(1)) | ((lane >> LitU32(2)) & LitU32(6)), "y")
        warp = draft.let(lane // LitU32(DOWN * ACROSS), "w")
        over = LitU32(tile.columns // (ACROSS * tile.wide))
        row = plus(times(warp // over, LitU32(DOWN * tile.high)), times(down, LitU32(FOUR)))
        column = plus(times(warp % over, LitU32(ACROSS * tile.wide)), times(across, LitU32(FOUR)))
        return draft.let(row, "row"), draft.let(column, "column")

    def _fetched(self, sides: list[Side], start: Expr, *, whole: bool) -> list[Node]:
        """Reads the invocation's part of a tile of each side."""
        with self.draft.block() as body:
            firsts = (self.first_row, self.first_column, self.first_row)
            for side, first in zip(sides, firsts, strict=False):
                side.fetch(self.lane, self.batch, first, start, None if whole else self.depth)
        return body

    def _leave(self, first_row: Expr, first_column: Expr, totals: list[list[Var]]) -> None:
        """Stores the sums, or what is computed from them; the latter is written once, as a loop over them."""
        draft, site, tile, each = self.draft, self.site, self.tile, self.each
        if site.core is None or site.core == site.root:
            columns = _steps(tile.wide, ACROSS)
            for down, line in zip(_steps(tile.high, DOWN), totals, strict=True):
                row = plus(first_row, LitU32(down))
                for j in range(0, tile.wide, each):
                    self._elements(row, plus(first_column, LitU32(columns[j])), list(line[j : j + each]))
            return
        sums = draft.own(BufferDecl.private("sums", self.kind, tile.high * tile.wide))
        for number, total in enumerate(total for line in totals for total in line):
            draft.emit(Store(sums.name, LitU32(number), total))
        number = Var(draft.fresh("e"))
        with draft.block() as last:
            first = times(number, LitU32(each))
            i, j = first // LitU32(tile.wide), first % LitU32(tile.wide)
            row = plus(first_row, plus(times(i // LitU32(FOUR), LitU32(FOUR * DOWN)), i % LitU32(FOUR)))
            column = plus(
                first_column, plus(times(j // LitU32(FOUR), LitU32(FOUR * ACROSS)), j % LitU32(FOUR))
            )
            values = [draft.variable(sums[plus(first, LitU32(n))], "total") for n in range(each)]
            self._elements(row, column, values)
        draft.emit(Loop(number.name, LitU32(0), LitU32(tile.high * tile.wide // each), last))

    def _elements(self, row: Expr, column: Expr, totals: Sequence[Expr]) -> None:
        """Stores one element, or four neighbours."""
        draft = self.draft
        row = draft.let(plus(self.first_row, row), "r")
        column = draft.let(plus(self.first_column, column), "c")
        with draft.where((row < self.rows) & (column < self.columns)):
            values: list[Expr] = []
            for number, total in enumerate(totals):
                place = self._place(row, draft.let(plus(column, LitU32(number)), "c"))
                value, made = result(self.site, self.pull, place, total)
                values.append(draft.let(self.site.closed(self.pull, place, value, made)))
            at = draft.flat(self._place(row, column))
            if len(values) == 1:
                draft.store(at, values[0])
            else:
                lanes = tuple(Cast(T.U32, value) for value in values)
                draft.store(at >> LitU32(2), MakeVec(T.Vec4U32, lanes))

    def _place(self, row: Expr, column: Expr) -> Place:
        return Place(self.site.type.shape, (*self.batch, row, column))
