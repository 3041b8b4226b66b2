"""Products of bytes whose sums are I32. They are exact modulo 2^32, so the order of k does not matter.

A tile is vectors of 16 bytes along k, four of them a row. A lane holds the vector of a column, which is the
right operand of two instructions, and those of two rows, which are mixed into the left operands of two. Which
k meet in one is the same on both sides.

Vectors that lie so in memory are copied as they are. Where columns of the right side are neighbours there
instead, words of four columns are read and turned into such vectors on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Call, Cast, Expr, Lane, LitU32, MakeVec, Select, Var
from vyre.ir.node import Assign, Store
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.kernels.warp_tile import HIGH, WARP, WIDE, WarpTile
from vyre.planning.numbers import plus, times

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.planning.kernels.site import Site, Variant
    from vyre.planning.kernels.warp_tile import Cut

T = DataType
HARDWARE = "mma_s8.m16n8k32"
WORDS = 4
BYTES = 16
"""Of a vector."""
DEEP = 64
"""Along k: the vectors of the four lanes of a row."""
_ZERO = MakeVec(T.Vec4U32, (LitU32(0),) * WORDS)


def s8_variant(site: Site, cut: Cut, when: tuple[tuple[int, int], ...]) -> Variant:
    return _Tile(site, cut).variant(when, (HARDWARE,))


class _Tile(WarpTile):
    def __init__(self, site: Site, cut: Cut) -> None:
        super().__init__(site, cut)
        draft = self.draft
        self.lefts = self.own("left", T.Vec4U32, WORDS * cut.rows)
        self.rights = self.own("right", T.Vec4U32, WORDS * cut.columns)
        lane = plus(times(self.quad, LitU32(WORDS)), self.place)
        self.left_lane = draft.let(plus(times(self.warp_row, LitU32(WORDS)), lane), "l")
        self.right_lane = draft.let(plus(times(self.warp_column, LitU32(WORDS)), lane), "r")
        self.totals = {part: draft.variable(_ZERO, "total") for part in self.parts}
        inner = self._inner(right=False), self._inner(right=True)
        self.direct = [size is not None and size % BYTES == 0 for size in (inner[0][0], inner[1][0])]
        """Whether the sides are copied by vectors, the left one and the right one."""
        self.direct[0] &= self.even
        size = inner[1][1]
        self.by_columns = size is not None and size % WORDS == 0 and cut.columns % cut.lanes == 0
        """Whether the right side is read by words of four columns, and every invocation has some."""
        self.early = self.by_columns

    def _inner(self, *, right: bool) -> tuple[int | None, int | None]:
        """How many neighbours there are in memory, if that is known: along k, and across it."""
        k, outer = Var("k"), Var("o")
        batch = map(Var, "b" * (len(self.site.type.shape) - 2))
        found = self.pull.behind(self._name(right), (*batch, *((k, outer) if right else (outer, k))))
        if found is None or found[1].coords is None:
            return None, None
        last, size = found[1].coords[-1], found[1].shape[-1].static
        return size if last is k else None, size if last is outer else None

    def _slots(self, *, right: bool, each: int = 1) -> list[Expr]:
        """Which parts of `each` vectors of a tile an invocation reads, in order."""
        lanes = self.cut.lanes
        count, rest = divmod((self.cut.columns if right else self.cut.rows) * WORDS, each * lanes)
        assert not rest, self.cut
        return [plus(self.local, LitU32(i * lanes)) for i in range(count)]

    def copy(self, start: Expr, which: int) -> None:
        for right, memories in enumerate((self.lefts, self.rights)):
            for at in self._slots(right=bool(right)) if self.direct[right] else ():
                outer, k = self._at(at, start, right=bool(right))
                self.draft.emit(Store(memories[which].name, at, self._whole(outer, k, right=bool(right))))

    def load(self, start: Expr) -> list[Expr]:
        loaded: list[Expr] = []
        if not self.direct[0]:
            slots = self._slots(right=False)
            loaded += [self._vector(*self._at(at, start, right=False), right=False) for at in slots]
        if self.by_columns:
            slots = self._slots(right=True, each=WORDS)
            loaded += [word for at in slots for word in self._columns(at, start)]
        elif not self.direct[1]:
            slots = self._slots(right=True)
            loaded += [self._vector(*self._at(at, start, right=True), right=True) for at in slots]
        return loaded

    def _at(self, at: Expr, start: Expr, *, right: bool) -> tuple[Expr, Expr]:
        """The row or column of a vector, and its k."""
        first = self.first_column if right else self.first_row
        return self.draft.let(plus(first, at // LitU32(WORDS)), "o"), self._k(at, start)

    def _k(self, at: Expr, start: Expr) -> Expr:
        return self.draft.let(plus(start, times(at % LitU32(WORDS), LitU32(BYTES))), "k")

    def _columns(self, at: Expr, start: Expr) -> list[Expr]:
        """Four columns of sixteen k, a word for each k."""
        let = self.draft.let
        column = let(plus(self.first_column, times(at // LitU32(WORDS), LitU32(WORDS))), "o")
        first = self._k(at, start)
        words: list[Expr] = []
        for i in range(BYTES):
            k = let(plus(first, LitU32(i)), "k")
            found = self.pull.behind(self.node.right, self._coords(column, k, right=True))
            assert found is not None
            name, place = found
            words.append(let(self.draft.read(name, T.U32)[self.draft.flat(place) // LitU32(WORDS)]))
        return words

    def _vector(self, outer: Expr, k: Expr, *, right: bool) -> Expr:
        """Sixteen bytes along k. One side alone has to be 0 past its end, and what lies past the last row or
        column is never stored."""
        let, size = self.draft.let, self._inner(right=right)[0]
        if size is None or size % BYTES:
            words = [self._word(outer, k, i, right=right) for i in range(0, BYTES, 4)]
            return let(MakeVec(T.Vec4U32, words))
        whole = let(self._whole(outer, k, right=right))
        return whole if right or self.even else let(Select(k < self.depth, whole, _ZERO))

    def _whole(self, outer: Expr, k: Expr, *, right: bool) -> Expr:
        """The vector in one load, where neighbours along k are whole vectors."""
        found = self.pull.behind(self._name(right), self._coords(outer, k, right))
        assert found is not None
        name, place = found
        return self.draft.read(name, T.Vec4U32)[self.draft.flat(place) // LitU32(BYTES)]

    def _word(self, outer: Expr, k: Expr, first: int, *, right: bool) -> Expr:
        let, name = self.draft.let, self._name(right)
        word: Expr = LitU32(0)
        for i in range(4):
            at = let(plus(k, LitU32(first + i)), "k")
            value = self.pull.value(name, Place(self.site.of(name).shape, self._coords(outer, at, right)))
            byte = Cast(T.U32, value) & LitU32(255)
            if not self.even:
                byte = Select(at < self.depth, byte, LitU32(0))
            word = let(word | (byte << LitU32(8 * i)) if i else byte)
        return word

    def _name(self, right: bool) -> str:
        return self.node.right if right else self.node.left

    def _coords(self, outer: Expr, k: Expr, right: bool) -> tuple[Expr, ...]:
        return (*self.batch, k, outer) if right else (*self.batch, outer, k)

    def keep(self, loaded: list[Expr], which: int) -> None:
        emit, rest = self.draft.emit, iter(loaded)
        left, right = self.lefts[which].name, self.rights[which].name
        if not self.direct[0]:
            emit(*(Store(left, at, next(rest)) for at in self._slots(right=False)))
        if self.by_columns:
            for at in self._slots(right=True, each=WORDS):
                turned = [self._turned([next(rest) for _ in range(4)]) for _ in range(WORDS)]
                # The vector of a column lies four behind that of its neighbour.
                place = plus(times(at // LitU32(WORDS), LitU32(BYTES)), at % LitU32(WORDS))
                for i, vector in enumerate(zip(*turned, strict=True)):
                    emit(Store(right, plus(place, LitU32(WORDS * i)), MakeVec(T.Vec4U32, vector)))
        elif not self.direct[1]:
            emit(*(Store(right, at, next(rest)) for at in self._slots(right=True)))

    def _turned(self, words: list[Expr]) -> list[Expr]:
        """Four words of four bytes with rows and columns exchanged."""
        let = self.draft.let
        even, odd, low, high = (LitU32(x) for x in (0x00FF_00FF, 0xFF00_FF00, 0xFFFF, 0xFFFF_0000))
        byte, half = LitU32(8), LitU32(16)
        pairs = [
            (let((a & even) | ((b & even) << byte)), let(((a >> byte) & even) | (b & odd)))
            for a, b in (words[:2], words[2:])
        ]
        joined = [
            (let((a & low) | (b << half)), let((a >> half) | (b & high))) for a, b in zip(*pairs, strict=True)
        ]
        return [column for which in range(2) for column in (joined[0][which], joined[1][which])]

    def multiply(self, which: int) -> None:
        draft, cut = self.draft, self.cut
        left, right = self.lefts[which], self.rights[which]
        columns = [self._read(right, self.right_lane, n * WARP) for n in range(cut.warp_columns // WIDE)]
        for m in range(cut.warp_rows // HIGH):
            rows = [self._read(left, self.left_lane, (2 * m + i) * WARP) for i in range(2)]
            for step in range(2):
                mixed = [Lane(row, 2 * step + i) for i in range(2) for row in rows]
                a = draft.let(MakeVec(T.Vec4U32, mixed), "a")
                for n, column in enumerate(columns):
                    pair = [Lane(column, 2 * step), Lane(column, 2 * step + 1)]
                    b = draft.let(MakeVec(T.Vec2U32, pair), "b")
                    total = self.totals[m, n]
                    draft.emit(Assign(total.name, Call(f"intrinsic.{HARDWARE}", (a, b, total))))

    def _read(self, buffer: BufferDecl, lane: Expr, offset: int) -> Var:
        """A vector of a tile; a variable, because what the memory holds changes."""
        return self.draft.variable(buffer[plus(lane, LitU32(offset))], "x")

    def total(self, m: int, n: int, i: int) -> Expr:
        return Cast(T.I32, Lane(self.totals[m, n], i))
