"""The steps that make an fma of any format correctly rounded.

1. unpack: significand and exponent of every usual operand stand for its value, exactly.
2. align: for every possible product of two significands, the window of the op holds the exact sum of product
   and addend, or it is odd, not small, and the exact sum lies less than one unit of the window away from it.
   A sum of nothing is +0, for only summands of opposite signs give it.
3. round: whatever the window holds, in either sense, the rest of the op gives that exact value rounded once.
4. special: with an operand that is NaN or infinite, or a factor that is zero, the op is `fp.fma`.

Step 2 takes the product as any number of its length: that `Mul` and `MulHi` give its two halves is their
definition. It is stated without wide numbers. With X the summand of larger exponent, Y the other one, D
places below, and U = X + (Y >> D), the exact sum is U if the shift loses nothing, and else lies strictly
between U and U + 1, because Y is (Y >> D) * 2^D plus less than 2^D. For a difference, U = X - (Y >> D), it
lies between U - 1 and U.

Step 3 puts an inexact value halfway to the next unit. Every boundary between two results is a whole, even
number of units of a window that is not small, so all values between two units round alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.floats.claims import layout_of
from lab.floats.lemma_parts import exact, halves, rounds, script, sign_of, special, unpacks, unusual, usual
from vyre.numeric.smt import WORD, word
from vyre.numeric.soft.parts import OFFSET

if TYPE_CHECKING:
    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout

_LEAST, _MOST = 64, 640
"""The larger exponent is from the one up to the other; step 2 claims it and step 3 relies on it."""


@dataclass(frozen=True, slots=True)
class _Window:
    """Where the sum is: the exponent belongs to the place `top`, and a sum takes up to `room` bits."""

    bits: int
    top: int
    room: int
    product: str
    addend: str
    value: str
    product_cuts: dict[str, str]
    value_cuts: dict[str, str]
    distance: str

    @property
    def small(self) -> int:
        """Below this place a window may not be inexact."""
        return self.top - 6


def _window(fmt: Layout) -> _Window:
    distance = "(bvsub larger_exponent smaller_exponent)"
    if fmt.width == 32:
        return _Window(
            bits=64,
            top=62,
            room=64,
            product="(concat #b0 P (_ bv0 15))",
            addend=f"(concat significand_c {word(0)})",
            value="(concat high low)",
            product_cuts={
                "product_high": "(concat #b0 ((_ extract 47 17) P))",
                "product_low": "(concat ((_ extract 16 0) P) (_ bv0 15))",
            },
            value_cuts={"high": "((_ extract 63 32) T)", "low": "((_ extract 31 0) T)"},
            distance=f"(concat {word(0)} {distance})",
        )
    product = f"(concat #b00 P (_ bv0 {30 - 2 * (fmt.fraction_bits + 1)}))"
    return _Window(
        bits=32,
        top=29,
        room=31,
        product=product,
        addend="significand_c",
        value="size",
        product_cuts={"product": product},
        value_cuts={"size": "T"},
        distance=distance,
    )


def fma_lemmas(op: Op) -> dict[str, str]:
    """The scripts of all steps."""
    fmt = layout_of(op)
    tops = (31, 30, 30) if fmt.width == 32 else (14, 14, 29)
    return {
        "unpack": unpacks(op, *tops),
        "align": _align(op, fmt),
        "round": _round(op, fmt),
        "special": _special(op, fmt),
    }


def _finite() -> list[str]:
    return [*usual("a", "b"), "(not (or (fp.isNaN fp_c) (fp.isInfinite fp_c)))"]


def _align(op: Op, fmt: Layout) -> str:
    w = _window(fmt)
    product_bits = 2 * (fmt.fraction_bits + 1)
    one, none = f"(_ bv1 {w.bits + 2})", f"(_ bv0 {w.bits + 2})"
    free = f"(declare-const P (_ BitVec {product_bits}))\n"
    names = (
        ("X", f"(ite leads {w.product} {w.addend})"),
        ("Y", f"(ite leads {w.addend} {w.product})"),
        ("D", w.distance),
        ("kept", "(bvlshr Y D)"),
    )
    nested = "".join(f"(let (({name} {term})) " for name, term in names)
    extended = {name: f"((_ zero_extend 2) {name})" for name in ("X", "kept")}
    total = (
        f"(ite same (bvadd {extended['X']} {extended['kept']}) (bvsub {extended['X']} {extended['kept']}))"
    )
    sign = "(ite leads product_sign addend_sign)"
    negative = f"(bvslt U {none})"
    held = (
        f"(and (= T (ite {negative} (bvneg U) U)) (=> (= U {none}) (and (not same) (= result {word(0)}))) "
        f"(=> (distinct U {none}) "
        f"(= (distinct flipped {word(0)}) (xor {negative} (distinct {sign} {word(0)})))))"
    )
    large = f"(distinct ((_ extract {w.bits - 1} {w.small}) T) (_ bv0 {w.bits - w.small}))"
    jammed = (
        f"(and {large} (not {negative}) (= flipped {sign}) (= T (bvor {one} (ite same U (bvsub U {one})))))"
    )
    claim = (
        "(let ((leads (bvuge product_exponent addend_exponent)) (same (= product_sign addend_sign)) "
        f"(T ((_ zero_extend 2) {w.value}))) {nested}"
        f"(let ((lost (distinct (bvshl kept D) Y)) (U {total})) (and "
        f"(= product_exponent (bvadd exponent_a exponent_b {word(OFFSET - fmt.bias + 1)})) "
        f"(ite (fp.isZero fp_c) (= significand_c {word(0)}) "
        f"(= addend_exponent (bvadd exponent_c {word(OFFSET)}))) "
        "(= larger_exponent (ite leads product_exponent addend_exponent)) "
        f"(bvuge larger_exponent {word(_LEAST)}) (bvult larger_exponent {word(_MOST)}) "
        f"(ite lost {jammed} {held}))){')' * (len(names) + 1)}"
    )
    possible = f"(distinct ((_ extract {product_bits - 1} {product_bits - 2}) P) #b00)"
    return script(op, w.product_cuts, free, *_finite(), possible, claim=claim)


def _round(op: Op, fmt: Layout) -> str:
    w = _window(fmt)
    given = halves(w.bits, w.room, w.small)
    bias = fmt.bias + OFFSET + w.top - (w.room - 1)
    value = exact(sign_of(fmt, "flipped"), "(bvsub E L)", given.fraction, bits=w.room, bias=bias)
    return script(
        op,
        {**w.value_cuts, "larger_exponent": "E", "negative": "turned"},
        f"{given.free}(declare-const turned {WORD})\n",
        *_finite(),
        *given.conditions,
        f"(and (bvuge E {word(_LEAST)}) (bvult E {word(_MOST)}) (bvule turned {word(1)}))",
        claim=rounds(fmt, value, bits=w.room),
    )


def _special(op: Op, fmt: Layout) -> str:
    """A product of zero is zero; any other may be anything."""
    none = f"(distinct no_product {word(0)})"
    steps = tuple(_window(fmt).product_cuts)
    cuts = {step: f"(ite {none} {word(0)} any_{step})" for step in steps}
    free = "".join(f"(declare-const any_{step} {WORD})\n" for step in steps)
    condition = f"(or {unusual('a')} {unusual('b')} (fp.isNaN fp_c) (fp.isInfinite fp_c))"
    return special(op, "fma", cuts, free, condition)
