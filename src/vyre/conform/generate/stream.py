"""`CaseStream`: cases by index, made in blocks, never held.

    stream.length               how many there are; None where they do not end
    stream.block(start, count)  one uint32 array per operand word
    stream.case(k)              one case, as integers
    stream.statements(...)      the same cases as IR, for a device that makes its own inputs
    stream.undone(...)          the number of a case from one of its words, as IR, where a stream has it

A stream is a pure function of (kind, spec, seed): shards, resume and replay of case k all follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError
from vyre.semantics.arrays import NUMPY, Words
from vyre.semantics.domain import CONCRETE
from vyre.semantics.emitted import IrDomain
from vyre.semantics.words import fit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from vyre.ir.expr import Expr
    from vyre.ir.node import Let

_PIECE = 1 << 14  # words that stay in cache through all the steps of a generator
_WORD = 1 << 32

Maker = Callable[[Any, Any, Any], tuple[Any, ...]]
"""(domain, low, high) to the words of the case whose index is high * 2^32 + low."""

Undo = Callable[[Any, int, Any, Any], Any]
"""(domain, position, word, high) to `low` of the only case whose word at the position that is, unmasked."""


@dataclass(frozen=True, slots=True)
class CaseStream:
    """`make` computes a case from its index; `tables` look it up instead, last operand fastest."""

    kind: str
    masks: tuple[int, ...]
    seed: int = 0
    length: int | None = None
    make: Maker | None = None
    tables: tuple[tuple[int, ...], ...] = ()
    undo: Undo | None = None

    @property
    def words(self) -> int:
        return len(self.masks)

    @property
    def on_device(self) -> bool:
        """Whether `statements` can make the cases where they are used."""
        return self.make is not None

    def can_undo(self, positions: Iterable[int]) -> bool:
        """Whether each of these words alone says which case it belongs to."""
        return self.undo is not None and all(self.masks[p] == _WORD - 1 for p in positions)

    def block(self, start: int, count: int) -> tuple[Words, ...]:
        """Cases start to start + count - 1, one array per operand word."""
        self._check(start, count)
        out = tuple(np.empty(count, np.uint32) for _ in self.masks)
        at = 0
        while at < count:
            low = (start + at) % _WORD
            step = min(_PIECE, count - at, _WORD - low)
            for column, made in zip(out, self._piece((start + at) // _WORD, low, step), strict=True):
                column[at : at + step] = made
            at += step
        return out

    def _piece(self, high: int, low: int, count: int) -> tuple[Words, ...]:
        if self.make is None:
            return self._looked_up(high * _WORD + low, count)
        lows = np.arange(low, low + count, dtype=np.uint64).astype(np.uint32)
        made = self.make(NUMPY, lows, NUMPY.const(high))
        return tuple(fit(NUMPY, w, m) for w, m in zip(made, self.masks, strict=True))

    def _looked_up(self, start: int, count: int) -> tuple[Words, ...]:
        index = np.arange(start, start + count, dtype=np.uint64)
        columns: list[Words] = []
        for table in reversed(self.tables):
            size = np.uint64(len(table))
            columns.append(np.asarray(table, np.uint32)[index % size])
            index = index // size
        return tuple(reversed(columns))

    def at(self, numbers: NDArray[np.uint64]) -> tuple[Words, ...]:
        """The cases of these numbers, one array per operand word."""
        if self.make is None:
            found = [self.case(int(k)) for k in numbers]
            return tuple(np.array(column, np.uint32) for column in zip(*found, strict=True))
        low = (numbers & np.uint64(_WORD - 1)).astype(np.uint32)
        made = self.make(NUMPY, low, (numbers >> np.uint64(32)).astype(np.uint32))
        return tuple(fit(NUMPY, w, m) for w, m in zip(made, self.masks, strict=True))

    def case(self, k: int) -> tuple[int, ...]:
        """Case k on plain integers."""
        self._check(k, 1)
        if self.make is None:
            return tuple(int(column[0]) for column in self._looked_up(k, 1))
        made = self.make(CONCRETE, k % _WORD, k // _WORD)
        return tuple(fit(CONCRETE, w, m) for w, m in zip(made, self.masks, strict=True))

    def statements(self, low: Expr, high: Expr, *, prefix: str = "w") -> tuple[list[Let], tuple[Expr, ...]]:
        """The case of a counter as statements and one expression per operand word."""
        if self.make is None:
            raise VyreError(
                f"the cases of {self.kind} come from a table.", fix="make them on the host with block()."
            )
        d = IrDomain(prefix=prefix)
        made = self.make(d, low, high)
        return d.lets, tuple(fit(d, w, m) for w, m in zip(made, self.masks, strict=True))

    def undone(self, position: int, word: Expr, high: Expr, *, prefix: str) -> tuple[list[Let], Expr]:
        """The lower half of the number of a case, from one whole word of it: statements and an expression."""
        assert self.undo is not None
        d = IrDomain(prefix=prefix)
        low = self.undo(d, position, word, high)
        return d.lets, low

    def _check(self, start: int, count: int) -> None:
        end = 1 << 64 if self.length is None else self.length
        if start < 0 or count < 0 or start + count > end:
            raise VyreError(
                f"cases {start} to {start + count} of {self.kind} do not exist; there are {end}.",
                fix="stay within `stream.length`.",
            )
