"""The steps that make a sum of any format correctly rounded; `lemmas_fma.py` says how they fit together.

1. unpack: exponent and significand are those that the format's definition gives to the operand's bits.
2. align: the op's total is the exact sum, or it is odd, not small, and less than one unit away from it.
3. round: whatever the total is, in either sense, the rest of the op gives that exact value rounded once.
4. special: with an operand that is NaN or infinite the op is `fp.add`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.floats.claims import layout_of
from lab.floats.lemma_parts import exact, halves, rounds, script, sign_of, special
from vyre.numeric.smt import word

if TYPE_CHECKING:
    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout

_TOP = 30
"""The place of a hidden bit in the op."""
_SMALL = 29
"""A total below this place is exact."""


def sum_lemmas(op: Op) -> dict[str, str]:
    """The scripts of all steps."""
    fmt = layout_of(op)
    finite = [f"(not (or (fp.isNaN fp_{x}) (fp.isInfinite fp_{x})))" for x in "ab"]
    unusual = " ".join(f"(fp.isNaN fp_{x}) (fp.isInfinite fp_{x})" for x in "ab")
    return {
        "unpack": script(op, {}, "", *finite, claim=f"(and {_unpacked(fmt, 'x')} {_unpacked(fmt, 'y')})"),
        "align": script(op, {}, "", *finite, claim=_aligned(fmt)),
        "round": _round(op, fmt, finite),
        "special": special(op, "add", {}, "", f"(or {unusual})"),
    }


def _unpacked(fmt: Layout, name: str) -> str:
    """A field of 0 counts as 1 and has no hidden bit; `x` is one of the operands, `y` the other one."""
    other = {"x": "y", "y": "x"}[name]
    stored = f"(bvand {name} {word(fmt.fraction)})"
    field = f"(bvand (bvlshr {name} {word(fmt.fraction_bits)}) {word(fmt.exponent)})"
    normal = f"(distinct {field} {word(0)})"
    whole = f"(ite {normal} (bvor {stored} {word(fmt.hidden)}) {stored})"
    return (
        f"(and (= exponent_{name} (ite {normal} {field} {word(1)})) "
        f"(= significand_{name} (bvshl {whole} {word(_TOP - fmt.fraction_bits)})) "
        f"(or (and (= {name} a) (= {other} b)) (and (= {name} b) (= {other} a))))"
    )


def _aligned(fmt: Layout) -> str:
    """As step 2 of an fma; the larger magnitude comes first, so that no total is negative."""
    large = f"(distinct ((_ extract 31 {_SMALL}) total) (_ bv0 {32 - _SMALL}))"
    jammed = f"(and {large} (= T (bvor (_ bv1 34) (ite same U (bvsub U (_ bv1 34))))))"
    zero = f"(= result (ite same (bvand x {word(fmt.sign)}) {word(0)}))"
    kept = "((_ zero_extend 2) kept)"
    return (
        f"(let ((same (= {sign_of(fmt, 'x')} {sign_of(fmt, 'y')})) (D (bvsub exponent_x exponent_y)) "
        "(X ((_ zero_extend 2) significand_x)) (T ((_ zero_extend 2) total))) "
        "(let ((kept (bvlshr significand_y D))) (let ((lost (distinct (bvshl kept D) significand_y)) "
        f"(U (ite same (bvadd X {kept}) (bvsub X {kept})))) "
        f"(and (bvuge exponent_x {word(1)}) (bvult exponent_x {word(fmt.exponent)}) "
        "(bvule exponent_y exponent_x) "
        f"(bvsge U (_ bv0 34)) (=> (= U (_ bv0 34)) {zero}) (ite lost {jammed} (= T U))))))"
    )


def _round(op: Op, fmt: Layout, finite: list[str]) -> str:
    given = halves(32, 32, _SMALL)
    sign = sign_of(fmt, "x")
    value = exact(sign, "(bvsub E L)", given.fraction, bits=32, bias=fmt.bias - 1)
    return script(
        op,
        {"total": "T", "exponent_x": "E"},
        given.free,
        *finite,
        *given.conditions,
        f"(and (bvuge E {word(1)}) (bvult E {word(fmt.exponent)}))",
        claim=rounds(fmt, value, bits=32),
    )
