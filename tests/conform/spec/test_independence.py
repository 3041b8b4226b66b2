"""The independence gate rejects a tautological test, by what it imports and by what it calls."""

from __future__ import annotations

import sys

import pytest

from tests.conform.spec import circular_oracle, plain_oracle
from vyre.conform.registry import spec
from vyre.conform.spec.independence import by_calls, by_imports, check, require_independent
from vyre.errors import OpError

TARGET = spec("primitive.math.add")
INPUTS = [(1, 2), (0xFFFF_FFFF, 1)]


def test_an_independent_oracle_passes() -> None:
    assert check(plain_oracle.add, TARGET, INPUTS) == []
    require_independent(plain_oracle.add, TARGET, INPUTS)


def test_a_tautological_oracle_is_rejected_both_ways() -> None:
    imported = by_imports(circular_oracle.add, TARGET)
    assert imported[0].way == "tests.conform.spec.circular_oracle -> vyre.conform.registry.primitive.add"
    assert [v.by for v in by_calls(circular_oracle.add, TARGET, INPUTS)] == ["call"]
    with pytest.raises(OpError, match="not independent"):
        require_independent(circular_oracle.add, TARGET, INPUTS)


def test_a_hidden_call_is_seen_at_work() -> None:
    def through_the_spec(a: int, b: int) -> int:
        return TARGET.evaluate(a, b)[0]

    found = by_calls(through_the_spec, TARGET, INPUTS)
    assert [v.way for v in found] == ["it calls the definition of primitive.math.add"]
    assert by_calls(through_the_spec, spec("primitive.math.sub"), INPUTS) == []


def test_a_lowering_is_no_oracle() -> None:
    def by_running(a: int, b: int) -> int:
        from vyre.backends import available

        available()
        return a + b

    assert by_calls(by_running, TARGET, INPUTS[:1])


def test_tracing_ends_with_the_check() -> None:
    before = sys.getprofile()

    def failing(a: int, b: int) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        by_calls(failing, TARGET, INPUTS)
    assert sys.getprofile() is before
