"""Automata for `match`: from a table of your own, or from words to be found."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.foreign import plain_array
from vyre.engines.dfa import MATCH, SYMBOLS
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

MOST_STATES = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Dfa:
    """`table[state * 256 + byte]` is the next state, with the highest bit set where a match ends."""

    table: NDArray[np.uint32]

    @property
    def states(self) -> int:
        return self.table.size // SYMBOLS

    @classmethod
    def of(cls, next_state: Any, accepting: Collection[int]) -> Dfa:
        """An automaton that starts in state 0; `next_state` has one row of 256 for each state."""
        given = isinstance(next_state, np.ndarray)
        rows: NDArray[Any] = plain_array("the table", next_state) if given else np.asarray(next_state)
        if rows.ndim != 2 or rows.shape[1] != SYMBOLS or not 1 <= rows.shape[0] <= MOST_STATES:
            raise VyreError(
                f"a table of shape {rows.shape} is not an automaton over bytes.",
                fix="pass one row of 256 next states for each state.",
            )
        if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= rows.shape[0]:
            raise VyreError("the table leads to a state it does not have.", fix="use states 0 to rows - 1.")
        if any(not 0 <= s < rows.shape[0] for s in accepting):
            raise VyreError("an accepting state has no row.", fix="name states of the table.")
        ends = np.isin(rows, np.array(sorted(accepting), rows.dtype))
        return cls(
            rows.astype(np.uint32).reshape(-1) | (ends.reshape(-1).astype(np.uint32) * np.uint32(MATCH))
        )

    @classmethod
    def finding(cls, words: Iterable[bytes]) -> Dfa:
        """Finds every place where one of the words ends, overlapping ones too."""
        rows: list[dict[int, int]] = [{}]
        accepting: set[int] = set()
        if isinstance(words, (bytes, str)):
            raise VyreError(
                f"words is {type(words).__name__}, not a list.", fix="pass a list of words: [b'…']."
            )
        for word in words:
            if not isinstance(word, (bytes, bytearray, memoryview)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise VyreError(f"a word is {type(word).__name__}, not bytes.", fix="write it as b'…'.")
            if not word:
                raise VyreError("the empty word ends everywhere.", fix="leave it out.")
            state = 0
            for byte in word:
                if byte not in rows[state]:
                    rows[state][byte] = len(rows)
                    rows.append({})
                state = rows[state][byte]
            accepting.add(state)
        table = np.zeros((len(rows), SYMBOLS), np.uint32)
        queue = deque([(0, 0)])
        while queue:
            state, fallback = queue.popleft()
            if fallback in accepting:
                accepting.add(state)
            table[state] = table[fallback] if state else 0
            for byte, target in rows[state].items():
                queue.append((target, int(table[fallback][byte]) if state else 0))
                table[state, byte] = target
        return cls.of(table, accepting)
