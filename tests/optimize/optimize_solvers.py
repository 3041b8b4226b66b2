"""Rules as questions to the solvers."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from vyre.errors import OpError
from vyre.ir.expr import Expr, LitU32, Var
from vyre.ir.walk import postorder
from vyre.optimize.rewrite import instantiate
from vyre.optimize.rule import Proof, Rule
from vyre.semantics.solvers import BITS, DIVISION, Answer, Attempt, Solved, solve
from vyre.semantics.translate import Translation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vyre.ir.types import DataType

for solver in ("bitwuzla", "cvc5", "z3"):
    pytest.importorskip(solver)

Attempts = tuple[Attempt, ...]


def claim(types: Mapping[str, DataType], left: Expr, right: Expr, when: Expr | None = None) -> str:
    """The question whether the two sides can differ where the condition holds."""
    made = Translation(types)
    a, b = made.term(left), made.term(right)
    assumed = [f"(assert {made.condition(when)})"] if when is not None else []
    return "\n".join(["(set-logic QF_BV)", *made.lines, *assumed, f"(assert (distinct {a} {b}))"])


def decide(text: str, attempts: Attempts = BITS) -> Solved:
    """A definite answer; no answer from any solver is a failure of the test."""
    found = solve(text, attempts=attempts)
    assert found.answer is not Answer.Unknown, f"no solver decided:\n{text}"
    return found


def variables(rule: Rule) -> list[str]:
    return sorted({x.name for x in postorder(rule.pattern) if isinstance(x, Var)})


def instances(rule: Rule) -> Iterator[dict[str, DataType]]:
    """Every choice of types for which the pattern has a type at all."""
    names = variables(rule)
    for choice in product(*(rule.types_of(name) for name in names)):
        types = dict(zip(names, choice, strict=True))
        try:
            Translation(types).type(rule.pattern)
        except OpError:
            continue
        yield types


def decide_rule(rule: Rule) -> list[Solved]:
    """The answers that together say whether the rule holds for all inputs; the last one may refute it."""
    found: list[Solved] = []
    for text, attempts in _claims(rule):
        found.append(decide(text, attempts))
        if found[-1].answer is Answer.Sat:
            break
    return found


def _claims(rule: Rule) -> Iterator[tuple[str, Attempts]]:
    if rule.proof is not Proof.Cases:
        attempts = BITS if rule.proof is Proof.Bits else DIVISION
        for types in instances(rule):
            yield claim(types, rule.pattern, rule.replacement, rule.when), attempts
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
