"""What the two values of a failure are called."""

from __future__ import annotations

import pytest

from vyre.conform.records.sides import order, sides


@pytest.mark.parametrize(
    ("expected", "actual", "law", "shown"),
    [
        ("0x1", "0x2", False, (("expected", "0x1"), ("actual", "0x2"))),
        ("0x1", "0x2", True, (("left side", "0x2"), ("right side", "0x1"))),
        ("at most 0x1", "0x2", True, (("left side", "0x2"), ("right side", "0x1"))),
        ("below 0x1", "0x2", False, (("expected", "below 0x1"), ("actual", "0x2"))),
        ("0x1, 0x2", "0x2, 0x1", True, (("left side", "0x2, 0x1"), ("right side", "0x1, 0x2"))),
        ("a result", "it died", True, (("expected", "a result"), ("actual", "it died"))),
        ("0x1", "it died", True, (("expected", "0x1"), ("actual", "it died"))),
    ],
)
def test_only_a_law_has_sides(
    expected: str, actual: str, law: bool, shown: tuple[tuple[str, str], tuple[str, str]]
) -> None:
    assert sides(expected, actual, law=law) == shown


def test_laws_come_last_and_the_rest_stays_in_order() -> None:
    kinds = ["law", "value", "crash", "law", "hang"]
    assert sorted(kinds, key=order) == ["value", "crash", "hang", "law", "law"]
