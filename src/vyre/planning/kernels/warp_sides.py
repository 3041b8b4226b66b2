"""The tiles of one operand of a product whose sums are F64, in workgroup memory: how an invocation reads and
keeps them, and how a lane finds the operands of instructions there.

An instruction takes blocks of 8 rows, or columns, by 4 along k: the lane `4 * quad + place` holds the element
of the row `quad` at the k `place`. Past the end of k the left side is +0 and the right side -0: their
product, -0, changes no sum, not even -0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from vyre.ir.expr import Cast, Expr, Lane, LitU32, MakeVec, Select, Var
from vyre.ir.node import Store
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.layout import strides_of
from vyre.planning.numbers import literal, plus, times, widened

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.planning.kernels.warp_tile import WarpTile

T = DataType
BLOCK, QUAD = 8, 4
"""Rows or columns of a block, and its elements along k."""
_MINUS_ZERO = {T.F32: 1 << 31, T.F64: 1 << 63}
_WORDS = 4
"""Of a vector."""
_DEEP = 16
"""Words of a row that lie together: a vector for each lane of a quad."""


class WarpSide(ABC):
    """Where `along` is set neighbours in memory are neighbours along k."""

    memories: tuple[BufferDecl, BufferDecl]

    def __init__(self, tile: WarpTile, *, right: bool) -> None:
        cut = tile.cut
        self.tile, self.right = tile, right
        self.name = tile.node.right if right else tile.node.left
        self.outer = cut.columns if right else cut.rows
        self.part = cut.warp_columns if right else cut.warp_rows
        self.warp = tile.warp_column if right else tile.warp_row
        strides = strides_of(tile.site.graph, self.name, tile.site.fusion.stored)
        self.along = not right if strides is None else strides[-2 if right else -1].static == 1

    def own(self, element: DataType, count: int) -> None:
        self.memories = self.tile.own("right" if self.right else "left", element, count)

    @property
    def first(self) -> Expr:
        return self.tile.first_column if self.right else self.tile.first_row

    def coords(self, outer: Expr, k: Expr) -> tuple[Expr, ...]:
        return (*self.tile.batch, k, outer) if self.right else (*self.tile.batch, outer, k)

    def element(self, outer: Expr, k: Expr, kind: DataType) -> Expr:
        """An element of the operand, or what stands for it past the end of k. Rows and columns past the end
        are never stored, and may be anything."""
        tile, of = self.tile, self.tile.site.of(self.name)
        value = tile.pull.value(self.name, Place(of.shape, self.coords(outer, k)))
        value = widened(value, of.element.loaded, kind)
        return value if tile.even else Select(k < tile.depth, value, self.past(kind))

    def past(self, kind: DataType) -> Expr:
        return literal(kind, _MINUS_ZERO[kind] * self.right)

    @abstractmethod
    def load(self, start: Expr) -> list[Expr]:
        """Reads an invocation's part of the tile from `start` along k on."""

    @abstractmethod
    def keep(self, loaded: list[Expr], which: int) -> None:
        """Puts it into the first or the second memory."""

    @abstractmethod
    def blocks(self, which: int, start: int, deep: int) -> list[list[Var]]:
        """A lane's elements of the blocks of a warp, and in each of them along k; variables, because what the
        memory holds changes."""

    @abstractmethod
    def place(self, block: Expr, within: Expr) -> Expr:
        """Which row or column of the warp's part the block has there."""


class ElementTiles(WarpSide):
    """Elements one by one, as they lie in memory. A row of the tile is a little longer than what it holds, so
    that the lanes of a warp meet no bank twice: of 32 words, or of 16 doubles."""

    def __init__(self, tile: WarpTile, *, right: bool) -> None:
        super().__init__(tile, right=right)
        deep, lanes = tile.cut.deep, tile.cut.lanes
        self.kind = T.F64 if tile.site.of(self.name).element is T.F64 else T.F32
        self.inner = deep if self.along else self.outer
        assert lanes % self.inner == 0 or self.inner % lanes == 0, tile.cut
        self.pitch = deep + 4 if self.along else self.outer + (8 if self.kind is T.F32 else 4)
        self.own(self.kind, (self.outer if self.along else deep) * self.pitch)
        self.turns = range(0, self.outer * deep, lanes)
        let = tile.draft.let
        self.major = let(tile.local // LitU32(self.inner), "major")
        self.minor = let(tile.local % LitU32(self.inner), "minor")
        self.lane = let(self._index(self.warp + tile.quad, tile.place), "l")

    def _index(self, outer: Expr, k: Expr) -> Expr:
        major, minor = (outer, k) if self.along else (k, outer)
        return plus(times(major, LitU32(self.pitch)), minor)

    def load(self, start: Expr) -> list[Expr]:
        let = self.tile.draft.let
        loaded: list[Expr] = []
        for turn in self.turns:
            major, minor = divmod(turn, self.inner)
            places = plus(self.major, LitU32(major)), plus(self.minor, LitU32(minor))
            outer, k = places if self.along else places[::-1]
            outer, k = let(plus(self.first, outer), "o"), let(plus(start, k), "k")
            loaded.append(let(self.element(outer, k, self.kind)))
        return loaded

    def keep(self, loaded: list[Expr], which: int) -> None:
        base = self.tile.draft.let(plus(times(self.major, LitU32(self.pitch)), self.minor), "base")
        for turn, value in zip(self.turns, loaded, strict=True):
            major, minor = divmod(turn, self.inner)
            index = plus(base, LitU32(major * self.pitch + minor))
            self.tile.draft.emit(Store(self.memories[which].name, index, value))

    def blocks(self, which: int, start: int, deep: int) -> list[list[Var]]:
        return [
            [self._element(self.memories[which], outer, k) for k in range(start, start + deep, QUAD)]
            for outer in range(0, self.part, BLOCK)
        ]

    def _element(self, memory: BufferDecl, outer: int, k: int) -> Var:
        offset = outer * self.pitch + k if self.along else k * self.pitch + outer
        value = widened(memory[plus(self.lane, LitU32(offset))], self.kind, T.F64)
        return self.tile.draft.variable(value, "x")

    def place(self, block: Expr, within: Expr) -> Expr:
        return block * LitU32(BLOCK) + within


class WordTiles(WarpSide):
    """Elements that F32 holds, in vectors of four neighbours in memory, as bits.

    Along k each of the four goes to another lane of a quad. Sixteen words of a row lie as vectors of what one
    lane takes; which vector is whose differs from row to row, so that a warp meets no bank twice.

    Across k a lane takes all four, for as many blocks: a block has every fourth row or column.
    """

    def __init__(self, tile: WarpTile, *, right: bool) -> None:
        super().__init__(tile, right=right)
        deep, lanes, let = tile.cut.deep, tile.cut.lanes, tile.draft.let
        self.inner = (deep if self.along else self.outer) // _WORDS
        assert lanes % self.inner == 0, tile.cut
        self.pitch = _DEEP if self.along else self.inner + 2
        self.turns = range(0, self.outer * deep // _WORDS, lanes)
        self.major = let(tile.local // LitU32(self.inner), "major")
        self.minor = let(tile.local % LitU32(self.inner), "minor")
        if self.along:
            self.own(T.U32, self.outer * deep)
            assert deep % _DEEP == 0, tile.cut
            assert lanes % (self.inner * BLOCK) == 0, tile.cut  # a turn's rows are all alike in their vectors
            rows = times(self.warp + tile.quad, LitU32(_DEEP))
            self.lane = let(plus(rows, self._vector(tile.quad, tile.place)), "l")
            block, word = self.minor // LitU32(_WORDS), self.minor % LitU32(_WORDS)
            base = plus(times(block, LitU32(self.outer * _DEEP)), times(self.major, LitU32(_DEEP)))
            self.kept = [
                let(plus(plus(base, self._vector(self.major, LitU32(i))), word), "at") for i in range(_WORDS)
            ]
        else:
            self.own(T.Vec4U32, deep * self.pitch)
            assert self.part % (_WORDS * BLOCK) == 0, tile.cut
            column = plus(self.warp // LitU32(_WORDS), tile.quad)
            self.lane = let(plus(times(tile.place, LitU32(self.pitch)), column), "l")
            self.kept = [let(plus(times(self.major, LitU32(self.pitch)), self.minor), "at")]

    def _vector(self, row: Expr, lane: Expr) -> Expr:
        """Where in its row the vector of a lane begins."""
        return times(lane ^ (row // LitU32(2) % LitU32(_WORDS)), LitU32(_WORDS))

    def load(self, start: Expr) -> list[Expr]:
        let = self.tile.draft.let
        loaded: list[Expr] = []
        for turn in self.turns:
            major = plus(self.major, LitU32(turn // self.inner))
            minor = times(self.minor, LitU32(_WORDS))
            outer, k = (major, minor) if self.along else (minor, major)
            loaded.append(self._read(let(plus(self.first, outer), "o"), let(plus(start, k), "k")))
        return loaded

    def _read(self, outer: Expr, k: Expr) -> Expr:
        let, tile = self.tile.draft.let, self.tile
        whole = self._whole(outer, k)
        if whole is not None:
            past = MakeVec(T.Vec4U32, (LitU32(_MINUS_ZERO[T.F32] * self.right),) * _WORDS)
            return let(whole if tile.even else Select(k < tile.depth, whole, past))
        words: list[Expr] = []
        for i in range(_WORDS):
            down, across = (0, i) if self.along else (i, 0)
            at = let(plus(outer, LitU32(down)), "o"), let(plus(k, LitU32(across)), "k")
            words.append(let(Cast(T.U32, self.element(*at, T.F32))))
        return let(MakeVec(T.Vec4U32, words))

    def _whole(self, outer: Expr, k: Expr) -> Expr | None:
        """The vector in one load, where rows of memory are made of whole vectors."""
        draft, tile = self.tile.draft, self.tile
        found = tile.pull.behind(self.name, self.coords(outer, k))
        if found is None or tile.site.of(self.name).element is not T.F32:
            return None
        name, place = found
        last = place.shape[-1].static
        inner = k if self.along else outer
        if place.coords is None or place.coords[-1] is not inner or last is None or last % _WORDS:
            return None
        return draft.let(draft.read(name, T.Vec4U32)[draft.flat(place) // LitU32(_WORDS)])

    def keep(self, loaded: list[Expr], which: int) -> None:
        draft = self.tile.draft
        for turn, vector in zip(self.turns, loaded, strict=True):
            away = LitU32(turn // self.inner * self.pitch)
            values = [Lane(vector, i) for i in range(_WORDS)] if self.along else [vector]
            for at, value in zip(self.kept, values, strict=True):
                draft.emit(Store(self.memories[which].name, plus(at, away), value))

    def blocks(self, which: int, start: int, deep: int) -> list[list[Var]]:
        assert start % _DEEP == 0, start
        assert deep == _DEEP, deep
        memory, lane = self.memories[which], self.lane
        if self.along:
            first = start * self.outer
            return [
                [self._wide(memory[plus(lane, LitU32(first + row * _DEEP + i))]) for i in range(_WORDS)]
                for row in range(0, self.part, BLOCK)
            ]
        found: list[list[Var]] = []
        for group in range(0, self.part // _WORDS, BLOCK):
            vectors = [
                self.tile.draft.variable(memory[plus(lane, LitU32(k * self.pitch + group))], "v")
                for k in range(start, start + deep, QUAD)
            ]
            found += [[self._wide(Lane(vector, i)) for vector in vectors] for i in range(_WORDS)]
        return found

    def _wide(self, word: Expr) -> Var:
        return self.tile.draft.variable(Cast(T.F64, Cast(T.F32, word)), "x")

    def place(self, block: Expr, within: Expr) -> Expr:
        if self.along:
            return block * LitU32(BLOCK) + within
        group, number = block // LitU32(_WORDS), block % LitU32(_WORDS)
        return group * LitU32(_WORDS * BLOCK) + within * LitU32(_WORDS) + number
