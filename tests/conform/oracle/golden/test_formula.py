"""Formulas are integer arithmetic and nothing else."""

from __future__ import annotations

import pytest

from vyre.conform.oracle.golden.formula import evaluate, names
from vyre.errors import VyreError


@pytest.mark.parametrize(
    ("formula", "values", "expected"),
    [
        ("0xFF00", {}, 0xFF00),
        ("-1", {}, -1),
        ("(a + b) % 2**32", {"a": 0xFFFFFFFF, "b": 1}, 0),
        ("a // b if b else 0", {"a": 5, "b": 0}, 0),
        ("a < b", {"a": 1, "b": 2}, 1),
        ("a != 0 and b != 0", {"a": 42, "b": 7}, 1),
        ("a != 0 or b != 0", {"a": 0, "b": 0}, 0),
        ("bit_length(a & -a) - 1 if a else 32", {"a": 8}, 3),
        ("bit_count(a)", {"a": 0xFF}, 8),
        ("reverse32(a)", {"a": 1}, 0x80000000),
        ("not a", {"a": 0}, 1),
        ("~a & 0xF", {"a": 5}, 10),
    ],
)
def test_value(formula: str, values: dict[str, int], expected: int) -> None:
    assert evaluate(formula, values) == expected


def test_names_are_the_variables() -> None:
    assert names("bit_count(a) + b * 2") == {"a", "b"}
    assert names("0x10") == frozenset()


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os')",
        "a.b",
        "a[0]",
        "print(a)",
        "lambda: 1",
        "'text'",
        "1.5",
        "[1, 2]",
        "(a",
        "bit_count(a, a)",
        "(x := 1)",
        "f'{a}'",
    ],
)
def test_everything_else_is_refused(formula: str) -> None:
    with pytest.raises(VyreError, match="not a formula"):
        evaluate(formula, {"a": 1})
