"""Inputs that a backend made, held against the host's as a whole.

    held = HostInputs()
    held.mistake(stream, {0: words, 1: words}, start)       None, or the first word that is another

The host makes every piece of a stream once and keeps its digest. Ops and laws that are tried on the same
stream compare theirs with it, which is several times faster than to make the words again. So one input that a
backend makes wrong, or easier, is found wherever it is. The words are looked at after they were used: what
the backend changed in them is found as well.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from vyre.conform.generate.stream import CaseStream

    Words = NDArray[np.uint32]
    Key = tuple[object, ...]

PIECE = 1 << 18
"""Cases of one digest."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A word of a case that a backend made otherwise than the host; `count` of them in the same piece."""

    case: int
    position: int
    found: int
    wanted: int
    count: int


class HostInputs:
    """Digests of what the host makes, by stream, word and piece."""

    def __init__(self) -> None:
        self._digests: dict[Key, bytes] = {}
        self._lock = Lock()

    def mistake(self, stream: CaseStream, words: Mapping[int, Words], start: int) -> Mistake | None:
        """The first of these words, by position, from case `start` on, that the host makes otherwise."""
        count = len(next(iter(words.values())))
        for lo, hi in _pieces(start, start + count):
            part = {p: w[lo - start : hi - start] for p, w in words.items()}
            found = self._in_piece(stream, part, lo, hi)
            if found is not None:
                return found
        return None

    def _in_piece(self, stream: CaseStream, words: Mapping[int, Words], lo: int, hi: int) -> Mistake | None:
        keys = {p: _key(stream, p, lo, hi) for p in words}
        with self._lock:
            known = {p: self._digests.get(key) for p, key in keys.items() if key is not None}
        if None not in (known.get(p) for p in words) and _as_known(known, words):
            return None
        made = stream.block(lo, hi - lo)
        with self._lock:
            self._digests.update({key: _digest(made[p]) for p, key in keys.items() if key is not None})
        return _first({p: (w, made[p]) for p, w in words.items()}, lo)


def _as_known(known: Mapping[int, bytes | None], words: Mapping[int, Words]) -> bool:
    return all(known[p] == _digest(w) for p, w in words.items())


def _pieces(lo: int, hi: int) -> Iterator[tuple[int, int]]:
    """The range cut at multiples of `PIECE`."""
    at = lo
    while at < hi:
        end = min(hi, (at // PIECE + 1) * PIECE)
        yield at, end
        at = end


def _key(stream: CaseStream, position: int, lo: int, hi: int) -> Key | None:
    """What decides the words of a piece; None for streams that are not told apart by it."""
    mask = stream.masks[position]
    match stream.kind:
        case "random":  # each word has a generator of its own
            return "random", stream.seed, position, mask, lo, hi
        case "exhaustive":
            return "exhaustive", stream.length, stream.words, position, mask, lo, hi
        case _:
            return None


def _digest(words: Words) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(words).view(np.uint8).data).digest()


def _first(pairs: Mapping[int, tuple[Words, Words]], start: int) -> Mistake | None:
    wrong = {p: np.flatnonzero(found != wanted) for p, (found, wanted) in pairs.items()}
    count = sum(len(places) for places in wrong.values())
    if not count:
        return None
    position = min((p for p in wrong if len(wrong[p])), key=lambda p: (int(wrong[p][0]), p))
    at = int(wrong[position][0])
    found, wanted = pairs[position]
    return Mistake(start + at, position, int(found[at]), int(wanted[at]), count)
