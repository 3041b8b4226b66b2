"""The solvers of the tests, in the order in which they are asked: each says yes, no with values, or nothing.

`bitwuzla` first; then `cvc5` with bit-vectors as integers, which is good at division; then `z3`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest

from vyre.ir.expr import Expr
from vyre.ir.types import DataType
from vyre.optimize.smt import Translation

bitwuzla: Any = pytest.importorskip("bitwuzla")
cvc5: Any = pytest.importorskip("cvc5")
z3: Any = pytest.importorskip("z3")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`proved`, or `values` of the variables for which the claim fails; `solver` says who found out."""

    solver: str
    proved: bool
    values: dict[str, int]


Solver = Callable[[str, int], Verdict | None]


def ask_bitwuzla(text: str, milliseconds: int) -> Verdict | None:
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, milliseconds)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(text, True, False)
    solver = parser.bitwuzla()
    result = solver.check_sat()
    name = f"bitwuzla {version('bitwuzla')}"
    if result == bitwuzla.Result.UNSAT:
        return Verdict(name, True, {})
    if result == bitwuzla.Result.SAT:
        funs = parser.get_declared_funs()
        return Verdict(name, False, {f.symbol(): int(solver.get_value(f).value(10)) for f in funs})
    return None


def ask_cvc5(text: str, milliseconds: int) -> Verdict | None:
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("produce-models", "true")
    solver.setOption("solve-bv-as-int", "sum")
    solver.setOption("tlimit-per", str(milliseconds))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "claim")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    result = solver.checkSat()
    name = f"cvc5 {version('cvc5')} solve-bv-as-int=sum"
    if result.isUnsat():
        return Verdict(name, True, {})
    if result.isSat():
        found = {str(t): int(solver.getValue(t).getBitVectorValue(10)) for t in symbols.getDeclaredTerms()}
        return Verdict(name, False, found)
    return None


def ask_z3(text: str, milliseconds: int) -> Verdict | None:
    solver = z3.Solver()
    solver.set("timeout", milliseconds)
    solver.from_string(text)
    result = solver.check()
    name = f"z3 {version('z3-solver')}"
    if result == z3.unsat:
        return Verdict(name, True, {})
    if result == z3.sat:
        model = solver.model()
        return Verdict(name, False, {d.name(): model[d].as_long() for d in model.decls()})
    return None


TIERS: tuple[tuple[Solver, int], ...] = (
    (ask_bitwuzla, 1_000),
    (ask_cvc5, 4_000),
    (ask_z3, 8_000),
    (ask_bitwuzla, 30_000),
)


def claim(types: dict[str, DataType], left: Expr, right: Expr, when: Expr | None) -> str:
    """The question whether the two sides can differ where the condition holds."""
    made = Translation(types)
    a, b = made.term(left), made.term(right)
    assumed = [f"(assert {made.condition(when)})"] if when is not None else []
    return "\n".join(["(set-logic QF_BV)", *made.lines, *assumed, f"(assert (distinct {a} {b}))"])


def decide(text: str) -> Verdict:
    """The first answer; no answer from any tier is a failure of the test."""
    for solver, milliseconds in TIERS:
        verdict = solver(text, milliseconds)
        if verdict is not None:
            return verdict
    raise AssertionError(f"no solver decided:\n{text}")


def prove(types: dict[str, DataType], left: Expr, right: Expr, when: Expr | None = None) -> Verdict:
    return decide(claim(types, left, right, when))
