"""Automata over bytes: how fast a text goes through them.

python benchmarks/matching.py [--backend cpu] [--length 1048576] [--rounds 3]

Each is checked first against a plain automaton, `re` or `bytes.find` on the beginning of the text. The text
lies on the device where there is one; results come back to the host. The best of several calls counts.
"""

from __future__ import annotations

import argparse
import re
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import engines
from vyre.engines import Dfa
from vyre.library.matching import Regex, Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LETTERS = b"etaoinshrdlucmfwypvbgkjqxz    "
CHECKED = 1 << 18
STATES = 64


def drawn_text(count: int) -> NDArray[np.uint8]:
    """Letters and spaces, the same for every length."""
    rng = np.random.default_rng(5)
    block = np.frombuffer(LETTERS, np.uint8)[rng.integers(0, len(LETTERS), min(count, 1 << 24))]
    return np.tile(block, -(-count // block.size))[:count]


def drawn_words(count: int, longest: int) -> list[bytes]:
    rng = np.random.default_rng(7)
    letters = np.frombuffer(LETTERS[:26], np.uint8)
    found: set[bytes] = set()
    while len(found) < count:
        found.add(letters[rng.integers(0, 26, int(rng.integers(4, longest + 1)))].tobytes())
    return sorted(found)


def converging() -> Dfa:
    """Finds a few words: after as many bytes as the longest has, the state before them is forgotten."""
    chosen: list[bytes] = []
    for word in drawn_words(64, 8):
        if Dfa.finding([*chosen, word]).states <= STATES:
            chosen.append(word)
    return Dfa.finding(chosen)


def permuting() -> Dfa:
    """Every byte permutes the states, so that none is ever forgotten."""
    rng = np.random.default_rng(9)
    rows = np.stack([rng.permutation(STATES) for _ in range(256)], axis=1)
    ends = Dfa.of(rows, [0]).table.copy()
    ends[np.arange(ends.size) % 256 != ord("z")] &= np.uint32(0x7FFF_FFFF)
    return Dfa(ends)


def plain_ends(text: bytes, dfa: Dfa) -> list[int]:
    state, table, found = 0, dfa.table.tolist(), list[int]()
    for place, byte in enumerate(text):
        entry = table[state * 256 + byte]
        state = entry & 0x7FFF_FFFF
        if entry >> 31:
            found.append(place)
    return found


def every_place(text: bytes, words: list[bytes]) -> list[tuple[int, int, int]]:
    """End, begin and id of every occurrence."""
    found: list[tuple[int, int, int]] = []
    for number, word in enumerate(words):
        place = text.find(word)
        while place >= 0:
            found.append((place + len(word), place, number))
            place = text.find(word, place + 1)
    return sorted(found)


def timed(name: str, size: int, call: Callable[[], Any], rounds: int) -> None:
    call()
    best, found = float("inf"), 0
    for _ in range(rounds):
        started = time.perf_counter()
        found = len(call())
        best = min(best, time.perf_counter() - started)
    print(f"{name:32} {best * 1e3:9.2f} ms {size / best / 1e9:9.2f} GB/s {found:9} found", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--length", type=int, default=1 << 20)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    backend, size = given.backend, given.length
    text = drawn_text(size)
    start = text[: min(size, CHECKED)].tobytes()
    held: Any = text if backend == "cpu" else vyre.to_device(text, backend=backend)
    for name, dfa in (("DFA, converging", converging()), ("DFA, permuting", permuting())):
        ends = partial(engines.match, held, dfa, backend=backend)
        found = ends()
        assert found[found < len(start)].tolist() == plain_ends(start, dfa), name
        timed(f"{name}, {dfa.states} states", size, ends, given.rounds)
    words = drawn_words(1000, 12)
    searched = Words(words)
    spans, ids = searched.find(held, backend=backend)
    chosen = spans[:, 1] <= len(start)
    rows = [(e, b, i) for (b, e), i in zip(spans[chosen].tolist(), ids[chosen].tolist(), strict=True)]
    assert rows == every_place(start, words), "words"
    timed(
        f"1,000 words, {searched.states} states",
        size,
        lambda: searched.find(held, backend=backend)[1],
        given.rounds,
    )
    pattern = rb"\b[a-f]+(ing|ed)\b"
    expression = Regex(pattern)
    found = expression.spans(held, backend=backend)
    inner = [match.span() for match in re.finditer(pattern, start)]
    sure = len(start) - 64
    assert [r for r in map(tuple, found.tolist()) if r[1] < sure] == [r for r in inner if r[1] < sure]
    timed("expression, leftmost first", size, lambda: expression.spans(held, backend=backend), given.rounds)


if __name__ == "__main__":
    main()
