"""What a seed makes, and what results are held against, is the same on every processor.

NumPy's elementary functions differ in the last bit from one processor to another, and its products of
matrices add in the order that suits the processor. Who calls them must know their error: one module does.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).parents[2] / "src" / "vyre"
MARGIN = "conform/oracle/floats/functions.py"
"""Trusts them to a margin, and decides what that leaves open by other means."""
INEXACT = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "power", "float_power", "cbrt"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "hypot", "sinc"),
    *("arcsinh", "arccosh", "arctanh", "dot", "vdot", "inner", "matmul", "einsum", "tensordot", "convolve"),
    *("mean", "average", "var", "std", "trapezoid", "interp", "linalg", "fft", "correlate"),
}


def called(text: str) -> set[str]:
    """The inexact functions of NumPy that a module names."""
    named = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Attribute))
    return {n.attr for n in named if isinstance(n.value, ast.Name) and n.value.id == "np"} & INEXACT


def test_functions_about_which_processors_differ_are_called_where_their_error_is_known() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    found = {str(f.relative_to(SOURCE)): called(f.read_text(encoding="utf-8")) for f in files}
    assert len(found) > 500
    assert {name for name, functions in found.items() if functions} == {MARGIN}


@pytest.mark.parametrize("function", sorted(INEXACT))
def test_a_call_is_seen_and_they_are_functions_of_numpy(function: str) -> None:
    assert called(f"x = np.{function}(y)") == {function}
    assert hasattr(np, function)
