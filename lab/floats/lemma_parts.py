"""What the steps of a chain are written with: operands of any format, exact values, and what rounding means.

An exact value is given by a sign, an exponent and a fraction with its leading bit understood. F64 or F128
holds it, and the theory's conversion is the rounding. Solvers have no BF16, so there rounding is said in
full: the exact value lies between the two midpoints beside the result, and on one only where the result is
even. A midpoint of two BF16 is an F32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.floats.claims import decoded, encodes, layout_of, sort, to_fp
from vyre.ir.types import DataType
from vyre.numeric.smt import PRELUDE, WORD, definitions, word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout


def script(op: Op, cuts: Mapping[str, str], free: str, *conditions: str, claim: str) -> str:
    """Satisfiable by operands that meet the conditions and break the claim, with the `cuts` replaced."""
    fmt = layout_of(op)
    lines = [PRELUDE]
    for p in op.params:
        whole = f"in_{p.name}" if fmt.width == 32 else f"(concat #x0000 in_{p.name})"
        lines += [
            f"(declare-const in_{p.name} (_ BitVec {fmt.width}))",
            f"(define-fun {p.name} () {WORD} {whole})",
            f"(define-fun fp_{p.name} () {sort(fmt)} {decoded(fmt, f'in_{p.name}')})",
        ]
    lines += [free, definitions(op, cuts=cuts)]
    lines += [f"(assert {condition})" for condition in conditions]
    return "\n".join([*lines, f"(assert (not {claim}))", "(check-sat)", ""])


def unusual(name: str) -> str:
    return f"(or (fp.isNaN fp_{name}) (fp.isInfinite fp_{name}) (fp.isZero fp_{name}))"


def usual(*names: str) -> list[str]:
    """Conditions: these operands are finite and not zero."""
    return [f"(not {unusual(name)})" for name in names]


def exact(sign: str, exponent: str, fraction: str, *, bits: int, bias: int) -> str:
    """The value of a fraction of so many bits, at an exponent biased by `bias`."""
    exponent_bits, fraction_bits, own = (11, 52, 1023) if bits <= 52 else (15, 112, 16383)
    rebased = f"((_ extract {exponent_bits - 1} 0) (bvadd {exponent} {word(own - bias & 0xFFFFFFFF)}))"
    padding = f"(_ bv0 {fraction_bits - bits})"
    return f"(fp {sign} {rebased} {f'(concat {fraction} {padding})' if fraction_bits > bits else fraction})"


def sign_of(fmt: Layout, bits: str) -> str:
    return f"((_ extract {fmt.sign_shift} {fmt.sign_shift}) {bits})"


def rounds(fmt: Layout, value: str, *, bits: int) -> str:
    """The result is `value`, an `exact` value of so many bits, rounded once to nearest, ties to even."""
    if fmt.type is DataType.BF16:
        return _between_midpoints(value, "11 53" if bits <= 52 else "15 113")
    if fmt.width == 32:
        return f"(= ({to_fp(fmt)} result) ({to_fp(fmt)} RNE {value}))"
    same = f"(= ({to_fp(fmt)} ((_ extract 15 0) result)) ({to_fp(fmt)} RNE {value}))"
    return f"(and (= ((_ extract 31 16) result) #x0000) {same})"


def _between_midpoints(value: str, wide: str) -> str:
    def midpoint(bits: str) -> str:
        return f"((_ to_fp {wide}) RNE ((_ to_fp 8 24) {bits}))"

    above, below = midpoint("(concat m #x8000)"), midpoint("(bvsub (concat m #x0000) #x00008000)")
    even = "(= ((_ extract 0 0) m) #b0)"
    return f"""(let ((m (bvand ((_ extract 15 0) result) #x7fff)) (v (fp.abs {value}))) (and
  (= ((_ extract 31 16) result) #x0000)
  (= (= ((_ extract 15 15) result) #b1) (fp.isNegative {value}))
  (bvule m #x7f80)
  (or (= m #x7f80) (fp.lt v {above}) (and {even} (fp.eq v {above})))
  (or (= m #x0000) (fp.gt v {below}) (and {even} (fp.eq v {below})))))"""


@dataclass(frozen=True, slots=True)
class Halves:
    """A value in whole or half units of a window `T`: what declares it, what holds, and its fraction."""

    free: str
    conditions: tuple[str, ...]
    fraction: str


def halves(bits: int, room: int, small: int) -> Halves:
    """Any exact value that a window of so many bits stands for, of which a sum takes up to `room`.

    `W` is twice the value. An odd `W` is a value between two units, held as the odd one of them; that needs a
    window of at least 2^small. `normal` is `W` moved up by `L` places until its leading bit is the top one.
    An exponent `E` is free too.
    """
    whole = room + 1
    moved = "L" if whole == 32 else f"((_ zero_extend {whole - 32}) L)"
    jam = f"(bvor ((_ extract {whole - 1} 1) W) ((_ zero_extend {whole - 2}) ((_ extract 0 0) W)))"
    window = jam if room == bits else f"(concat (_ bv0 {bits - room}) {jam})"
    free = (
        f"(declare-const normal (_ BitVec {whole}))\n(declare-const L {WORD})\n(declare-const E {WORD})\n"
        f"(define-fun W () (_ BitVec {whole}) (bvlshr normal {moved}))\n"
        f"(define-fun T () (_ BitVec {bits}) {window})\n"
    )
    large = f"(distinct ((_ extract {bits - 1} {small}) T) (_ bv0 {bits - small}))"
    conditions = (
        f"(= ((_ extract {whole - 1} {whole - 1}) normal) #b1)",
        f"(bvult L {word(whole - 1)})",
        f"(= (bvshl W {moved}) normal)",
        f"(=> (= ((_ extract 0 0) W) #b1) {large})",
    )
    return Halves(free, conditions, f"((_ extract {whole - 2} 0) normal)")


def unpacks(op: Op, *tops: int) -> str:
    """Significand and exponent of a usual operand are its value; `tops` are the places of leading bits."""
    fmt = layout_of(op)
    facts = ""
    for p, top in zip(op.params, tops, strict=True):
        x, places = p.name, fmt.fraction_bits
        fraction = f"((_ extract {top - 1} {top - places}) significand_{x})"
        value = exact(sign_of(fmt, x), f"exponent_{x}", fraction, bits=places, bias=fmt.bias)
        whole = f"(bvlshr significand_{x} {word(top - places)})"
        leading = (
            f"(= significand_{x} (bvshl {whole} {word(top - places)})) "
            f"(= (bvlshr {whole} {word(places)}) {word(1)})"
        )
        facts += f"(=> (not {unusual(x)}) (and (= ((_ to_fp 11 53) RNE fp_{x}) {value}) {leading})) "
    return script(op, {}, "", claim=f"(and {facts})")


def special(op: Op, operation: str, cuts: Mapping[str, str], free: str, condition: str) -> str:
    """With an unusual operand the op is the theory's operation, whatever flows through the cuts.

    Nothing is rounded then, so F32 speaks for BF16.
    """
    operands = " ".join(f"fp_{p.name}" for p in op.params)
    value = f"(fp.{operation} RNE {operands})"
    return script(op, cuts, free, condition, claim=encodes(layout_of(op), value))
