"""Values for "every value": reproducible, of the right width, edges included."""

from __future__ import annotations

import pytest

from vyre.conform.oracle.golden.samples import EDGES, SEEDED, assignments
from vyre.ir.types import DataType

U32 = DataType.U32


def test_the_same_row_sees_the_same_values_and_another_row_others() -> None:
    first = list(assignments("a/golden/1", {"x": U32}))
    assert first == list(assignments("a/golden/1", {"x": U32}))
    assert first != list(assignments("a/golden/2", {"x": U32}))


def test_one_and_two_variables_see_all_edges_and_the_stream() -> None:
    one = list(assignments("r", {"x": U32}))
    assert len(one) == len(EDGES[U32]) + SEEDED
    two = list(assignments("r", {"a": U32, "b": U32}))
    pairs = {(v["a"], v["b"]) for v in two}
    assert {(a, b) for a in EDGES[U32] for b in EDGES[U32]} <= pairs


@pytest.mark.parametrize("of", list(EDGES))
def test_values_fit_their_type(of: DataType) -> None:
    top = 1 if of is DataType.Bool else (1 << of.bits) - 1
    values = [v["x"] for v in assignments("r", {"x": of})]
    assert min(values) >= 0
    assert max(values) <= top
    assert {0, 1} <= set(values)


def test_four_variables_stay_affordable() -> None:
    many = list(assignments("r", dict.fromkeys("abcd", U32)))
    assert SEEDED < len(many) < 4 * SEEDED
    assert {0, 0xFFFFFFFF} <= {v["a"] for v in many}
