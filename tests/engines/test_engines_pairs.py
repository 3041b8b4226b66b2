"""What belongs element by element is counted by elements, of arrays of any number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre.errors import DispatchError, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable

FLAT = np.array([5, 3, 4, 0, 2, 1], np.uint32)
SQUARE = FLAT.reshape(2, 3)
TWO = np.array([1, 0], np.uint32)
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "compact": engines.compact,
    "partition": engines.partition,
    "sort_pairs": engines.sort_pairs,
    "reduce_by_key": engines.reduce_by_key,
    "heads": lambda x, y: engines.scan(x, heads=y),
    "scatter": lambda x, y: engines.scatter(x, y, FLAT),
}


@pytest.mark.parametrize("name", CALLS)
def test_rows_are_not_elements(name: str) -> None:
    call = CALLS[name]
    with pytest.raises(DispatchError, match=r"pass one .*for each"):
        call(SQUARE, TWO)
    with pytest.raises(DispatchError, match=r"pass one .*for each"):
        call(TWO, SQUARE)
    with pytest.raises(DispatchError, match="not an array"):
        call(FLAT, 5)


def test_rows_on_a_device_are_not_elements() -> None:
    square, two = (vyre.to_device(array, backend="cpu") for array in (SQUARE, TWO))
    with pytest.raises(DispatchError, match="got 2 flags for 6 elements"):
        engines.compact(square, two)


@pytest.mark.parametrize("name", CALLS)
def test_several_dimensions_are_taken_flat(name: str) -> None:
    call = CALLS[name]
    for one, other in zip(_parts(call(SQUARE, SQUARE)), _parts(call(FLAT, FLAT)), strict=True):
        assert np.array_equal(one, other)


def _parts(found: Any) -> list[Any]:
    return list(cast("tuple[Any, ...]", found)) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("words", [b"ab", "ab", ["ab"], [5]], ids=repr)
def test_words_of_an_automaton_are_bytes(words: Any) -> None:
    with pytest.raises(VyreError, match=r"is (bytes|str|int), not"):
        engines.Dfa.finding(words)
