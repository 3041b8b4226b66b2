"""How many codes there are is guessed well enough, and wrongly guessed numbers change no result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from vyre.library.tables import distinct
from vyre.library.tables.distinct import groups_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 300_000


def spread(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Codes all over the 64 bits."""
    return numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def drawn(count: int) -> NDArray[np.uint64]:
    return spread(np.random.default_rng(count).integers(0, count, ROWS))


def skewed() -> NDArray[np.uint64]:
    """Nine rows in ten have one code, the others each its own."""
    rng = np.random.default_rng(3)
    return spread(np.where(rng.random(ROWS) < 0.9, 0, np.arange(ROWS)))


@pytest.mark.parametrize("count", [3_000, 20_000, 100_000])
@pytest.mark.parametrize("in_order", [False, True])
def test_the_number_of_codes_is_guessed_in_any_order(count: int, in_order: bool) -> None:
    codes = np.sort(drawn(count)) if in_order else drawn(count)
    guessed = distinct._guessed_count(codes)
    assert 0.75 * count < guessed < 1.5 * count


@pytest.mark.parametrize(
    "codes",
    [drawn(3_000), drawn(100_000), spread(np.arange(ROWS)), skewed()],
    ids=["few", "many", "all", "skewed"],
)
def test_groups_are_those_of_numpy(codes: NDArray[np.uint64]) -> None:
    found = groups_of(codes, "cpu")
    met, firsts, ids = np.unique(codes, return_index=True, return_inverse=True)
    assert found.count == len(met)
    assert (found.firsts == firsts).all()
    assert (found.ids == ids).all()


@pytest.mark.parametrize("guess", [1, 1 << 40])
def test_a_wrong_guess_changes_nothing(guess: int, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = drawn(30_000)
    expected = groups_of(codes, "cpu")

    def guessed(_codes: NDArray[np.uint64]) -> int:
        return guess

    monkeypatch.setattr(distinct, "_guessed_count", guessed)
    found = groups_of(codes, "cpu")
    assert (found.ids == expected.ids).all()
    assert (found.firsts == expected.firsts).all()
