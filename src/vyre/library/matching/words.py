"""Many words found at once by the automaton of Aho and Corasick.

Its state depends on no more bytes than the longest word has. So each part of a text begins that many bytes
early, in the first state, and needs to know nothing of the parts before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, Out, engines, packed_bytes, u32
from vyre.errors import DispatchError, VyreError, boundary
from vyre.library.matching.walking import host
from vyre.library.messages import grid, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Numbers = NDArray[np.uint32]

MOST_STATES = 1 << 22
MOST_FOUND = 1 << 30
_PART = 256


@vyre.kernel
def _counted(
    data: In[packed_bytes],
    table: In[u32],
    lists: In[u32],
    out: Out[u32],
    size: u32,
    part_size: u32,
    early: u32,
) -> None:
    """How many words end in each part; parts, and how early they begin, are whole words of four bytes."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    start = i * part_size
    state, found = u32(0), u32(0)
    for w in range((start - min(early, start)) // 4, (min(start + part_size, size) + 3) // 4):
        word = data[w]
        for b in range(4):
            entry = table[state * 256 + (word & 255)]
            word = word >> 8
            state = entry & 0x7FFFFFFF
            place = u32(w) * 4 + u32(b)
            if entry != state and place >= start and place < size:
                found += lists[state + 1] - lists[state]
    out[i] = found


@vyre.kernel
def _written(
    data: In[packed_bytes],
    table: In[u32],
    lists: In[u32],
    members: In[u32],
    lengths: In[u32],
    ends: In[u32],
    spans: Out[u32],
    ids: Out[u32],
    size: u32,
    part_size: u32,
    early: u32,
) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(ends):
        return
    at = ends[i - 1] if i > 0 else u32(0)
    if at == ends[i]:
        return
    start = i * part_size
    state = u32(0)
    for w in range((start - min(early, start)) // 4, (min(start + part_size, size) + 3) // 4):
        word = data[w]
        for b in range(4):
            entry = table[state * 256 + (word & 255)]
            word = word >> 8
            state = entry & 0x7FFFFFFF
            place = u32(w) * 4 + u32(b)
            if entry != state and place >= start and place < size:
                for m in range(lists[state], lists[state + 1]):
                    member = members[m]
                    spans[2 * at] = place + 1 - lengths[member]
                    spans[2 * at + 1] = place + 1
                    ids[at] = member
                    at += 1


class Words:
    """Words to be found; the place of a word in `words` is its id. A word that is given twice has two ids."""

    @boundary
    def __init__(self, words: Iterable[bytes]) -> None:
        if isinstance(words, (bytes, str)) or not isinstance(words, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise VyreError(
                f"words is {type(words).__name__}, not a list.", fix="pass a list of words: [b'…']."
            )
        self.words = tuple(words)
        for place, word in enumerate(self.words):
            if not isinstance(word, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise VyreError(f"words[{place}] is {type(word).__name__}, not bytes.", fix="encode it.")
            if not word:
                raise VyreError(f"words[{place}] is empty: it ends everywhere.", fix="leave it out.")
        self._longest = max(map(len, self.words), default=0)
        self._lengths = np.array([*map(len, self.words), 0], np.uint32)
        self._table, self._lists, self._members = _automaton(self.words)

    @property
    def states(self) -> int:
        return self._table.size // 256

    @boundary
    def find(self, data: Any, *, backend: str | Backend | None = None) -> tuple[Numbers, Numbers]:
        """Where each occurrence begins and ends, a row each, and the id of its word.

        In the order of their ends; of those that end together the longest comes first, of equal words the one
        with the smaller id. Overlapping ones are all found.
        """
        given, backend = words_of(data, "data", backend)
        size, early = given.size, -(-max(self._longest - 1, 0) // 4) * 4
        part = max(_PART, 1 << (4 * early).bit_length())
        parts = -(-size // part)
        if not size or not self.words:
            return np.zeros((0, 2), np.uint32), np.zeros(0, np.uint32)
        automaton = (given, self._table, self._lists)
        counts = _counted(*automaton, parts, size, part, early, workgroups=grid(parts), backend=backend)
        ends = engines.scan(counts, backend=backend)
        total = int(host(counts).sum(dtype=np.uint64))
        if total > MOST_FOUND:
            raise DispatchError(
                f"the words are found {total} times, and one call gives {MOST_FOUND}.",
                fix="search for fewer words, or in parts of the data.",
            )
        if not total:
            return np.zeros((0, 2), np.uint32), np.zeros(0, np.uint32)
        spans, ids = _written(
            *automaton, self._members, self._lengths, ends, 2 * total, total, size, part, early,
            workgroups=grid(parts), backend=backend,
        )  # fmt: skip
        return host(spans).reshape(total, 2), host(ids)


def _automaton(words: tuple[bytes, ...]) -> tuple[Numbers, Numbers, Numbers]:
    """The next states; where the list of the words that end in each state begins; and all lists.

    The highest bit of a next state says that its list has words.
    """
    branches: list[dict[int, int]] = [{}]
    ending: list[list[int]] = [[]]
    for number, word in enumerate(words):
        state = 0
        for byte in word:
            if byte not in branches[state]:
                branches[state][byte] = len(branches)
                branches.append({})
                ending.append([])
            state = branches[state][byte]
        ending[state].append(number)
        if len(branches) > MOST_STATES:
            raise VyreError(
                f"the words need more than {MOST_STATES} states.", fix="search for them in several groups."
            )
    table = np.zeros((len(branches), 256), np.uint32)
    queue = [(0, 0)]
    for state, shorter in queue:
        if state:
            ending[state] += ending[shorter]
            table[state] = table[shorter]
        for byte, target in branches[state].items():
            queue.append((target, int(table[shorter, byte]) if state else 0))
            table[state, byte] = target
    lists = np.zeros(len(branches) + 1, np.uint32)
    np.cumsum([len(found) for found in ending], out=lists[1:])
    members = np.array([number for found in ending for number in found] or [0], np.uint32)
    marked = (np.diff(lists) != 0).astype(np.uint32) << np.uint32(31)
    return (table | marked[table]).reshape(-1), lists, members
