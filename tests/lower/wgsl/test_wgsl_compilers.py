"""Naga and Tint accept what is legal here, and the devices behind them give the reference's bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lower.wgsl.control_programs import (
    GRID,
    INPUTS,
    UNIFORM,
    alternating,
    around,
    deep_returns,
    meet,
    nested_ifs,
    nested_loops,
    random_control,
)
from vyre.conform.diff.differential import compare
from vyre.conform.generate.programs import GeneratedProgram
from vyre.errors import VyreError
from vyre.ir import If, LocalId
from vyre.validate import validate

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.ir import Program

NESTS = {
    "ifs with else": nested_ifs(64, orelse=True, uniform=False),
    "uniform ifs around a barrier": nested_ifs(64, orelse=True, uniform=True),
    "40 ifs as they are": nested_ifs(40, orelse=False, uniform=True),
    "ifs, loops and blocks": alternating(64),
    "returns": deep_returns(64),
    "loops": nested_loops(41),
}


def agree(backend: Backend, program: Program) -> None:
    mismatch = compare(GeneratedProgram(0, program, INPUTS, GRID), backend)
    assert mismatch is None, f"{mismatch}\n{program}"


@pytest.mark.parametrize("program", NESTS.values(), ids=NESTS.keys())
def test_deep_nests(compiler: Backend, program: Program) -> None:
    agree(compiler, program)


@pytest.mark.parametrize("program", UNIFORM.values(), ids=UNIFORM.keys())
def test_uniform_barriers(compiler: Backend, program: Program) -> None:
    agree(compiler, program)


def test_generated_control_flow_around_barriers(compiler: Backend) -> None:
    valid = [p for p in map(random_control, range(16)) if not validate(p)]
    assert len(valid) > 10
    for program in valid:
        agree(compiler, program)


def test_tint_is_a_check_of_uniformity(compiler: Backend) -> None:
    """The control: a divergent barrier, which validation refuses, is refused by Tint and not by Naga."""
    divergent = around(If(LocalId(0), meet(1)))
    assert [d.code for d in validate(divergent)] == ["V010", "V010"]
    if compiler.name == "dawn":
        with pytest.raises(VyreError, match="uniform control flow"):
            compiler.compile(divergent)
    else:
        compiler.compile(divergent)


@pytest.mark.parametrize(
    "name",
    [
        "early return in a branch that returns",
        "early return in a loop that returns",
        "a loop that always returns",
    ],
)
def test_early_returns_need_settling(compiler: Backend, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: emitted as they stand, Tint takes the barrier behind them for divergent."""
    if compiler.name != "dawn":
        pytest.skip("Naga does not check uniformity")
    monkeypatch.setattr("vyre.lower.wgsl.settle_returns", lambda prepared: prepared)  # pyright: ignore
    with pytest.raises(VyreError, match="uniform control flow"):
        compiler.compile(UNIFORM[name])


def test_deep_nests_need_flattening(compiler: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiler.name != "dawn":
        pytest.skip("Naga takes 64 levels")
    monkeypatch.setattr("vyre.lower.wgsl.flatten", lambda prepared, backend: prepared)  # pyright: ignore
    with pytest.raises(VyreError, match="nesting depth"):
        compiler.compile(NESTS["ifs with else"])
