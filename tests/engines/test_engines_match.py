"""`match` over several parts of a text: states that meet before a part, and states that never do."""

from __future__ import annotations

import numpy as np
import pytest

from vyre import engines
from vyre.engines import Dfa, Shape
from vyre.engines.dfa import WORDS
from vyre.errors import DispatchError

PART = 4 * WORDS
rng = np.random.default_rng(3)


def permuting(states: int) -> Dfa:
    """Every byte permutes the states: no two of them ever meet."""
    rows = np.stack([rng.permutation(states) for _ in range(256)], axis=1)
    return Dfa.of(rows, [0])


def late() -> Dfa:
    """State 1 is left by the byte 9 alone, so that it depends on the text whether the states meet."""
    rows = np.zeros((3, 256), np.uint32)
    rows[0, 7], rows[1], rows[1, 9], rows[2] = 1, 1, 2, 0
    return Dfa.of(rows, [1, 2])


def ends(text: np.ndarray[tuple[int], np.dtype[np.uint8]], dfa: Dfa) -> list[int]:
    table, state, found = dfa.table.tolist(), 0, list[int]()
    for place, byte in enumerate(text.tolist()):
        entry = table[state * 256 + byte]
        state = entry & 0x7FFF_FFFF
        if entry >> 31:
            found.append(place)
    return found


@pytest.mark.parametrize("size", [PART - 1, PART, PART + 1, 3 * PART + 5])
@pytest.mark.parametrize("shape", [Shape(32, 2), Shape(8, 1, row=2, reverse=True)], ids=["wide", "narrow"])
def test_parts_go_on_where_the_ones_before_end(size: int, shape: Shape) -> None:
    text = rng.integers(0, 16, size, dtype=np.uint8)
    for dfa in (permuting(5), late(), Dfa.finding([bytes([1, 2]), bytes([2, 3, 4])])):
        assert engines.match(text, dfa, backend="cpu", shape=shape).tolist() == ends(text, dfa)


def test_a_state_that_is_kept_over_many_parts_is_not_lost() -> None:
    text = np.zeros(70 * PART, np.uint8)
    text[5], text[-3] = 7, 9
    assert engines.match(text, late(), backend="cpu").tolist() == list(range(5, text.size - 2))


def test_what_is_not_an_automaton_is_refused() -> None:
    with pytest.raises(DispatchError, match=r"dfa is bytes, not a Dfa\. Fix: pass Dfa\.finding"):
        engines.match(b"banana", b"an", backend="cpu")  # pyright: ignore[reportArgumentType]
