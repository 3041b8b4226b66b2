"""Counterexamples get as small as they can, over all operands together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from vyre.conform.generate.shrink import Fails, shrink, weight
from vyre.errors import VyreError

if TYPE_CHECKING:
    from vyre.semantics.arrays import Words


def where(test: str) -> Fails:
    """A fault at the operands a, b, c that satisfy a Python expression."""

    def fails(columns: tuple[Words, ...]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        names = dict(zip("abc", (c.astype(np.uint64) for c in columns), strict=False))
        return np.broadcast_to(eval(test, {"np": np}, names), len(columns[0])).astype(np.bool_)

    return fails


@pytest.mark.parametrize(
    ("fault", "start", "smallest"),
    [
        ("a >= 1 << 31", (0xDEAD_BEEF,), (1 << 31,)),
        ("a > 1000", (0xFFFF_FFFF,), (1001,)),
        ("(a & 0x00F0_0000) == 0x0050_0000", (0xFF5F_FFFF,), (0x50_0000,)),
        ("(a == b) & (a > 300)", (0xABCD_1234, 0xABCD_1234), (301, 301)),
        ("b >= 32", (0xFFFF_FFFF, 0xFFFF_FFFF), (0, 32)),
        ("(a < b) & (a > 5000)", (1 << 31, (1 << 31) + 9), (5001, 5002)),
        ("(a ^ b) == 0x8000_0000", (0x9234_5678, 0x1234_5678), (0, 1 << 31)),
        ("(a != b) & (c == a)", (9 << 20, 7 << 9, 9 << 20), (0, 1, 0)),
        ("(a + b) & 0xFFFFFFFF < a", (0xFFFF_FFFF, 0xFFFF_FFFF), None),
    ],
)
def test_the_smallest_failure_is_found(
    fault: str, start: tuple[int, ...], smallest: tuple[int, ...] | None
) -> None:
    fails = where(fault)
    found = shrink(fails, start)
    assert fails(tuple(np.asarray([w], np.uint32) for w in found))[0]
    if smallest is not None:
        assert found == smallest
    else:
        assert weight(found) < weight(start)


def test_one_failing_case_is_its_own_minimum() -> None:
    case = (0x1357_9BDF, 0x2468_ACE0)
    assert shrink(where(f"(a == {case[0]}) & (b == {case[1]})"), case) == case


def test_a_small_failure_is_found_even_where_nothing_leads_to_it() -> None:
    assert shrink(where("((a == 6) & (b == 3)) | (a == 0x12345677)"), (0x1234_5677, 0xFFFF)) == (6, 3)


def test_words_stay_within_their_type() -> None:
    assert shrink(where("(a == 1) & (b >= 300)"), (0xFFFF_FFFF, 0xFFFF), masks=(1, 0xFFFF)) == (1, 300)


def test_fewer_bits_break_a_tie() -> None:
    assert weight((3, 1)) > weight((4, 0))
    assert weight((0, 4)) < weight((4, 0))


def test_a_passing_case_cannot_be_shrunk() -> None:
    with pytest.raises(VyreError, match="does not fail"):
        shrink(where("a > 10"), (3,))
