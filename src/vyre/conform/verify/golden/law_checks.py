"""Golden rows about the kinds of laws: whether given operands satisfy the equations of a law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.verify.golden.outcome import Outcome, compared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.oracle.golden.rows import Row


def check_law(row: Row) -> Outcome:
    """Every case of the row, on plain integers."""
    expected = [case["satisfied"] for case in row["cases"]]
    actual = [_satisfied(row["law"], case) for case in row["cases"]]
    at = next((k for k, pair in enumerate(zip(expected, actual, strict=True)) if pair[0] != pair[1]), 0)
    return compared(row, expected, actual, inputs=str(row["cases"][at]))


def _satisfied(name: str, case: Mapping[str, Any]) -> bool:
    from vyre.conform.registry import lookup
    from vyre.conform.spec import law
    from vyre.conform.spec.evaluate import holds
    from vyre.conform.spec.sides import sides
    from vyre.semantics.domain import CONCRETE

    made = getattr(law, name)(*map(_argument, case["args"]))
    values = [[_argument(operand)] for operand in case["at"]]
    equations = sides(made, lookup(case["op"]))
    return all(holds(equation, CONCRETE, values, lookup) != 0 for equation in equations)


def _argument(value: int | str) -> Any:
    """A number, or the id of an op."""
    return int(value, 0) if isinstance(value, str) and value.startswith("0x") else value
