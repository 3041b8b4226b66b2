"""Comparisons: equal operands, bounds of the range, and what both sides share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Expr
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import BinaryOp
from vyre.optimize.rule import Proof
from vyre.optimize.rules.build import I32, U32, c, d, logical_not, rule, suffix, word, x, y

if TYPE_CHECKING:
    from vyre.ir.types import DataType
    from vyre.optimize.rule import Rule

INVERSE = {
    BinaryOp.Eq: BinaryOp.Ne,
    BinaryOp.Ne: BinaryOp.Eq,
    BinaryOp.Lt: BinaryOp.Ge,
    BinaryOp.Ge: BinaryOp.Lt,
    BinaryOp.Gt: BinaryOp.Le,
    BinaryOp.Le: BinaryOp.Gt,
}
_EQUALITY = (BinaryOp.Eq, BinaryOp.Ne)


def _equality(t: DataType, op: BinaryOp) -> list[Rule]:
    zero, s = word(t, 0), f"{op.value.lower()}{suffix(t)}"

    def same(left: Expr, right: Expr) -> Expr:
        return BinOp(op, left, right)

    return [
        rule(f"self-{s}", same(x, x), int(op is BinaryOp.Eq), of=t),
        rule(f"difference-{s}", same(x - y, zero), same(x, y), of=t),
        rule(f"xor-{s}", same(x ^ y, zero), same(x, y), of=t),
        rule(f"negated-{s}", same(-x, c), same(x, -c), of=t),
        rule(f"complement-{s}", same(~x, c), same(x, ~c), of=t),
        rule(f"add-constant-{s}", same(x + c, d), same(x, d - c), of=t),
        rule(f"sub-constant-{s}", same(x - c, d), same(x, d + c), of=t),
        rule(f"constant-sub-{s}", same(c - x, d), same(x, c - d), of=t),
        rule(f"xor-constant-{s}", same(x ^ c, d), same(x, c ^ d), of=t),
        rule(f"add-first-{s}", same(x + y, x), same(y, zero), of=t),
        rule(f"add-second-{s}", same(x + y, y), same(x, zero), of=t),
        rule(f"negated-both-{s}", same(-x, -y), same(x, y), of=t),
        rule(f"complement-both-{s}", same(~x, ~y), same(x, y), of=t),
        rule(
            f"and-unreachable-{s}",
            same(x & c, d),
            int(op is BinaryOp.Ne),
            when=(d & ~c).ne(zero),
            of=t,
        ),
        rule(f"or-unreachable-{s}", same(x | c, d), int(op is BinaryOp.Ne), when=(c & ~d).ne(zero), of=t),
    ]


def _inverse(op: BinaryOp) -> list[Rule]:
    name, compared = op.value.lower(), BinOp(op, x, y)
    inverse = BinOp(INVERSE[op], x, y)
    rules = [
        rule(f"not-{name}", logical_not(compared), inverse),
        rule(f"{name}-is-zero", compared.eq(0), inverse),
        rule(f"{name}-not-zero", compared.ne(0), compared),
        rule(f"{name}-is-one", compared.eq(1), compared),
        rule(f"{name}-not-one", compared.ne(1), inverse),
        rule(f"{name}-flipped", compared ^ 1, inverse),
        rule(f"{name}-from-one", 1 - compared, inverse),
        rule(f"{name}-masked", compared & c, compared, when=c & 1),
        rule(f"{name}-masked-out", compared & c, 0, when=(c & 1).eq(0)),
        rule(f"{name}-shifted-out", compared >> c, 0, when=(c & 31).ne(0)),
        rule(f"{name}-below-two", compared < c, 1, when=c > 1),
    ]
    if op in _EQUALITY:
        rules.append(rule(f"not-{name}.i32", logical_not(compared), inverse, x=I32, y=I32))
    return rules


RULES = (
    *(r for t in (U32, I32) for op in _EQUALITY for r in _equality(t, op)),
    *(r for op in INVERSE for r in _inverse(op)),
    rule("self-lt", x < x, 0),
    rule("self-gt", x > x, 0),
    rule("self-le", x <= x, 1),
    rule("self-ge", x >= x, 1),
    rule("lt-zero", x < 0, 0),
    rule("ge-zero", x >= 0, 1),
    rule("gt-zero", x > 0, x.ne(0)),
    rule("le-zero", x <= 0, x.eq(0)),
    rule("lt-one", x < 1, x.eq(0)),
    rule("ge-one", x >= 1, x.ne(0)),
    rule("gt-max", x > U32_MAX, 0),
    rule("le-max", x <= U32_MAX, 1),
    rule("lt-max", x < U32_MAX, x.ne(U32_MAX)),
    rule("ge-max", x >= U32_MAX, x.eq(U32_MAX)),
    rule("complement-lt", ~x < ~y, y < x),
    rule("complement-le", ~x <= ~y, y <= x),
    rule("and-not-above", (x & y) <= x, 1),
    rule("and-above", (x & y) > x, 0),
    rule("or-not-below", (x | y) >= x, 1),
    rule("or-below", (x | y) < x, 0),
    rule("and-constant-below", (x & c) < d, 1, when=c < d),
    rule("and-constant-not-above", (x & c) <= d, 1, when=c <= d),
    rule("shr-constant-below", (x >> c) < d, 1, when=(U32_MAX >> c) < d),
    rule("shr-not-above", (x >> y) <= x, 1),
    rule("mod-not-above-self", (x % y) <= x, 1, proof=Proof.Integers),
    rule("div-not-above-self", (x // y) <= x, 1),
)
