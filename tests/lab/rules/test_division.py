"""Division by constants as a multiplication: a lemma for all divisors, and proofs for 2,000 of them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from lab.rules.division import division_rule, magic, remainder_rule
from tests.optimize.optimize_replay import replay
from tests.optimize.optimize_solvers import decide
from vyre.ir.environment import Types
from vyre.ir.expr import BinOp, Expr, LitU32, Var
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder
from vyre.optimize.rewrite import RuleIndex, Simplifier
from vyre.semantics.solvers import Answer

z3: Any = pytest.importorskip("z3")

TOP = 1 << 32
x = Var("x")
BOUNDARIES = {
    3,
    5,
    6,
    7,
    9,
    10,
    641,
    1_000_000_007,
    TOP - 1,
    TOP - 2,
    (TOP >> 1) - 1,
    (TOP >> 1) + 1,
    6_700_417,
}


def divisors(count: int, seed: str) -> list[int]:
    """Small ones, ones around every power of two, the rest at random sizes."""
    rng = Random(seed)
    found = set(range(2, 200)) | BOUNDARIES
    found |= {(1 << i) + j for i in range(2, 32) for j in (-1, 0, 1)}
    while len(found) < count:
        found.add(max(2, rng.getrandbits(rng.randrange(2, 33))))
    return sorted(found)[:count]


def whole_multiplier(divisor: int) -> tuple[int, int]:
    found = magic(divisor)
    return found.multiplier + (TOP if found.wide else 0), found.shift


def holds_for_all_inputs(divisor: int, multiplier: int, shift: int) -> bool:
    """Over the integers, where both sides are linear in x."""
    number = z3.Int("x")
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(number >= 0, number < TOP)
    solver.add(number / divisor != number * multiplier / (1 << (32 + shift)))
    result = solver.check()
    assert result != z3.unknown
    return result == z3.unsat


@pytest.mark.slow
def test_two_thousand_divisors_are_proved() -> None:
    failed = [d for d in divisors(2_000, "proof") if not holds_for_all_inputs(d, *whole_multiplier(d))]
    assert failed == []


@pytest.mark.parametrize("divisor", [7, 10, 641, TOP - 1])
def test_a_multiplier_off_by_one_is_refuted(divisor: int) -> None:
    multiplier, shift = whole_multiplier(divisor)
    assert not holds_for_all_inputs(divisor, multiplier - 1, shift)


def test_the_lemma_behind_every_divisor() -> None:
    """With m*d = P + e, 0 <= e, e*x < P and x = q*d + r: q*P <= m*x < (q + 1)*P.

    Multiplying by d: d*(m*x - q*P) = P*r + e*x, which lies in 0 .. P*d - 1 because r <= d - 1.
    """
    d, P, r, ex, rest, Pr = z3.Ints("d P r ex rest Pr")  # noqa: N806 - the letters of the lemma
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(d > 0, P > 0, r >= 0, r <= d - 1, ex >= 0, ex < P)
    solver.add(Pr == P * r, Pr >= 0, Pr <= P * d - P)  # from 0 <= r <= d - 1, multiplied by P
    solver.add(rest * d == Pr + ex)
    solver.push()
    solver.add(rest < 0)
    assert solver.check() == z3.unsat
    solver.pop()
    solver.add(rest >= P, rest * d >= P * d)  # the second follows from the first, multiplied by d
    assert solver.check() == z3.unsat


def test_every_divisor_meets_the_conditions_of_the_lemma() -> None:
    """e <= 2^s gives e*x < 2^s * 2^32 = P; by construction for all, checked here for 60,000."""
    for divisor in divisors(60_000, "lemma"):
        multiplier, shift = whole_multiplier(divisor)
        assert 0 <= multiplier * divisor - (TOP << shift) <= 1 << shift, divisor
        assert multiplier < 2 * TOP


def test_the_carry_by_hand_is_right_for_all_values() -> None:
    """((x - h) >> 1) + h, then a shift, is the sum in 33 bits, where h is at most x."""
    text = """(set-logic QF_BV)
    (declare-const x (_ BitVec 32)) (declare-const h (_ BitVec 32)) (declare-const s (_ BitVec 32))
    (assert (bvule h x)) (assert (bvult s (_ bv32 32)))
    (define-fun short () (_ BitVec 32) (bvlshr (bvadd (bvlshr (bvsub x h) (_ bv1 32)) h) s))
    (define-fun sum () (_ BitVec 65) (bvadd ((_ zero_extend 33) x) ((_ zero_extend 33) h)))
    (define-fun wide () (_ BitVec 65) (bvlshr sum (bvadd ((_ zero_extend 33) s) (_ bv1 65))))
    (assert (distinct ((_ zero_extend 33) short) wide))"""
    assert decide(text).answer is Answer.Unsat
    assert decide(text.replace("(assert (bvule h x))", "")).answer is Answer.Sat


def no_division(expr: Expr) -> bool:
    return not any(isinstance(e, BinOp) and e.op in (BinaryOp.Div, BinaryOp.Mod) for e in postorder(expr))


def test_the_rules_replace_divisions_by_what_the_reference_agrees_with() -> None:
    rng = Random("values")
    for divisor in divisors(240, "values"):
        env = Types(())
        env.declare("x", DataType.U32)
        simplifier = Simplifier(RuleIndex([division_rule(divisor), remainder_rule(divisor)]), env)
        quotient, rest = simplifier.simplify(x // divisor), simplifier.simplify(x % divisor)
        assert no_division(quotient)
        assert no_division(rest)
        near = divisor * rng.randrange(TOP // divisor + 1)
        for value in (0, divisor - 1, divisor, near % TOP, (near - 1) % TOP, TOP - 1):
            got = replay({"x": DataType.U32}, {"x": value}, [quotient, rest])
            assert got == [value // divisor, value % divisor]


def test_the_default_table_leaves_such_divisions_alone() -> None:
    from vyre.optimize.program import DEFAULT_RULES

    env = Types(())
    env.declare("x", DataType.U32)
    assert Simplifier(DEFAULT_RULES, env).simplify(x // LitU32(7)) is x // 7
