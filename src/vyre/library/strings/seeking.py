"""A word in a text, as the methods of `bytes` find it: from the left, and no two overlap."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u8, u32
from vyre.errors import DispatchError, boundary
from vyre.library.matching.regex import Regex
from vyre.library.matching.walking import host
from vyre.library.matching.words import Words
from vyre.library.messages import MOST_BYTES, grid, plain_bytes, words_of
from vyre.library.reading import byte_at, owner, run_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Numbers = NDArray[np.uint32]

_BREAK = rb"\r\n|\r|\n"
_SHORT = 64
"""Bytes of a word that may overlap itself and is found as an expression: the time to make that grows with
their square."""


@vyre.kernel
def _replaced(
    data: In[packed_bytes],
    new: In[packed_bytes],
    starts: In[u32],
    out: Out[u8],
    size: u32,
    growth: u32,
    each: u32,
) -> None:
    """Part m of the result begins at `starts[m]`: with the new word, but for part 0."""
    first = (vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)) * each
    if first >= len(out):
        return
    part = owner(starts, first)
    for i in range(first, min(first + each, len(out))):
        while vyre.bounded(i >= starts[part + 1], 0xFFFFFFFF):
            part += 1
        inside = i - starts[part]
        out[i] = byte_at(new, inside) if part > 0 and inside < size else byte_at(data, i - part * growth)


@lru_cache(maxsize=16)
def _words(word: bytes) -> Words:
    return Words([word])


@lru_cache(maxsize=16)
def _regex(pattern: bytes) -> Regex:
    return Regex(pattern)


def _checked(word: bytes) -> bytes:
    word = plain_bytes("the word", word)
    if not word:
        raise DispatchError("the word is empty: it is everywhere.", fix="look for one byte or more.")
    return word


@boundary
def find_all(data: Any, word: bytes, *, backend: str | Backend | None = None) -> Numbers:
    """Where each occurrence begins, from the left; none overlaps the one before."""
    word = _checked(word)
    if len(word) <= _SHORT and any(word.endswith(word[:k]) for k in range(1, len(word))):
        return _regex(re.escape(word)).spans(data, backend=backend)[:, 0]
    return _apart(_words(word).find(data, backend=backend)[0][:, 0], len(word))


def _apart(starts: Numbers, size: int) -> Numbers:
    """The first place, and each next one that is at least `size` behind the last."""
    if len(starts) < 2 or int(np.diff(starts).min()) >= size:
        return starts
    following = np.searchsorted(starts, starts.astype(np.int64) + size)
    kept: list[int] = []
    place = 0
    while place < len(starts):
        kept.append(place)
        place = int(following[place])
    return starts[kept]


@boundary
def find(data: Any, word: bytes, *, backend: str | Backend | None = None) -> int:
    """Where the first occurrence begins, or -1."""
    found = _words(_checked(word)).find(data, backend=backend)[0]
    return int(found[0, 0]) if len(found) else -1


@boundary
def count(data: Any, word: bytes, *, backend: str | Backend | None = None) -> int:
    """How many occurrences do not overlap."""
    return len(find_all(data, word, backend=backend))


@boundary
def replace(data: Any, old: bytes, new: bytes, *, backend: str | Backend | None = None) -> NDArray[np.uint8]:
    """The text with `new` for each occurrence of `old`."""
    new = plain_bytes("new", new)
    given, backend = words_of(data, "data", backend)
    found = find_all(given, old, backend=backend).astype(np.int64)
    growth = len(new) - len(old)
    size = given.size + len(found) * growth
    if size > MOST_BYTES:
        raise DispatchError(
            f"the result would have {size} bytes, more than one call gives.",
            fix=f"replace in parts, of up to {MOST_BYTES}.",
        )
    if not size or not len(found):
        return np.array(host(given), np.uint8)[:size]
    starts = np.concatenate([[0], found + np.arange(len(found)) * growth, [size]]).astype(np.uint32)
    each = run_of(backend)
    made = _replaced(
        given, np.frombuffer(new or b"\0", np.uint8), starts, np.zeros(size, np.uint8), len(new),
        growth & 0xFFFFFFFF, each, workgroups=grid(-(-size // each)), backend=backend,
    )  # fmt: skip
    return host(made).view(np.uint8)


@boundary
def split(data: Any, separator: bytes, *, backend: str | Backend | None = None) -> Numbers:
    """Where each part between separators begins and ends, a row each: the parts of `bytes.split`."""
    given, backend = words_of(data, "data", backend)
    starts = find_all(given, separator, backend=backend)
    return _between(starts, starts + np.uint32(len(separator)), given.size)


@boundary
def lines(data: Any, *, backend: str | Backend | None = None) -> Numbers:
    """Where each line begins and ends, without its break, a row each: the lines of `bytes.splitlines`."""
    given, backend = words_of(data, "data", backend)
    breaks = _regex(_BREAK).spans(given, backend=backend)
    found = _between(breaks[:, 0], breaks[:, 1], given.size)
    return found[:-1] if found[-1, 0] == given.size else found


def _between(starts: Numbers, ends: Numbers, size: int) -> Numbers:
    first, last = np.zeros(1, np.uint32), np.array([size], np.uint32)
    return np.stack([np.concatenate([first, ends]), np.concatenate([starts, last])], axis=1)
