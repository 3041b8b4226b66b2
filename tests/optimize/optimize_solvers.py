"""The solvers of the tests: each says yes, no with values, or nothing.

`bitwuzla` is asked about bits; `cvc5`, with bit-vectors as integers, about division; whoever cannot
decide in time is followed by the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from vyre.ir.expr import Expr, LitU32, Var
from vyre.ir.walk import postorder
from vyre.optimize.rewrite import instantiate
from vyre.optimize.rule import Proof, Rule
from vyre.optimize.smt import Translation

if TYPE_CHECKING:
    from vyre.ir.types import DataType

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
        free = parser.get_declared_funs()
        return Verdict(name, False, {f.symbol(): int(solver.get_value(f).value(10)) for f in free})
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
    name = f"cvc5 {version('cvc5')} with solve-bv-as-int=sum"
    if result.isUnsat():
        return Verdict(name, True, {})
    if result.isSat():
        free = symbols.getDeclaredTerms()
        return Verdict(name, False, {str(t): int(solver.getValue(t).getBitVectorValue(10)) for t in free})
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


Tiers = tuple[tuple[Solver, int], ...]
BITS: Tiers = ((ask_bitwuzla, 10_000), (ask_cvc5, 10_000), (ask_z3, 20_000))
INTEGERS: Tiers = ((ask_cvc5, 10_000), (ask_z3, 20_000), (ask_bitwuzla, 20_000))


def claim(types: Mapping[str, DataType], left: Expr, right: Expr, when: Expr | None = None) -> str:
    """The question whether the two sides can differ where the condition holds."""
    made = Translation(types)
    a, b = made.term(left), made.term(right)
    assumed = [f"(assert {made.condition(when)})"] if when is not None else []
    return "\n".join(["(set-logic QF_BV)", *made.lines, *assumed, f"(assert (distinct {a} {b}))"])


def decide(text: str, tiers: Tiers = BITS) -> Verdict:
    """The first answer; no answer from anybody is a failure of the test."""
    for solver, milliseconds in tiers:
        verdict = solver(text, milliseconds)
        if verdict is not None:
            return verdict
    raise AssertionError(f"no solver decided:\n{text}")


def variables(rule: Rule) -> list[str]:
    return sorted({x.name for x in postorder(rule.pattern) if isinstance(x, Var)})


def instances(rule: Rule) -> Iterator[dict[str, DataType]]:
    """Every choice of types for which the pattern has a type at all."""
    names = variables(rule)
    for choice in product(*(rule.types_of(name) for name in names)):
        types = dict(zip(names, choice, strict=True))
        try:
            Translation(types).type(rule.pattern)
        except TypeError:
            continue
        yield types


def decide_rule(rule: Rule) -> list[Verdict]:
    """The verdicts that together say whether the rule holds for all inputs; the last one may refute it."""
    verdicts: list[Verdict] = []
    for text, tiers in _claims(rule):
        verdicts.append(decide(text, tiers))
        if not verdicts[-1].proved:
            break
    return verdicts


def _claims(rule: Rule) -> Iterator[tuple[str, Tiers]]:
    if rule.proof is not Proof.Cases:
        tiers = BITS if rule.proof is Proof.Bits else INTEGERS
        for types in instances(rule):
            yield claim(types, rule.pattern, rule.replacement, rule.when), tiers
        return
    powers = [LitU32(1 << i) for i in range(32)]
    (types,) = instances(rule)
    assert rule.when is not None
    # First that there are no other cases: where the condition holds, the constant is one of these.
    listed = LitU32(0)
    for power in powers:
        listed = listed | Var("c").eq(power)
    yield claim(types, listed, LitU32(1), rule.when), BITS
    free = {name: t for name, t in types.items() if name != "c"}
    for power in powers:
        binding = {name: Var(name) for name in free} | {"c": power}
        left, right = instantiate(rule.pattern, binding), instantiate(rule.replacement, binding)
        yield claim(free, left, right, instantiate(rule.when, binding)), BITS
