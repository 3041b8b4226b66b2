"""What each soft op must equal: the IEEE theory of SMT-LIB, and the rules of decisions 6 to 8.

A claim is a script that asks for a counterexample; `unsat` is a proof for all inputs. The theory has
one NaN, so where it says NaN the op must give the canonical bits, and elsewhere the one encoding of
the value, the sign of zero included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.ir.float_formats import STRICT_FORMATS, FloatFormat
from vyre.ir.types import DataType
from vyre.semantics.spellings import PRELUDE
from vyre.semantics.terms import SORT, word
from vyre.semantics.translate import definitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.op import Op

_COMPARE = {"eq": "fp.eq", "lt": "fp.lt", "gt": "fp.gt", "le": "fp.leq", "ge": "fp.geq"}
_ARITHMETIC = {"add": "fp.add RNE", "sub": "fp.sub RNE", "mul": "fp.mul RNE", "div": "fp.div RNE"}
_INTEGRAL = {"floor": "RTN", "ceil": "RTP", "round": "RNE", "trunc": "RTZ"}
_MODES = {"nearest": "RNE", "truncate": "RTZ", "floor": "RTN", "ceil": "RTP"}


@dataclass(frozen=True, slots=True)
class Claim:
    """That `op` equals its specification; `cuts` are the steps that a named lemma replaces."""

    op: Op
    cuts: Mapping[str, str] = field(default_factory=dict[str, str])
    lemma: str = ""

    def script(self) -> str:
        """Satisfiable exactly by counterexamples."""
        fmt = layout_of(self.op)
        source = _source_width(self.op.id, fmt)
        lines = [PRELUDE]
        for p in self.op.params:
            lines.append(f"(declare-const in_{p.name} (_ BitVec {source}))")
            whole = f"in_{p.name}" if source == 32 else f"(concat #x0000 in_{p.name})"
            lines.append(f"(define-fun {p.name} () {SORT} {whole})")
            if source == fmt.width:
                lines.append(f"(define-fun fp_{p.name} () {sort(fmt)} {decoded(fmt, f'in_{p.name}')})")
        lines.append(definitions(self.op, cuts=self.cuts))
        lines.append(f"(assert (not {_specification(self.op.id.split('.')[2], fmt)}))")
        lines.append("(check-sat)")
        return "\n".join(lines) + "\n"


def expressible(op: Op) -> bool:
    """Whether the theory can say what the op must give: solvers cannot round to BF16."""
    rounds = ("add", "sub", "mul", "div", "sqrt", "fma", "from_i32", "from_u32")
    _, of, name = op.id.split(".")
    return not (of == "bf16" and name in rounds) and name != "to_bf16"


def layout_of(op: Op) -> FloatFormat:
    return STRICT_FORMATS[DataType(op.id.split(".")[1].upper())]


def _source_width(op_id: str, fmt: FloatFormat) -> int:
    return 32 if ".from_" in op_id else fmt.width


def sort(fmt: FloatFormat) -> str:
    carrier = _carrier(fmt)
    return f"(_ FloatingPoint {carrier.exponent_bits} {carrier.fraction_bits + 1})"


def _carrier(fmt: FloatFormat) -> FloatFormat:
    """The format of the theory. Solvers have no BF16; it is F32 whose low half is zero."""
    return STRICT_FORMATS[DataType.F32] if fmt.type is DataType.BF16 else fmt


def decoded(fmt: FloatFormat, bits: str) -> str:
    whole = f"(concat {bits} #x0000)" if fmt.type is DataType.BF16 else bits
    return f"({to_fp(_carrier(fmt))} {whole})"


def to_fp(fmt: FloatFormat) -> str:
    return f"(_ to_fp {fmt.exponent_bits} {fmt.fraction_bits + 1})"


def _specification(name: str, fmt: FloatFormat) -> str:
    """A Boolean term over `fp_a`, `fp_b`, `fp_c`, `a` and `result`."""
    if name in _COMPARE:
        return f"(= result (ite ({_COMPARE[name]} fp_a fp_b) {word(1)} {word(0)}))"
    if name == "ne":
        return f"(= result (ite (fp.eq fp_a fp_b) {word(0)} {word(1)}))"
    if name in _ARITHMETIC:
        return encodes(fmt, f"({_ARITHMETIC[name]} fp_a fp_b)")
    if name in _INTEGRAL:
        return encodes(fmt, f"(fp.roundToIntegral {_INTEGRAL[name]} fp_a)")
    if name in ("from_i32", "from_u32"):
        kind = to_fp(fmt) if name == "from_i32" else to_fp(fmt).replace("to_fp", "to_fp_unsigned")
        return encodes(fmt, f"({kind} RNE in_a)")
    if name in ("min", "max"):
        return _extremum(name, fmt)
    if name.startswith(("to_i32_", "to_u32_")):
        return _integer(name, fmt)
    if name.startswith("to_"):
        target = STRICT_FORMATS[DataType(name[3:].upper())]
        return encodes(target, f"({to_fp(target)} RNE fp_a)")
    match name:
        case "is_nan":
            return f"(= result (ite (fp.isNaN fp_a) {word(1)} {word(0)}))"
        case "is_inf":
            return f"(= result (ite (fp.isInfinite fp_a) {word(1)} {word(0)}))"
        case "neg":
            return _moves(fmt, f"(bvxor a {word(fmt.sign)})", "(fp.neg fp_a)")
        case "abs":
            return _moves(fmt, f"(bvand a {word(fmt.magnitude)})", "(fp.abs fp_a)")
        case "canon":
            return encodes(fmt, "fp_a")
        case "from_bits":
            return f"(= result (bvand a {word(0xFFFF)}))"
        case "sqrt":
            return encodes(fmt, "(fp.sqrt RNE fp_a)")
        case "fma":
            return encodes(fmt, "(fp.fma RNE fp_a fp_b fp_c)")
        case _:
            raise KeyError(name)


def _moves(fmt: FloatFormat, bits: str, value: str) -> str:
    """These bits, NaN or not (decision 7); the theory cannot see the bits of a NaN."""
    return f"(and (= result {bits}) (or (fp.isNaN fp_a) {_same(fmt, value)}))"


def _same(fmt: FloatFormat, value: str) -> str:
    """The result's bits encode the value, which is not a NaN."""
    if fmt.width == 32:
        return f"(= ({to_fp(fmt)} result) {value})"
    low = decoded(fmt, "((_ extract 15 0) result)")
    return f"(and (= {low} {value}) (= ((_ extract 31 16) result) #x0000))"


def encodes(fmt: FloatFormat, value: str) -> str:
    return f"(ite (fp.isNaN {value}) (= result {word(fmt.nan)}) {_same(fmt, value)})"


def _extremum(name: str, fmt: FloatFormat) -> str:
    compare, zero = ("fp.lt", "fp.isNegative fp_a") if name == "min" else ("fp.gt", "fp.isPositive fp_a")
    first = f"(or ({compare} fp_a fp_b) (and (fp.isZero fp_a) (fp.isZero fp_b) ({zero})))"
    chosen = f"(ite (fp.isNaN fp_a) fp_b (ite (fp.isNaN fp_b) fp_a (ite {first} fp_a fp_b)))"
    return encodes(fmt, chosen)


def _integer(name: str, fmt: FloatFormat) -> str:
    """Rounded in the theory, then saturated; F32 holds every F16 and BF16, and the ends of the ranges."""
    _, target, mode = name.split("_")
    f32 = STRICT_FORMATS[DataType.F32]
    wide = "fp_a" if _carrier(fmt) is f32 else f"({to_fp(f32)} RNE fp_a)"
    signed = target == "i32"
    top, bottom = (0x4F000000, 0xCF000000) if signed else (0x4F800000, 0x00000000)
    most, least = (0x7FFFFFFF, 0x80000000) if signed else (0xFFFFFFFF, 0)
    convert = "fp.to_sbv" if signed else "fp.to_ubv"
    value = (
        f"(ite (fp.isNaN w) {word(0)} (ite (fp.geq w ({to_fp(f32)} {word(top)})) {word(most)} "
        f"(ite (fp.leq w ({to_fp(f32)} {word(bottom)})) {word(least)} ((_ {convert} 32) RTZ w))))"
    )
    return f"(let ((w (fp.roundToIntegral {_MODES[mode]} {wide}))) (= result {value}))"
