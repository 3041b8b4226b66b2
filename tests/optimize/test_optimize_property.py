"""An optimised program does what the program did: bytes, stores and atomics, on generated programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.optimize.optimize_programs import Case, observe, pattern_program, rule_program
from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import ProgramOptions, generate_program
from vyre.ir.expr import LitU32, Var
from vyre.optimize import optimize
from vyre.optimize.rewrite import RuleIndex
from vyre.optimize.rule import Rule
from vyre.optimize.rules import RULES
from vyre.semantics.solvers import Answer
from vyre.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator

GENERATED = 60
PATTERNS = 120
INSTANCES = 64


def cases() -> Iterator[Case]:
    for seed in range(PATTERNS):
        yield pattern_program(seed)
    for seed in range(GENERATED):
        yield Case.of(generate_program(seed, INTEGER_PROGRAMS))
    for seed in range(GENERATED // 3):
        yield Case.of(generate_program(50_000 + seed, ProgramOptions(functions=False)))


@pytest.fixture(scope="module")
def programs() -> list[Case]:
    return list(cases())


def test_bytes_stores_and_atomics_stay(programs: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    smaller = 0
    for case in programs:
        optimized = optimize(case.program)
        assert observe(monkeypatch, case, optimized) == observe(monkeypatch, case, case.program), case.program
        smaller += optimized.size < case.program.size
    assert smaller > len(programs) // 2, "most programs of this kind have something to optimise"


def test_the_result_is_valid_and_final(programs: list[Case]) -> None:
    for case in programs[::2]:
        optimized = optimize(case.program)
        assert validate(optimized, allow_reserved=True) == [], optimized
        assert optimize(optimized) == optimized
        assert optimize(case.program) == optimized


def changed_by(rules: list[Rule], programs: list[Case], monkeypatch: pytest.MonkeyPatch) -> bool:
    index = RuleIndex(rules)
    return any(
        observe(monkeypatch, case, optimize(case.program, rules=index))
        != observe(monkeypatch, case, case.program)
        for case in programs
    )


x, c, d = Var("x"), Var("c"), Var("d")
BROKEN = {
    "add-zero": Rule("add-zero", x + 0, LitU32(0)),
    "add-constants": Rule("add-constants", (x + c) + d, x + (c - d)),
    "literal-right-lt": Rule("literal-right-lt", c < x, x < c),
    "div-self": Rule("div-self", x // x, LitU32(1)),
    "mul-power": Rule("mul-power", x * c, x << (c & 31), (c & (c - 1)).eq(0)),
    "sub-self": Rule("sub-self", x - x, x),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_noticed_by_running_and_by_proving(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.optimize.optimize_solvers import decide_rule

    broken = BROKEN[name]
    (sound,) = (rule for rule in RULES if rule.name == broken.name)
    rules = [broken if rule.name == broken.name else rule for rule in RULES]
    assert decide_rule(broken)[-1].answer is Answer.Sat
    of_the_rule = [rule_program(sound, seed) for seed in range(INSTANCES)]
    assert not changed_by(list(RULES), of_the_rule, monkeypatch)
    assert changed_by(rules, of_the_rule, monkeypatch)


def test_ignoring_atomics_is_noticed(programs: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rule, "keeps_order", True)
    assert changed_by(list(RULES), programs, monkeypatch)
