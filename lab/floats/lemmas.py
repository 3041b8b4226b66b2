"""Proofs in steps, where one script is beyond a solver or takes it long: the arithmetic of every format.

A product is correctly rounded because of three facts:

1. unpack: significand and exponent of every finite nonzero operand stand for its value, exactly.
2. round: for every possible product of two significands and all operand exponents, the rest of the op gives
   that product rounded once. The solver sees the product as any number of its length, not as a product.
3. special: with an operand that is NaN, infinite or zero the op is `fp.mul`, whatever the product is.

That `Mul` and `MulHi` are the two halves of the product is their definition. Division is the same with a
quotient and a remainder that is zero or not. The 16-bit formats divide integers; that the op of F32 computes
both exactly is the lemma of `soft/division.py`. Sums are in `lemmas_sum.py`, fused ones in `lemmas_fma.py`.

A difference is the sum with the second operand negated, in every format; that step is proved, and the
sum has evidence of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.floats.claims import layout_of
from lab.floats.lemma_parts import exact, rounds, script, sign_of, special, unpacks, unusual, usual
from lab.floats.lemmas_fma import fma_lemmas
from lab.floats.lemmas_sum import sum_lemmas
from vyre.ir.expr import Expr, Var
from vyre.ir.node import Let
from vyre.ir.walk import transform
from vyre.numeric.smt import PRELUDE, WORD, definitions, word
from vyre.numeric.soft.arithmetic import add

if TYPE_CHECKING:
    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout


def lemmas(op: Op) -> dict[str, str]:
    """The scripts of all steps by name, each `unsat` when it holds; empty for an op without such a proof."""
    fmt, name = layout_of(op), op.id.rpartition(".")[2]
    wide = fmt.width == 32
    match name:
        case "mul":
            return {
                "unpack": unpacks(op, *((31, 31) if wide else (15, 15))),
                "round": _product(op, fmt),
                "special": _special(op, "mul", "product"),
            }
        case "div":
            return {
                "unpack": unpacks(op, 31, 31 if wide else fmt.fraction_bits),
                "round": _quotient(op, fmt),
                "special": _special(op, "div", "ratio"),
            }
        case "fma":
            return fma_lemmas(op)
        case "add":
            return sum_lemmas(op)
        case "sub":
            return {"is the sum with the second operand negated": _difference(op, fmt)}
        case _:
            return {}


def _difference(op: Op, fmt: Layout) -> str:
    """The sum's steps get names of their own, so that both definitions fit one script."""
    plus = add(fmt)

    def renamed(expr: Expr) -> Expr:
        return transform(expr, lambda x: Var(f"sum_{x.name}") if isinstance(x, Var) else x)

    body = tuple(Let(f"sum_{n.name}", renamed(n.value)) for n in plus.body if isinstance(n, Let))
    sum_op = replace(plus, body=body, result=None if plus.result is None else renamed(plus.result))
    operands = "".join(f"(declare-const {p.name} {WORD})\n" for p in op.params)
    same = f"(define-fun sum_a () {WORD} a)\n(define-fun sum_b () {WORD} negated)\n"
    both = definitions(op) + same + definitions(sum_op, result="sum_result")
    return f"{PRELUDE}{operands}{both}(assert (distinct result sum_result))\n(check-sat)\n"


def _sign(fmt: Layout) -> str:
    return f"(bvxor {sign_of(fmt, 'a')} {sign_of(fmt, 'b')})"


def _product(op: Op, fmt: Layout) -> str:
    bits = 2 * (fmt.fraction_bits + 1)
    if fmt.width == 32:
        cuts = {
            "low": "(concat ((_ extract 15 0) P) #x0000)",
            "product": f"(bvor ((_ extract 47 16) P) (ite (distinct low {word(0)}) {word(1)} {word(0)}))",
        }
    else:
        cuts = {"product": f"(concat P (_ bv0 {32 - bits}))"}
    exponent = "(bvadd exponent_a exponent_b)"
    fraction = f"(concat ((_ extract {bits - 3} 0) P) #b0)"
    twice = exact(_sign(fmt), exponent, f"((_ extract {bits - 2} 0) P)", bits=bits - 1, bias=2 * fmt.bias - 1)
    once = exact(_sign(fmt), exponent, fraction, bits=bits - 1, bias=2 * fmt.bias)
    value = f"(ite (= ((_ extract {bits - 1} {bits - 1}) P) #b1) {twice} {once})"
    return script(
        op,
        cuts,
        f"(declare-const P (_ BitVec {bits}))\n",
        *usual("a", "b"),
        f"(distinct ((_ extract {bits - 1} {bits - 2}) P) #b00)",
        claim=rounds(fmt, value, bits=bits - 1),
    )


def _quotient(op: Op, fmt: Layout) -> str:
    """Q is the quotient in units of its last place; a remainder puts the value halfway to the next unit.

    Every boundary between two results is a whole number of units, so halfway rounds as the quotient does.
    """
    places = 25 if fmt.width == 32 else 31 - fmt.fraction_bits
    cuts = {"quotient": f"(concat (_ bv0 {31 - places}) Q)", "remainder": "R"}
    half = "(ite (= R #x00000000) #b0 #b1)"
    exponent = "(bvsub exponent_a exponent_b)"
    above = exact(
        _sign(fmt), exponent, f"(concat ((_ extract {places - 1} 0) Q) {half})", bits=places + 1, bias=0
    )
    below = exact(
        _sign(fmt), exponent, f"(concat ((_ extract {places - 2} 0) Q) {half} #b0)", bits=places + 1, bias=1
    )
    value = f"(ite (= ((_ extract {places} {places}) Q) #b1) {above} {below})"
    return script(
        op,
        cuts,
        f"(declare-const Q (_ BitVec {places + 1}))\n(declare-const R {WORD})\n",
        *usual("a", "b"),
        f"(distinct ((_ extract {places} {places - 1}) Q) #b00)",
        claim=rounds(fmt, value, bits=places + 1),
    )


def _special(op: Op, operation: str, cut: str) -> str:
    """The op with any value for the step that the product or quotient flows through."""
    free = f"(declare-const any {WORD})\n"
    return special(op, operation, {cut: "any"}, free, f"(or {unusual('a')} {unusual('b')})")
