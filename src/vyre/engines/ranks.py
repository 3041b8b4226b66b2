"""Sorting a tile inside a workgroup by four bits at a time, stably, for programs of radix sorts.

Every invocation holds up to 16 neighbouring keys and counts their digits in two words of eight counts each.
These are spread over words of the workgroup, two counts to a word; the words of all invocations, digit by
digit, are scanned. A key's place is then the scanned count of its digit and invocation, and its rank among
the keys of that invocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.engines.kernels import LOCAL, U32, ahead, padded, padded_own, padded_room, padded_row, row_sums
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
MOST_ITEMS = 16
"""Keys of an invocation: ranks of four bits tell them apart."""
_ADD = monoid("add")


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
            BufferDecl.workgroup("tile_keys", self.key, padded_room(tile)),
            BufferDecl.workgroup("tile_counts", U32, padded_room(_WORDS * self.shape.lanes)),
            BufferDecl.workgroup("tile_sums", U32, self.shape.lanes),
            row_sums(_ADD, self.shape.lanes),
            BufferDecl.private("own_keys", self.key, self.shape.items),
            BufferDecl.private("own_ranks", U32, self.shape.items),
        ]
        if self.payload is not None:
            made.append(BufferDecl.workgroup("tile_payload", self.payload, padded_room(tile)))
            made.append(BufferDecl.private("own_payload", self.payload, self.shape.items))
        return made

    @staticmethod
    def bytes(shape: Shape, key: DataType, payload: DataType | None) -> int:
        """Workgroup memory of all buffers."""
        return sum(b.count * b.element.stride for b in Ranks(shape, key, payload).buffers if b.access.shared)

    def put(self, place: Expr, key: Expr, payload: Expr | None) -> list[Node]:
        """A key and what goes with it, at a padded place of the tile."""
        put: list[Node] = [Store("tile_keys", place, key)]
        return put if payload is None else [*put, Store("tile_payload", place, payload)]

    def key_at(self, place: Expr) -> Expr:
        return self._buffer("tile_keys")[place]

    def payload_at(self, place: Expr) -> Expr:
        return self._buffer("tile_payload")[place]

    def _buffer(self, name: str) -> BufferDecl:
        return next(b for b in self.buffers if b.name == name)

    def round(self, digit: Callable[[Expr, Expr], Expr]) -> list[Node]:
        """Sorts the tile by `digit` of its keys and places; starts after a barrier, and ends with one."""
        lanes, items = self.shape.lanes, self.shape.items
        counts, k = self._buffer("tile_counts"), Var("k")
        key, word, side, shift = Var("key"), Var("word"), Var("side"), Var("shift")
        mine, ranks = self._buffer("own_keys"), self._buffer("own_ranks")
        given = LOCAL * LitU32(items) + k
        place = padded_own(items, k)
        low, high, low_word, one = Var("low"), Var("high"), Var("side").eq(0), Var("one")
        # The last key is not counted here, so that sixteen equal ones do not overflow four bits.
        counted: list[Node] = [
            Let("key", self._buffer("tile_keys")[place]),
            Store(mine.name, k, key),
            Let("digit", digit(key, given)),
            Assign("word", padded_row(Var("digit") & LitU32(7), lanes)),
            Assign("side", (Var("digit") << LitU32(1)) & LitU32(16)),
            Let("shift", (Var("digit") & LitU32(7)) << LitU32(2)),
            Let("rank", (Select(low_word, low, high) >> shift) & LitU32(15)),
            Store(ranks.name, k, (word << LitU32(8)) | side | Var("rank")),
            Let("one", Select(k < LitU32(items - 1), LitU32(1), LitU32(0)) << shift),
            Assign("low", low + Select(low_word, one, LitU32(0))),
            Assign("high", high + Select(low_word, LitU32(0), one)),
        ]
        pairs = [
            ((low >> LitU32(4 * n)) & LitU32(15)) | (((high >> LitU32(4 * n)) & LitU32(15)) << LitU32(16))
            for n in range(_WORDS)
        ]
        spread = [Store(counts.name, padded_row(LitU32(n), lanes), pair) for n, pair in enumerate(pairs)]
        own = Var("own")
        moved: list[Node] = [
            Let("own", ranks[k]),
            Let("start", counts[own >> LitU32(8)] >> (own & LitU32(16))),
            Let("place", (Var("start") & _HALF) + (own & LitU32(15))),
        ]
        if self.payload is None:
            moved += self.put(padded(Var("place")), mine[k], None)
        else:
            counted.append(Store("own_payload", k, self._buffer("tile_payload")[place]))
            moved += self.put(padded(Var("place")), mine[k], self._buffer("own_payload")[k])
        every = (LitU32(0), LitU32(items))
        return [
            *(Let(name, LitU32(0)) for name in ("low", "high", "word", "side")),
            Loop("k", *every, counted),
            *spread,
            Store(counts.name, word, counts[word] + (LitU32(1) << side)),
            Barrier(),
            *self._scanned(),
            Barrier(),
            Loop("k", *every, moved),
            Barrier(),
        ]

    def _scanned(self) -> list[Node]:
        """The exclusive scan of all words of counts; the upper halves follow all lower ones."""
        counts, sums = self._buffer("tile_counts"), self._buffer("tile_sums")
        place = padded_own(_WORDS, Var("m"))
        total, running, mine = Var("total"), Var("running"), Var("mine")
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
            *ahead(_ADD, sums, self.shape.lanes),
            Assign("running", running + (Var("all") << LitU32(16))),
            Loop("m", *every, shifted),
        ]
