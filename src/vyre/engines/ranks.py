"""Sorting a tile inside a workgroup by four bits at a time, stably, for programs of radix sorts.

Every invocation holds neighbouring keys and counts their digits in words of its own, two counts to a word.
The words of all invocations, digit by digit, are scanned; then a key's place is the scanned count of its
digit and invocation, and its rank among the keys of that invocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.engines.kernels import LOCAL, U32, upward
from vyre.engines.monoids import monoid
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32, Select, Var
from vyre.ir.node import Assign, Barrier, Let, Loop, Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.engines.plan import Shape
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.types import DataType

DIGIT_BITS = 4
_WORDS = 8
"""Words of counts an invocation: 16 digits, two to a word."""
_HALF = LitU32(0xFFFF)


def _padded(place: Expr) -> Expr:
    """Leaves a gap after 32 words, so that rows and columns both fall into different banks."""
    return place + (place >> LitU32(5))


def _room(count: int) -> int:
    return count + (count >> 5) + 1


@dataclass(frozen=True, slots=True)
class Ranks:
    """The memory of a workgroup that sorts a tile, and the statements that do it."""

    shape: Shape
    key: DataType
    payload: DataType | None

    @property
    def buffers(self) -> list[BufferDecl]:
        tile = self.shape.lanes * self.shape.items
        made = [
            BufferDecl.workgroup("tile_keys", self.key, _room(tile)),
            BufferDecl.workgroup("tile_counts", U32, _room(_WORDS * self.shape.lanes)),
            self._sums,
            BufferDecl.private("own_keys", self.key, self.shape.items),
            BufferDecl.private("own_ranks", U32, self.shape.items),
        ]
        if self.payload is not None:
            made.append(BufferDecl.workgroup("tile_payload", self.payload, _room(tile)))
            made.append(BufferDecl.private("own_payload", self.payload, self.shape.items))
        return made

    @property
    def _sums(self) -> BufferDecl:
        return BufferDecl.workgroup("tile_sums", U32, self.shape.lanes)

    @staticmethod
    def bytes(shape: Shape, key: DataType, payload: DataType | None) -> int:
        """Workgroup memory of all buffers."""
        return sum(b.count * b.element.stride for b in Ranks(shape, key, payload).buffers if b.access.shared)

    def put(self, place: Expr, key: Expr, payload: Expr | None) -> list[Node]:
        """A key and what goes with it, at a place of the tile."""
        put: list[Node] = [Store("tile_keys", _padded(place), key)]
        return put if payload is None else [*put, Store("tile_payload", _padded(place), payload)]

    def key_at(self, place: Expr) -> Expr:
        return self._buffer("tile_keys")[_padded(place)]

    def payload_at(self, place: Expr) -> Expr:
        return self._buffer("tile_payload")[_padded(place)]

    def _buffer(self, name: str) -> BufferDecl:
        return next(b for b in self.buffers if b.name == name)

    def round(self, digit: Callable[[Expr, Expr], Expr]) -> list[Node]:
        """Sorts the tile by `digit` of its keys and places; starts after a barrier, and ends with one."""
        lanes, items = self.shape.lanes, LitU32(self.shape.items)
        counts, k = self._buffer("tile_counts"), Var("k")
        key, old, word, side = Var("key"), Var("old"), Var("word"), Var("side")
        mine, ranks = self._buffer("own_keys"), self._buffer("own_ranks")
        given = LOCAL * items + k
        place = _padded(given)
        found: list[Node] = [
            Let("digit", digit(key, given)),
            Let("word", _padded((Var("digit") & LitU32(7)) * LitU32(lanes) + LOCAL)),
            Let("side", (Var("digit") >> LitU32(3)) << LitU32(4)),
            Let("old", counts[word]),
        ]
        counted: list[Node] = [
            Let("key", self._buffer("tile_keys")[place]),
            Store(mine.name, k, key),
            *found,
            Store(ranks.name, k, (old >> side) & _HALF),
            Store(counts.name, word, old + (LitU32(1) << side)),
        ]
        moved: list[Node] = [
            Let("key", mine[k]),
            *found,
            Let("place", ((old >> side) & _HALF) + ranks[k]),
        ]
        if self.payload is None:
            moved += self.put(Var("place"), key, None)
        else:
            counted.append(Store("own_payload", k, self._buffer("tile_payload")[place]))
            moved += self.put(Var("place"), key, self._buffer("own_payload")[k])
        cleared = Store(counts.name, _padded(Var("j") * LitU32(lanes) + LOCAL), LitU32(0))
        return [
            Loop("j", LitU32(0), LitU32(_WORDS), [cleared]),
            Loop("k", LitU32(0), items, counted),
            Barrier(),
            *self._scanned(),
            Barrier(),
            Loop("k", LitU32(0), items, moved),
            Barrier(),
        ]

    def _scanned(self) -> list[Node]:
        """The exclusive scan of all words of counts; the upper halves follow all lower ones."""
        counts, sums, lanes = self._buffer("tile_counts"), self._sums, self.shape.lanes
        place = _padded(LOCAL * LitU32(_WORDS) + Var("m"))
        total, running, mine = Var("total"), Var("running"), Var("mine")
        before = Select(LitU32(0) < LOCAL, sums[LOCAL - LitU32(1)], LitU32(0))
        shifted: list[Node] = [
            Let("mine", counts[place]),
            Store(counts.name, place, running),
            Assign("running", running + mine),
        ]
        every = (LitU32(0), LitU32(_WORDS))
        return [
            Let("total", LitU32(0)),
            Loop("m", *every, [Assign("total", total + counts[place])]),
            Store(sums.name, LOCAL, total),
            *upward(monoid("add"), sums, lanes),
            Let("running", before + (sums[LitU32(lanes - 1)] << LitU32(16))),
            Loop("m", *every, shifted),
        ]
