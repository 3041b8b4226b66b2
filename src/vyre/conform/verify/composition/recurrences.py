"""Euclid's algorithm and powers by squares, proved for all inputs from the rules that define their results.

`common` is any function with gcd(x, 0) = x and gcd(x, y) = gcd(y, x mod y); `power` is any with x^0 = 1,
x^2k = (x^2)^k and x^(2k+1) = x (x^2)^k, modulo the modulus. What a turn needs to know of remainders and of
products is proved of words and of integers. Loops end in time: remainders of Euclid's algorithm are below the
Fibonacci numbers, and an exponent has 32 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.verify.composition.body import RESULT, loop_parts
from vyre.conform.verify.composition.link import NUMBERS, WORD, Link, abstract, integers, moved, not_, query
from vyre.ir.expr import Call, Expr, Var
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, rebuild
from vyre.semantics.translate import Translation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.op import Op

_U32 = DataType.U32
_ZERO, _ONE = "(_ bv0 32)", "(_ bv1 32)"

GCD, POW_MOD, MUL_MOD = "integer.gcd", "integer.pow_mod", "integer.mul_mod"

RECURRENCES: Mapping[str, str] = {
    GCD: f"(= {RESULT} (common a b))",
    POW_MOD: f"(= {RESULT} (ite (= modulus {_ZERO}) {_ZERO} (power_of (bvurem a modulus) exponent)))",
}
"""What the ops mean, by the functions that the rules define."""


def links(op: Op) -> list[Link]:
    """The steps from the rules to the meaning."""
    return _common_divisor(op) if op.id == GCD else _power(op)


def _fibonacci(count: int) -> int:
    a, b = 0, 1
    for _ in range(count):
        a, b = b, a + b
    return a


def _below(name: str, bound: int) -> str:
    return "true" if bound > 0xFFFF_FFFF else f"(bvult {name} (_ bv{bound} 32))"


def _euclid(turn: int, turns: int) -> str:
    """The divisor is that of the operands; from the first turn on remainders fall as fast as they must."""
    same = "(= (common x y) (common a b))"
    if turn == 0:
        return same
    left = turns - turn
    small = f"(or {_below('y', _fibonacci(left + 1))} {_below('x', _fibonacci(left + 2))})"
    return f"(and {same} (or (= y {_ZERO}) (and (bvult y x) {small})))"


def _common_divisor(op: Op) -> list[Link]:
    parts = loop_parts(op)
    types = {p.name: p.type for p in op.params} | dict.fromkeys(parts.state, _U32)
    count = len(parts.turns)
    step, end, start = Translation(types), Translation(types), Translation(types)
    rest = "(bvurem x y)"
    remainder = (
        f"(=> (distinct y {_ZERO}) (and (bvult {rest} y) (=> (bvule y x) (bvule {rest} (bvsub x y)))))"
    )
    rules = [
        f"(assert (= (common x {_ZERO}) x))",
        f"(assert (=> (distinct y {_ZERO}) (= (common x y) (common y {rest}))))",
    ]
    same_step = all(parts.step(k) == parts.step(0) for k in parts.turns)
    assert same_step
    broken = [
        f"(and {_euclid(k, count)} (not {moved(step, parts.step(0), _euclid(k + 1, count))}))"
        for k in parts.turns
    ]
    declared = [f"(declare-const {name} {WORD})" for name in "xy"]
    begun = moved(start, parts.before, _euclid(0, count))
    result = f"(define-fun {RESULT} () {WORD} {end.term(parts.after)})"
    last = [*end.lines, *rules, result, f"(assert {_euclid(count, count)})", not_(RECURRENCES[GCD])]
    known = [*step.lines, *rules, f"(assert {remainder})", f"(assert (or {' '.join(broken)}))"]
    return [
        Link(
            "a remainder is below the divisor and what is left of the number",
            query([*declared, not_(remainder)]),
        ),
        Link("it begins with the operands", _of("common", 2, [*start.lines, not_(begun)])),
        Link("every turn keeps the divisor, and remainders fall", _of("common", 2, known)),
        Link("the last remainder is 0", _of("common", 2, last)),
    ]


def _of(name: str, arity: int, lines: list[str]) -> str:
    """A question about any function of the name, and about any division."""
    declared = f"(declare-fun {name} ({' '.join([WORD] * arity)}) {WORD})"
    text = abstract(query([declared, *lines]))
    return text.replace("(set-logic QF_BV)", "(set-logic QF_UFBV)")


def _power(op: Op) -> list[Link]:
    parts = loop_parts(op, inlined=False)
    types = {p.name: p.type for p in op.params} | dict.fromkeys(parts.state, _U32)
    turn, calls = _without_calls(parts.step(0))
    step = Translation(types | dict.fromkeys(calls, _U32))
    start, end = Translation(types), Translation(types)
    one, zero = "(bvurem (_ bv1 32) modulus)", f"(= modulus {_ZERO})"
    products = [
        f"(assert (= {name} (times {' '.join(step.term(operand) for operand in call.args[:2])})))"
        for name, call in calls.items()
    ]
    squared, half = "(times base base)", "(bvlshr bits (_ bv1 32))"
    rest = f"(power_of {squared} {half})"
    odd, more = "(= ((_ extract 0 0) bits) #b1)", f"(times base {rest})"
    rules = [
        f"(assert (= (power_of base {_ZERO}) {one}))",
        f"(assert (=> (distinct bits {_ZERO}) (= (power_of base bits) (ite {odd} {more} {rest}))))",
        f"(assert (= (times (times power base) {rest}) (times power (times base {rest}))))",
        f"(assert (=> (bvult power modulus) (= (times power {one}) power)))",
        *(f"(assert (bvult {name} modulus))" for name in calls),
        f"(assert (not {zero}))",
    ]

    def holds(turn: int) -> str:
        wanted = "(power_of (bvurem a modulus) exponent)"
        same = f"(= (times power (power_of base bits)) {wanted})"
        return f"(and {same} (bvult power modulus) {_below('bits', 1 << (32 - turn))})"

    empty = f"(= power {_ZERO})"
    broken = [f"(and {holds(k)} (not {moved(step, turn, holds(k + 1))}))" for k in parts.turns]
    first = "(power_of (bvurem a modulus) exponent)"
    begun = [
        f"(assert (= (times {one} {first}) {first}))",
        f"(assert (bvult {one} modulus))",
        f"(assert (not {zero}))",
    ]
    begins, stays = (moved(start, parts.before, formula) for formula in (holds(0), empty))
    result = f"(define-fun {RESULT} () {WORD} {end.term(parts.after)})"
    last = [*end.lines, *rules[:1], rules[3], rules[-1], result, f"(assert {holds(len(parts.turns))})"]
    nothing = [f"(assert {zero})", *(f"(assert (= {name} {_ZERO}))" for name in calls)]
    still = moved(step, turn, empty)
    return [
        *(Link(name, text, NUMBERS) for name, text in PRODUCTS.items()),
        Link("it begins with 1 and the operand", _rules([*start.lines, *begun, not_(begins)])),
        Link(
            "every turn keeps the product",
            _rules([*step.lines, *products, *rules, f"(assert (or {' '.join(broken)}))"]),
        ),
        Link("no bit is left", _rules([*last, not_(RECURRENCES[POW_MOD])])),
        Link("without a modulus it begins with 0", query([*start.lines, nothing[0], not_(stays)])),
        Link(
            "without a modulus it stays 0", query([*step.lines, *nothing, f"(assert {empty})", not_(still)])
        ),
    ]


def _rules(lines: list[str]) -> str:
    declared = [f"(declare-fun {name} ({WORD} {WORD}) {WORD})" for name in ("times", "power_of")]
    return abstract(query([*declared, *lines])).replace("(set-logic QF_BV)", "(set-logic QF_UFBV)")


def _without_calls(updates: Mapping[str, Expr]) -> tuple[dict[str, Expr], dict[str, Call]]:
    """Calls of `integer.mul_mod` by names, and the updates over them."""
    names: dict[Expr, str] = {}
    found: dict[str, Expr] = {}
    for state, root in updates.items():
        done: dict[Expr, Expr] = {}
        for expr in postorder(root):
            if isinstance(expr, Call):
                assert expr.op_id == MUL_MOD
                done[expr] = Var(names.setdefault(expr, f"product{len(names)}"))
            else:
                done[expr] = rebuild(expr, tuple(done[c] for c in expr.children)) if expr.children else expr
        found[state] = done[root]
    return found, {name: expr for expr, name in names.items() if isinstance(expr, Call)}


PRODUCTS: Mapping[str, str] = {
    "two ways to a product of three differ by a multiple of the modulus": integers(
        "r x y m p q n o",
        [],
        # Each remainder is written as its number without so many times the modulus.
        "(= (- (- (* (- (* r x) (* p m)) y) (* q m)) (- (* r (- (* x y) (* n m))) (* o m))) "
        "(* m (+ (- (* r n) (* p y)) (- o q))))",
    ),
    "such a multiple is 0": integers(
        "m k d", ["(> m 0)", "(= d (* m k))", "(< d m)", "(< (- m) d)"], "(= d 0)"
    ),
    "1 modulo the modulus changes no remainder": integers(
        "m y o", ["(> m 0)", "(<= 0 y)", "(< y m)", "(= o (mod 1 m))"], "(= (mod (* o y) m) y)"
    ),
}
"""Products of remainders modulo m are associative, and have the identity 1 modulo m."""
