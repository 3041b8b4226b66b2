"""A tile of a product of matrices that the warps of a workgroup compute with matrix instructions.

The tile is cut into one part a warp, and a part into 16 x 8 elements an instruction, of which a lane holds
four. Tiles of the operands lie twice in workgroup memory: while one is multiplied the next is read.
Rows and columns past the end are computed and not stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.graph.sizes import product
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, LitU32, LocalId, Select, Var
from vyre.ir.node import Assign, Barrier, Loop, Store
from vyre.planning.draft import Place
from vyre.planning.kernels.products import KINDS, product_node, result
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import plus, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.ir.types import DataType
    from vyre.planning.draft import Draft, Drafted
    from vyre.planning.kernels.site import Site

WARP = 32
HIGH, WIDE, EACH = 16, 8, 4
"""Rows and columns of one instruction, and its elements in a lane."""

UNROLLED = 64
BAND = 16
"""Rows of tiles that are computed together."""
BACKEND = "cuda"
"""Whose devices have the instructions; for the interpreter, which has all, a large tile is only more work."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Rows and columns of the workgroup's tile and of a warp's part; a tile is `deep` along k."""

    rows: int
    columns: int
    warp_rows: int
    warp_columns: int
    deep: int

    @property
    def lanes(self) -> int:
        return self.rows * self.columns // (self.warp_rows * self.warp_columns) * WARP


class WarpTile(ABC):
    """The statements of the kernel, in the order in which they are written."""

    early = False
    """Whether memory is read two turns before what was read is multiplied, rather than one."""
    _ahead: list[Var]

    def __init__(self, site: Site, cut: Cut) -> None:
        self.site, self.cut = site, cut
        self.pull = site.pull()
        self.draft: Draft = self.pull.draft
        self.node = product_node(site)
        self.kind = KINDS[self.node.accumulator]
        draft = self.draft
        self.local = draft.let(LocalId(0), "lane")
        self.rows, self.columns = (draft.size(size) for size in site.type.shape[-2:])
        deep = site.of(self.node.left).shape[-1]
        self.depth = draft.size(deep)
        self.even = deep.static is not None and deep.static % cut.deep == 0
        """Whether tiles end with k."""
        self.pairs = deep.static is not None and -(-deep.static // cut.deep) % 2 == 0
        """Whether there are as many first as second ones."""
        lane = draft.let(self.local % LitU32(WARP), "lane")
        warp = draft.let(self.local // LitU32(WARP), "warp")
        across = LitU32(cut.columns // cut.warp_columns)
        self.quad = draft.let(lane // LitU32(4), "quad")
        self.place = draft.let(lane % LitU32(4), "place")
        self.warp_row = draft.let(times(warp // across, LitU32(cut.warp_rows)), "wr")
        self.warp_column = draft.let(times(warp % across, LitU32(cut.warp_columns)), "wc")

    @property
    def parts(self) -> Iterator[tuple[int, int]]:
        """The instructions of a warp, by row and column."""
        across = self.cut.warp_columns // WIDE
        return ((m, n) for m in range(self.cut.warp_rows // HIGH) for n in range(across))

    def own(self, name: str, element: DataType, count: int) -> tuple[BufferDecl, BufferDecl]:
        """Workgroup memory for two tiles of so many elements."""
        first, second = (BufferDecl.workgroup(f"{name}{i}", element, count) for i in range(2))
        return self.draft.own(first), self.draft.own(second)

    def copy(self, start: Expr, which: int) -> None:  # noqa: B027
        """Copies what needs no change of the tiles from `start` along k on to one of the two memories."""

    @abstractmethod
    def load(self, start: Expr) -> list[Expr]:
        """Reads the rest of them; what lies past the end changes no sum."""

    @abstractmethod
    def keep(self, loaded: list[Expr], which: int) -> None:
        """Puts it into the first or the second memory."""

    @abstractmethod
    def multiply(self, which: int) -> None:
        """Adds the products of the tiles there."""

    @abstractmethod
    def total(self, m: int, n: int, i: int) -> Expr:
        """The sum of an element."""

    def row(self, block: Expr, within: Expr) -> Expr:
        """Which row of the warp's part the block of eight has there."""
        return block * LitU32(WIDE) + within

    def column(self, block: Expr, within: Expr) -> Expr:
        """The same of columns."""
        return block * LitU32(WIDE) + within

    def drafted(self) -> Drafted:
        draft, cut, shape = self.draft, self.cut, self.site.type.shape
        group = draft.group()
        wide = draft.let((self.columns + LitU32(cut.columns - 1)) // LitU32(cut.columns), "wide")
        high = draft.let((self.rows + LitU32(cut.rows - 1)) // LitU32(cut.rows), "high")
        number = draft.let(group // (wide * high), "batch")
        row, column = self._banded(draft.let(group % (wide * high), "tile"), wide, high)
        self.first_row = draft.let(times(row, LitU32(cut.rows)), "row")
        self.first_column = draft.let(times(column, LitU32(cut.columns)), "column")
        with draft.where(number < draft.size(product(shape[:-2]))):
            self.batch = draft.parted(number, shape[:-2])
            self._body()
        return self.site.finished(self.pull, cut.lanes)

    def _banded(self, tile: Expr, wide: Expr, high: Expr) -> tuple[Expr, Expr]:
        """The row and the column of a tile. Tiles that are computed at the same time lie in a band of rows,
        and share more of what they read than those of a whole row would."""
        let = self.draft.let
        band = let(tile // (wide * LitU32(BAND)), "band")
        above = let(times(band, LitU32(BAND)), "above")
        rest = let(tile - above * wide, "rest")
        rows = let(Select(high - above < LitU32(BAND), high - above, LitU32(BAND)), "rows")
        return let(above + rest % rows, "tr"), let(rest // rows, "tc")

    def _body(self) -> None:
        """Two turns a round, one for each of the two tiles that workgroup memory holds of an operand."""
        draft, deep = self.draft, LitU32(self.cut.deep)
        self.copy(LitU32(0), 0)
        self.keep(self.load(LitU32(0)), 0)
        self._ahead = [draft.variable(value, "ahead") for value in self.load(deep)] if self.early else []
        draft.emit(Barrier())
        turns = draft.let((self.depth + LitU32(self.cut.deep - 1)) // deep, "turns")
        turn = Var(draft.fresh("t"))
        with draft.block() as body:
            following = draft.let(plus(times(turn, LitU32(2)), LitU32(1)), "next")
            start = draft.let(times(following, deep), "start")
            self._turn(0, start)
            self._turn(1, draft.let(plus(start, deep), "start"), None if self.pairs else following < turns)
        draft.emit(Loop(turn.name, LitU32(0), draft.let((turns + LitU32(1)) // LitU32(2), "rounds"), body))
        self._leave()

    def _turn(self, which: int, start: Expr, condition: Expr | None = None) -> None:
        """Multiplies one pair of tiles while the next, from `start` along k on, takes the place of the other.

        What is read `early` was read in the turn before: compilers put off what is not needed yet.
        """
        draft, other = self.draft, 1 - which
        self.copy(start, other)
        if self.early:  # under other names, because what is made of them is known by its operands
            loaded = [draft.variable(value, "loaded") for value in self._ahead]
        else:
            loaded = self.load(start)
        if condition is None:
            self.multiply(which)
        else:
            with draft.where(condition):
                self.multiply(which)
        self.keep(list(loaded), other)
        if self.early:
            values = self.load(draft.let(plus(start, LitU32(self.cut.deep)), "start"))
            draft.emit(*(Assign(x.name, value) for x, value in zip(self._ahead, values, strict=True)))
        draft.emit(Barrier())

    def _leave(self) -> None:
        """What follows the product is written in loops over the sums, which lie in memory for that.

        A loop has at most `UNROLLED` of them, so that compilers write it out and keep them in registers.
        """
        draft = self.draft
        across = self.cut.warp_columns // WIDE
        high = max(1, UNROLLED // (across * EACH))
        sums = draft.own(BufferDecl.private("sums", self.kind, high * across * EACH))
        first_row = draft.let(self.first_row + self.warp_row, "r")
        first_column = draft.let(self.first_column + self.warp_column, "c")
        for start in range(0, self.cut.warp_rows // HIGH, high):
            rows = range(start, min(start + high, self.cut.warp_rows // HIGH))
            parts = [(m, n, i) for m in rows for n in range(across) for i in range(EACH)]
            draft.emit(*(Store(sums.name, LitU32(at), self.total(*part)) for at, part in enumerate(parts)))
            number = Var(draft.fresh("e"))
            with draft.block() as body:
                total = draft.variable(sums[number], "total")
                part = draft.let(number // LitU32(EACH), "part")
                down = part // LitU32(across) + LitU32(start)
                down = self.row(down * LitU32(2) + number // LitU32(2) % LitU32(2), self.quad)
                within = self.place * LitU32(2) + number % LitU32(2)
                right = self.column(part % LitU32(across), within)
                row, column = draft.let(first_row + down, "r"), draft.let(first_column + right, "c")
                self._store(row, column, total)
            draft.emit(Loop(number.name, LitU32(0), LitU32(len(parts)), body))

    def _store(self, row: Expr, column: Expr, total: Expr) -> None:
        draft = self.draft
        with draft.where((row < self.rows) & (column < self.columns)):
            place = Place(self.site.type.shape, (*self.batch, row, column))
            self.site.close(self.pull, place, *result(self.site, self.pull, place, total))

    def variant(self, when: tuple[tuple[int, int], ...], hardware: tuple[str, ...]) -> Variant:
        """The kernel for calls in which rows and columns lie in the ranges of `when`."""
        *batch, rows, columns = self.site.type.shape
        return Variant(
            self.drafted(),
            ((product(tuple(batch)), 1), (rows, self.cut.rows), (columns, self.cut.columns)),
            tuple((size, low, high) for size, (low, high) in zip((rows, columns), when, strict=True)),
            f"tiles of {self.cut.rows} x {self.cut.columns} by matrix instructions",
            frozenset({*hardware, BACKEND}),
        )
