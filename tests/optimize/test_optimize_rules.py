"""Every rule holds for all inputs, lowers the measure and keeps types; wrong ones are refuted."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.optimize.optimize_replay import replay
from tests.optimize.optimize_solvers import decide_rule, instances, variables
from vyre.conform.generate.buffers import random_bits
from vyre.ir.environment import Types
from vyre.ir.expr import BinOp, Cast, Expr, LitU32, Select, UnOp, Var, mul_hi
from vyre.ir.operators import UnaryOp
from vyre.ir.types import VALUE_TYPES, DataType
from vyre.ir.walk import postorder
from vyre.optimize.fold import Constant, constant, evaluate, literal
from vyre.optimize.rewrite import RuleIndex, Simplifier, instantiate
from vyre.optimize.rule import CONSTANTS, Rule, metavariables, pattern_cost
from vyre.optimize.rules import FAMILIES, RULES, commute
from vyre.semantics.solvers import Answer, Solved
from vyre.semantics.translate import Translation

if TYPE_CHECKING:
    from collections.abc import Callable

x, y, z, c, d = Var("x"), Var("y"), Var("z"), Var("c"), Var("d")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_rule_of_the_family_holds_for_all_inputs(family: str) -> None:
    refuted: list[tuple[str, Solved]] = []
    for rule in FAMILIES[family]:
        refuted += [(rule.name, found) for found in decide_rule(rule) if found.answer is Answer.Sat]
    assert refuted == []


WRONG = (
    Rule("a number divided by itself is 1", x // x, LitU32(1)),
    Rule("doubling and halving is nothing", (x * 2) // 2, x),
    Rule("a shift by 32 empties", x << 32, LitU32(0)),
    Rule("the top half of a shift by a large amount is empty", x >> c, LitU32(0), c > 31),
    Rule("a remainder is below its divisor", (x % y) < y, LitU32(1)),
    Rule("division by a power of two is a mask", x // c, x & (c - 1), UnOp(UnaryOp.Popcount, c).eq(1)),
    Rule("multiplication by an even number is a shift", x * c, x << UnOp(UnaryOp.Ctz, c), (c & 1).eq(0)),
    Rule("order survives negation", (-x) < (-y), y < x),
    Rule("order survives adding", (x + c) < (y + c), x < y),
    Rule("a sum is not below its parts", (x + y) < x, LitU32(0)),
    Rule("logical and is bitwise and", x.and_(y), x & y),
    Rule("two negations of a number give it back", UnOp(UnaryOp.LogicalNot, x.eq(0)), x),
    Rule(
        "sign does not matter when widening",
        Cast(DataType.U64, Cast(DataType.I32, x)),
        Cast(DataType.U64, x),
    ),
    Rule("a Bool keeps the number", Cast(DataType.U32, Cast(DataType.Bool, x)), x),
    Rule("the high half of a product by 2^31", mul_hi(x, c), x >> 2, c.eq(1 << 31)),
    Rule("masks past the shift", (x >> c) & d, x >> c, d >= (0xFFFFFFFF >> c)),
    Rule("the chosen arm is the condition", Select(x, x, y), x),
    Rule("halving a sum carries", (x + y) >> 1, (x & y) + ((x ^ y) >> 1)),
)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda rule: rule.name)
def test_a_wrong_rule_is_refuted_by_a_counterexample_that_replays(wrong: Rule) -> None:
    found = decide_rule(wrong)[-1]
    assert found.answer is Answer.Sat
    types = next(instances(wrong))
    asked = [wrong.pattern, wrong.replacement] + ([wrong.when] if wrong.when is not None else [])
    before, after, *condition = replay(types, found.model, asked)
    assert before != after
    assert all(condition), "the counterexample must satisfy the condition of the rule"


def test_names_are_unique() -> None:
    assert [name for name, times in Counter(rule.name for rule in RULES).items() if times > 1] == []


def is_well_formed(rule: Rule) -> bool:
    """Nothing comes from nowhere, conditions are decidable, types agree wherever the pattern has one."""
    known = set(variables(rule))
    if not set(rule.types) <= known:
        return False
    for part in (rule.replacement, rule.when):
        if part is not None and not {e.name for e in postorder(part) if isinstance(e, Var)} <= known:
            return False
    if rule.when is not None and list(metavariables(rule.when)):
        return False
    made = [Translation(types) for types in instances(rule)]
    return bool(made) and all(m.type(rule.replacement) is m.type(rule.pattern) for m in made)


def makes_progress(rule: Rule) -> bool:
    """Costs fall and nothing is repeated, so rewriting ends and shared expressions do not grow."""
    before, after = Counter(metavariables(rule.pattern)), Counter(metavariables(rule.replacement))
    if any(after[name] > before[name] for name in after):
        return False
    change = pattern_cost(rule.replacement) - pattern_cost(rule.pattern)
    if rule in commute.RULES:
        return change == 0 and _literals_left(rule.replacement) < _literals_left(rule.pattern)
    return change < 0


def stays_shallow(rule: Rule) -> bool:
    """A program within the depth limit stays within it (V034)."""
    before, after = _depths(rule.pattern), _depths(rule.replacement)
    return all(after[name] <= before[name] for name in after)


@pytest.mark.parametrize("check", [is_well_formed, makes_progress, stays_shallow])
def test_every_rule_passes(check: Callable[[Rule], bool]) -> None:
    assert [rule.name for rule in RULES if not check(rule)] == []


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (is_well_formed, Rule("from nowhere", x + 0, y)),
        (is_well_formed, Rule("condition on an expression", x + c, x, x.eq(0))),
        (is_well_formed, Rule("other type", Cast(DataType.I32, x), x)),
        (is_well_formed, Rule("type of nobody", x + 0, x, types={"y": (DataType.U32,)})),
        (makes_progress, Rule("there and back", x + y, y + x)),
        (makes_progress, Rule("repeats", x * 2, x + x)),
        (makes_progress, Rule("dearer", x << c, x * (LitU32(1) << c))),
        (stays_shallow, Rule("deeper", (x // y) + z, x * (y * z))),
    ],
    ids=lambda v: v.name if isinstance(v, Rule) else v.__name__,
)
def test_the_checks_see_a_bad_rule(check: Callable[[Rule], bool], bad: Rule) -> None:
    assert not check(bad)


def _literals_left(root: Expr) -> int:
    pairs = [e for e in postorder(root) if isinstance(e, BinOp)]
    return sum(isinstance(e.left, Var) and e.left.name in CONSTANTS for e in pairs)


def _depths(root: Expr) -> dict[str, int]:
    """How deep each metavariable stands at most."""
    found: dict[str, int] = {}
    stack = [(root, 0)]
    while stack:
        expr, depth = stack.pop()
        if isinstance(expr, Var) and expr.name not in CONSTANTS:
            found[expr.name] = max(found.get(expr.name, 0), depth)
        stack += [(child, depth + 1) for child in expr.children]
    return found


class Instance:
    """A rule over variables and literals for which it applies, and values for the variables."""

    def __init__(self, rule: Rule, rng: Random) -> None:
        types = rng.choice(list(instances(rule)))
        values = _values(rule, types, rng)
        known = {name: literal(types[name], values[name]) for name in CONSTANTS & types.keys()}
        self.types = {name: t for name, t in types.items() if name not in CONSTANTS}
        self.values = values
        self.expr = instantiate(rule.pattern, known | {name: Var(name) for name in self.types})

    def simplify(self, index: RuleIndex) -> tuple[Expr, set[str]]:
        """The normal form, and the names of the rules that led to it."""
        env = Types(())
        for name, t in self.types.items():
            env.declare(name, t)
        simplifier = Simplifier(index, env)
        return simplifier.simplify(self.expr), set(simplifier.applied)


def _values(rule: Rule, types: dict[str, DataType], rng: Random) -> dict[str, int]:
    for _ in range(2_000):
        values = {name: random_bits(rng, t) for name, t in types.items()}
        known = {name: Constant(types[name], values[name]) for name in CONSTANTS & types.keys()}
        if rule.when is None or evaluate(rule.when, known).bits:
            return values
    raise AssertionError(f"{rule.name}: no constants satisfy the condition")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_engine_applies_each_rule_and_the_reference_agrees(family: str) -> None:
    for rule in FAMILIES[family]:
        case = Instance(rule, Random(rule.name))
        result, applied = case.simplify(RuleIndex([rule]))
        assert applied == {rule.name}
        before, after = replay(case.types, case.values, [case.expr, result])
        assert before == after, rule.name


def test_no_rule_is_shadowed_by_an_earlier_one() -> None:
    """Some instance of every rule is left for it by those before it; others would be dead weight."""
    index = RuleIndex(RULES)

    def is_reached(rule: Rule) -> bool:
        rng = Random(f"shadow {rule.name}")
        return any(rule.name in Instance(rule, rng).simplify(index)[1] for _ in range(12))

    assert [rule.name for rule in RULES if not is_reached(rule)] == []


def test_a_shadowed_rule_is_seen() -> None:
    late = Rule("late", x + 0, x)
    assert Instance(late, Random(0)).simplify(RuleIndex([*RULES, late]))[1] == {"add-zero"}


def test_constants_of_every_type_survive_the_way_there_and_back() -> None:
    rng = Random("constants")
    for t in VALUE_TYPES:
        bits = random_bits(rng, t)
        assert constant(literal(t, bits)) == Constant(t, bits)
