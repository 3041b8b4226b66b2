"""The hardest inputs come from no definition and are in every run; faults planted in definitions show."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.wrong.definitions import definition, flipped, literals, planted, swapped
from vyre.conform.oracle.truth import hardest
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import ALL_STAGES
from vyre.conform.verify.stage import FAILED, PASSED
from vyre.conform.verify.stages.hardest import STAGE, op_of
from vyre.ir.expr import LitU32, f64
from vyre.lower.native import F64_KEYS
from vyre.numeric import evidence
from vyre.numeric.doubles import pairs, ties
from vyre.numeric.doubles.catalogue import _MAKERS
from vyre.numeric.doubles.ties import TIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.protocol import BackendInfo, Executable
    from vyre.conform.verify.stage import Outcome
    from vyre.ir.op import Op
    from vyre.ir.program import Program

ROOT = Path(__file__).parents[3]
PLAN = replace(make_plan("cpu", ops=("float.*",)), repeats=1)
NAMES = list(hardest.index())
UNARY = [n.partition(".")[2] for n in NAMES if len(hardest.load(n).operands) == 1]

pytest.importorskip("llvmlite")


class OneWay:
    """The CPU with the functions on integers, or in doubles. Kernels are compiled anew."""

    name = "one way"

    def __init__(self, *, doubles: bool) -> None:
        from vyre.backends.cpu.backend import CpuBackend

        self._backend = CpuBackend(canaries=False)
        self._ways = self._backend.ways if doubles else self._backend.ways.without(F64_KEYS)
        if doubles and not self._ways.doubles:
            pytest.skip("this processor's doubles are not used")

    def describe(self) -> BackendInfo:
        return self._backend.describe()

    def compile(self, program: Program) -> Executable:
        return self._backend.compile(program, ways=self._ways)


def outcome(name: str, *, doubles: bool) -> Outcome:
    """The case of a list, as certification runs it."""
    number = NAMES.index(name)
    (found,) = STAGE.run(OneWay(doubles=doubles), PLAN, number, number + 1)
    return found


def caught(wrong: Op) -> bool:
    way, kind, name = wrong.id.split(".")
    with planted(wrong):
        return outcome(f"{kind}.{name}", doubles=way == "double").status == FAILED


@pytest.mark.parametrize("doubles", [True, False], ids=["in doubles", "on integers"])
@pytest.mark.parametrize("name", NAMES)
def test_both_implementations_are_right_on_the_hardest_inputs(name: str, *, doubles: bool) -> None:
    assert outcome(name, doubles=doubles).status == PASSED


def test_every_function_has_a_list_and_every_run_tries_it() -> None:
    names = set(_MAKERS)
    assert {n.partition(".")[2] for n in NAMES if n.startswith("f32.")} == names
    assert {f"{fmt}.{n}" for fmt in ("f16", "bf16") for n in ("pow", "atan2")} < set(NAMES)
    assert "hardest" in ALL_STAGES
    assert "hardest" in make_plan("cpu").stages
    assert STAGE.count(PLAN) == len(NAMES)
    assert all(hardest.load(n).count > 2000 for n in NAMES)


def ties_of(name: str) -> set[int]:
    return {*TIES[name].larger, *TIES[name].smaller}


@pytest.mark.parametrize("name", TIES)
def test_the_search_found_every_tie_by_itself(name: str) -> None:
    assert ties_of(name) <= set(hardest.load(f"f32.{name}").operands[0].tolist())


def test_nothing_that_makes_the_lists_knows_a_definition() -> None:
    for path in (
        "lab/truth/hardest.py",
        "lab/truth/hardest_cuda.py",
        "src/vyre/conform/oracle/truth/hardest.py",
    ):
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        found = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
        assert not {m for m in found if m.startswith(("vyre.numeric", "vyre.lower", "vyre.backends"))}


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_of_the_results_is_that_of_mpfr(name: str) -> None:
    pytest.importorskip("gmpy2")
    from vyre.conform.oracle.floats.decide import by_mpfr
    from vyre.conform.oracle.floats.layout import LAYOUTS
    from vyre.conform.oracle.floats.operations import operations

    kind, _, function = name.partition(".")
    of = LAYOUTS[kind.upper()]
    operator = next(o.name.split()[0] for o in operations() if o.name.lower() == f"f{function} {kind}")
    found = hardest.load(name)
    every = slice(None, None, 97)
    cases = [tuple(int(w) for w in row) for row in zip(*(x[every] for x in found.operands), strict=True)]
    assert by_mpfr(operator, of, cases) == found.results[every].tolist()


def weaker_ties(name: str) -> Iterator[tuple[str, ties.Ties]]:
    """Every way in which one tie or the mask is lost."""
    whole = TIES[name]
    for x in whole.smaller:
        yield f"{x:#x} is not lowered", whole._replace(smaller=tuple(y for y in whole.smaller if y != x))
    if whole.larger:
        yield "nothing is raised", whole._replace(larger=())
    if whole.mask:
        yield "everything is raised", whole._replace(mask=0)


@pytest.mark.parametrize(
    ("name", "weaker"),
    [pytest.param(name, t, id=f"{name}: {what}") for name in TIES for what, t in weaker_ties(name)],
)
def test_a_lost_tie_is_caught(name: str, weaker: ties.Ties, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TIES, name, weaker)
    wrong = _MAKERS[name]()
    monkeypatch.undo()
    assert caught(wrong)


LAST_BITS = {
    "double": "sin 1 0, cos 1 0, tan 1 0, asin 9 6, acos 9 5, atan 8 6, exp 1 0, exp2 9 8, exp10 1 0, "
    "log 1 0, log2 12 4, log10 1 0, erf 13 0, tanh 1 8, sinh 1 0, cosh 1 0, expm1 1 0, log1p 0 0, cbrt 3 33",
    "soft": "sin 2 0, cos 2 0, tan 2 0, asin 22 0, acos 20 0, atan 27 12, exp 6 0, exp2 3 0, exp10 6 0, "
    "log 36 0, log2 42 0, log10 42 0, erf 0 0, tanh 0 0, sinh 0 0, cosh 1 0, expm1 1 0, log1p 6 0, cbrt 0 0",
}
"""A constant of each definition by its place, and a bit of it: the last, where that changes any result."""

CORRECTIONS = {
    "double": "sin 2, cos 2, tan 2, asin 0, acos 0, atan 4, exp 2, exp2 0, exp10 3, log 2, log2 1, log10 2, "
    "erf 0, tanh 3, sinh 2, cosh 2, expm1 2, log1p 2, cbrt 1",
    "soft": ", ".join(f"{name} 1" for name in UNARY),
}
"""The low part of a constant in two parts, or the last term of a series."""


def places(text: str) -> dict[str, list[int]]:
    rows = [row.split() for row in text.split(", ")]
    return {name: [int(n) for n in numbers] for name, *numbers in rows}


@pytest.mark.parametrize("way", ["double", "soft"])
@pytest.mark.parametrize("name", UNARY)
def test_one_bit_of_a_coefficient_is_caught(name: str, way: str) -> None:
    right = definition(f"{way}.f32.{name}")
    place, bit = places(LAST_BITS[way])[name]
    constant = literals(right)[place]
    assert caught(swapped(right, constant, flipped(constant, bit)))


@pytest.mark.parametrize("way", ["double", "soft"])
@pytest.mark.parametrize("name", UNARY)
def test_a_dropped_correction_is_caught(name: str, way: str) -> None:
    right = definition(f"{way}.f32.{name}")
    constant = literals(right)[places(CORRECTIONS[way])[name][0]]
    assert caught(swapped(right, constant, f64(0.0) if way == "double" else LitU32(0)))


@pytest.mark.parametrize("name", ["pow", "atan2"])
def test_a_dropped_rounding_test_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def trusting(value: Any, _: int) -> Any:
        return pairs.low_word(value) & 0

    monkeypatch.setattr(pairs, "_is_near", trusting)
    wrong = _MAKERS[name]()
    monkeypatch.undo()
    assert caught(wrong)


@pytest.mark.parametrize(("name", "place"), [("pow", 30), ("atan2", 24)])
def test_one_bit_of_a_function_of_two_operands_is_caught(name: str, place: int) -> None:
    right = definition(f"soft.f32.{name}")
    constant = literals(right)[place]
    assert caught(swapped(right, constant, flipped(constant, 0)))


def test_a_failing_case_names_the_input_and_both_results() -> None:
    right = definition("double.f32.exp")
    constant = literals(right)[1]
    with planted(swapped(right, constant, flipped(constant, 0))):
        found = outcome("f32.exp", doubles=True)
    assert found.case == f"hardest/float.exp/{NAMES.index('f32.exp')}"
    (given,) = found.inputs
    listed = hardest.load("f32.exp")
    (at,) = np.flatnonzero(listed.operands[0] == int(given, 0))
    assert found.expected == f"0x{int(listed.results[at]):X}"
    assert "inputs differ" in found.actual
    assert op_of("f32.exp") == found.subject


@pytest.mark.parametrize("op_id", evidence.definitions())
def test_a_changed_definition_has_another_digest(op_id: str) -> None:
    right = definition(op_id)
    constants = literals(right)
    for constant in {constants[0], constants[len(constants) // 2], constants[-1]}:
        with planted(swapped(right, constant, flipped(constant, 0))):
            assert "not the one that was run" in evidence.state(op_id)
