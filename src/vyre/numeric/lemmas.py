"""Proofs in steps, where one script is beyond a solver: products and quotients of F32, and differences.

A product is correctly rounded because of three facts:

1. unpack: significand and exponent of every finite nonzero operand stand for its value, exactly.
2. round: for every 48-bit product of two significands and all operand exponents, the rest of the op
   gives that product rounded once. The solver sees the product as any 48-bit number, not as a product.
3. special: with an operand that is NaN, infinite or zero the op is `fp.mul`, whatever the product is.

That `Mul` and `MulHi` are the two halves of the product is their definition. Division is the same with a
quotient of 26 bits and a remainder that is zero or not; that the op computes those exactly is the lemma of
`soft/division.py`. F64 holds the exact values of step 2, and its conversion to F32 is the rounding.

An fma has the same three steps. F128 holds the sum of product and addend exactly while they are at most
60 places apart; a summand farther below is moved up to 60 places, which no rounding to F32 can tell: every
boundary between two results is a multiple of the last of the larger summand's 48 bits. Its `round` step has
not been settled by a solver yet.

A difference is the sum with the second operand negated, in every format; that step is proved, and the
sum has evidence of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Var
from vyre.ir.node import Let
from vyre.ir.types import DataType
from vyre.ir.walk import transform
from vyre.numeric.smt import PRELUDE, WORD, definitions, word
from vyre.numeric.soft.arithmetic import add
from vyre.numeric.soft.layout import F32, LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.compose.op import Op

_SINGLE = "(_ FloatingPoint 8 24)"
_DOUBLE = "(_ FloatingPoint 11 53)"
_REBIAS = 1023 - 127


def lemmas(op: Op) -> dict[str, str]:
    """The scripts of all steps by name, each `unsat` when it holds; empty for an op without such a proof."""
    match op.id:
        case "soft.f32.mul":
            return {"unpack": _unpack(op), "round": _product(op), "special": _special(op, "mul", "product")}
        case "soft.f32.div":
            return {"unpack": _unpack(op), "round": _quotient(op), "special": _special(op, "div", "ratio")}
        case "soft.f32.fma":
            return {
                "unpack": _unpack(op, top_b=30, top_c=30),
                "round": _fused(op),
                "special": _fused_special(op),
            }
        case "soft.f32.sub" | "soft.f16.sub" | "soft.bf16.sub":
            return {"is the sum with the second operand negated": _difference(op)}
        case _:
            return {}


def _script(op: Op, cuts: Mapping[str, str], free: str, *conditions: str, claim: str) -> str:
    floats = "".join(
        f"(declare-const in_{p.name} {WORD})\n(define-fun {p.name} () {WORD} in_{p.name})\n"
        f"(define-fun fp_{p.name} () {_SINGLE} ((_ to_fp 8 24) {p.name}))\n"
        for p in op.params
    )
    asserts = "".join(f"(assert {condition})\n" for condition in conditions)
    steps = definitions(op, cuts=cuts)
    return f"{PRELUDE}{floats}{free}{steps}{asserts}(assert (not {claim}))\n(check-sat)\n"


def _difference(op: Op) -> str:
    """The sum's steps get names of their own, so that both definitions fit one script."""
    plus = add(LAYOUTS[DataType(op.id.split(".")[1].upper())])

    def renamed(expr: Expr) -> Expr:
        return transform(expr, lambda x: Var(f"sum_{x.name}") if isinstance(x, Var) else x)

    body = tuple(Let(f"sum_{n.name}", renamed(n.value)) for n in plus.body if isinstance(n, Let))
    sum_op = replace(plus, body=body, result=None if plus.result is None else renamed(plus.result))
    operands = "".join(f"(declare-const {p.name} {WORD})\n" for p in op.params)
    same = f"(define-fun sum_a () {WORD} a)\n(define-fun sum_b () {WORD} negated)\n"
    both = definitions(op) + same + definitions(sum_op, result="sum_result")
    return f"{PRELUDE}{operands}{both}(assert (distinct result sum_result))\n(check-sat)\n"


def _unusual(name: str) -> str:
    return f"(or (fp.isNaN fp_{name}) (fp.isInfinite fp_{name}) (fp.isZero fp_{name}))"


def _double(sign: str, exponent: str, fraction: str) -> str:
    return f"(fp {sign} ((_ extract 10 0) {exponent}) {fraction})"


def _unpack(op: Op, *, top_b: int = 31, top_c: int = 31) -> str:
    """`top_b` and `top_c` are the places of the leading bits of those significands."""
    facts = ""
    for p, top in zip(op.params, (31, top_b, top_c), strict=False):
        x = p.name
        fraction = f"(concat ((_ extract {top - 1} {top - 23}) significand_{x}) (_ bv0 29))"
        exact = _double(f"((_ extract 31 31) {x})", f"(bvadd exponent_{x} {word(_REBIAS)})", fraction)
        whole = f"(bvlshr significand_{x} {word(top - 23)})"
        leading = (
            f"(= significand_{x} (bvshl {whole} {word(top - 23)})) (= (bvlshr {whole} {word(23)}) {word(1)})"
        )
        facts += f"(=> (not {_unusual(x)}) (and (= ((_ to_fp 11 53) RNE fp_{x}) {exact}) {leading})) "
    return _script(op, {}, "", claim=f"(and {facts})")


def _rounds(value: str) -> str:
    return f"(= ((_ to_fp 8 24) result) ((_ to_fp 8 24) RNE {value}))"


_SIGN = "(bvxor ((_ extract 31 31) a) ((_ extract 31 31) b))"


def _product(op: Op) -> str:
    cuts = {
        "low": "(concat ((_ extract 15 0) P) #x0000)",
        "product": f"(bvor ((_ extract 47 16) P) (ite (distinct low {word(0)}) {word(1)} {word(0)}))",
    }
    exponent = f"(bvadd exponent_a exponent_b {word(1023 - 2 * 127)})"
    twice = _double(_SIGN, f"(bvadd {exponent} {word(1)})", "(concat ((_ extract 46 0) P) #b00000)")
    once = _double(_SIGN, exponent, "(concat ((_ extract 45 0) P) #b000000)")
    exact = f"(ite (= ((_ extract 47 47) P) #b1) {twice} {once})"
    return _script(
        op,
        cuts,
        "(declare-const P (_ BitVec 48))\n",
        f"(not {_unusual('a')})",
        f"(not {_unusual('b')})",
        "(distinct ((_ extract 47 46) P) #b00)",
        claim=_rounds(exact),
    )


def _quotient(op: Op) -> str:
    """Q is the quotient in units of 2^-25; a remainder puts the value halfway to the next unit.

    Every boundary between two results is a whole number of units, so halfway rounds as the quotient does.
    """
    cuts = {"quotient": "(concat #b000000 Q)", "remainder": "R"}
    half = "(ite (= R #x00000000) #b0 #b1)"
    exponent = f"(bvadd (bvsub exponent_a exponent_b) {word(1023)})"
    lower = f"(bvsub {exponent} {word(1)})"
    above = _double(_SIGN, exponent, f"(concat ((_ extract 24 0) Q) {half} (_ bv0 26))")
    below = _double(_SIGN, lower, f"(concat ((_ extract 23 0) Q) {half} (_ bv0 27))")
    return _script(
        op,
        cuts,
        f"(declare-const Q (_ BitVec 26))\n(declare-const R {WORD})\n",
        f"(not {_unusual('a')})",
        f"(not {_unusual('b')})",
        "(distinct ((_ extract 25 24) Q) #b00)",
        claim=_rounds(f"(ite (= ((_ extract 25 25) Q) #b1) {above} {below})"),
    )


def _special(op: Op, operation: str, cut: str) -> str:
    """The op with any value for the step that the product or quotient flows through."""
    value = f"(fp.{operation} RNE fp_a fp_b)"
    claim = f"(ite (fp.isNaN {value}) (= result {word(F32.nan)}) (= ((_ to_fp 8 24) result) {value}))"
    free = f"(declare-const any {WORD})\n"
    return _script(op, {cut: "any"}, free, f"(or {_unusual('a')} {_unusual('b')})", claim=claim)


_FAR = 60
_QUAD_REBIAS = 16383 - 127 - 256


def _quad(sign: str, exponent: str, fraction: str) -> str:
    return f"(fp {sign} ((_ extract 14 0) {exponent}) {fraction})"


def _fused(op: Op) -> str:
    cuts = {
        "product_high": "(concat #b0 ((_ extract 47 17) P))",
        "product_low": "(concat ((_ extract 16 0) P) (_ bv0 15))",
    }

    def raised(own: str, other: str) -> str:
        nearest = f"(bvsub {other} {word(_FAR)})"
        return f"(ite (bvugt {other} (bvadd {own} {word(_FAR)})) {nearest} {own})"

    exponent = raised("product_exponent", "addend_exponent")
    twice = _quad(
        _SIGN, f"(bvadd {exponent} {word(_QUAD_REBIAS)})", "(concat ((_ extract 46 0) P) (_ bv0 65))"
    )
    once = _quad(
        _SIGN, f"(bvadd {exponent} {word(_QUAD_REBIAS - 1)})", "(concat ((_ extract 45 0) P) (_ bv0 66))"
    )
    product = f"(ite (= ((_ extract 47 47) P) #b1) {twice} {once})"
    exponent_c = f"(bvadd {raised('addend_exponent', 'product_exponent')} {word(_QUAD_REBIAS)})"
    sign_c = "((_ extract 31 31) c)"
    some = _quad(sign_c, exponent_c, "(concat ((_ extract 29 7) significand_c) (_ bv0 89))")
    addend = f"(ite (fp.isZero fp_c) (fp {sign_c} (_ bv0 15) (_ bv0 112)) {some})"
    return _script(
        op,
        cuts,
        "(declare-const P (_ BitVec 48))\n",
        f"(not {_unusual('a')})",
        f"(not {_unusual('b')})",
        "(not (or (fp.isNaN fp_c) (fp.isInfinite fp_c)))",
        "(distinct ((_ extract 47 46) P) #b00)",
        claim=_rounds(f"(fp.add RNE {product} {addend})"),
    )


def _fused_special(op: Op) -> str:
    """A product of zero is zero; any other may be anything."""
    none = f"(distinct no_product {word(0)})"
    cuts = {f"product_{half}": f"(ite {none} {word(0)} any_{half})" for half in ("high", "low")}
    free = f"(declare-const any_high {WORD})\n(declare-const any_low {WORD})\n"
    value = "(fp.fma RNE fp_a fp_b fp_c)"
    claim = f"(ite (fp.isNaN {value}) (= result {word(F32.nan)}) (= ((_ to_fp 8 24) result) {value}))"
    unusual = f"(or {_unusual('a')} {_unusual('b')} (fp.isNaN fp_c) (fp.isInfinite fp_c))"
    return _script(op, cuts, free, unusual, claim=claim)
