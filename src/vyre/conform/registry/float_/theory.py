"""A float operation over each kind of word: numbers through the oracle, solver terms through IEEE's theory.

A definition that bit-blasts a multiplication is beyond solvers; their floating-point theory is not. So the
laws are proved of IEEE 754 itself, and the oracle, which is independent of it, is what results are compared
with. That soft floats are IEEE's is proved where they are defined.

In a solver's text a result is a fresh bit-vector whose value in the theory is that of the operation, and
which is the canonical NaN where that is NaN: exactly the bits that the language promises (decision 7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.floats.doubles import F64
from vyre.conform.oracle.floats.layout import HEAD, LAYOUTS
from vyre.conform.spec.op import as_tuple
from vyre.errors import VyreError
from vyre.ir.expr import Cast
from vyre.ir.float_formats import BF16, F32
from vyre.ir.types import DataType
from vyre.semantics.domain import ConcreteDomain
from vyre.semantics.emitted import IrDomain
from vyre.semantics.terms import SmtDomain, Word

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.oracle.floats.operations import Operation
    from vyre.ir.float_formats import FloatFormat
    from vyre.semantics.domain import Domain

_SORTS = {"F32": "8 24", "F16": "5 11", "BF16": "8 24", "F64": "11 53"}
"""Solvers know no BF16. Its values are those of F32 with 16 zero bits; results are rounded on the bits."""

_ARITHMETIC = {
    "FAdd": "fp.add RNE",
    "FSub": "fp.sub RNE",
    "FMul": "fp.mul RNE",
    "FDiv": "fp.div RNE",
    "FMulAdd": "fp.fma RNE",
    "FSqrt": "fp.sqrt RNE",
    "FFloor": "fp.roundToIntegral RTN",
    "FCeil": "fp.roundToIntegral RTP",
    "FRound": "fp.roundToIntegral RNE",
    "FTrunc": "fp.roundToIntegral RTZ",
}
_TESTS = {
    "FEq": "(fp.eq {0} {1})",
    "FNe": "(not (fp.eq {0} {1}))",
    "FLt": "(fp.lt {0} {1})",
    "FGt": "(fp.gt {0} {1})",
    "FLe": "(fp.leq {0} {1})",
    "FGe": "(fp.geq {0} {1})",
    "FIsNaN": "(fp.isNaN {0})",
    "FIsInf": "(fp.isInfinite {0})",
}


_MODES = {"Nearest": "RNE", "Truncate": "RTZ", "Floor": "RTN", "Ceil": "RTP"}


@dataclass(frozen=True, slots=True)
class _Whole:
    """An integer type in the theory: from it and to it, what is too small and too large as reals, and the
    bits that those saturate to."""

    function: str
    back: str
    limits: tuple[str, str]
    least: int
    most: int


_WHOLE = {
    "I32": _Whole("to_fp", "fp.to_sbv", ("-2147483648.0", "2147483648.0"), 0x8000_0000, 0x7FFF_FFFF),
    "U32": _Whole("to_fp_unsigned", "fp.to_ubv", ("0.0", "4294967296.0"), 0, 0xFFFF_FFFF),
}


def cpu_fn(operation: Operation) -> Callable[..., Any]:
    """The operation as a definition over any domain; F64 has no words in a program but those of buffers."""

    def definition(d: Domain[Any], *words: Any) -> Any:
        if isinstance(d, ConcreteDomain):
            found = operation.expected(*(np.array([w], np.uint32) for w in words))
            return tuple(int(w[0]) for w in as_tuple(found))
        if isinstance(d, SmtDomain):
            return _term(operation, d, words)
        if isinstance(d, IrDomain):
            if DataType.F64 in (operation.source, operation.result):
                raise VyreError(
                    f"no program makes an F64 of words for {operation.name}.",
                    fix="load it from a buffer of F64: `application()` does.",
                )
            typed = [w if operation.source is DataType.U32 else Cast(operation.source, w) for w in words]
            value = operation.build(*typed)
            return d.bind(value if operation.result is DataType.U32 else Cast(DataType.U32, value))
        return operation.expected(*np.broadcast_arrays(*words))

    return definition


def provable(operation: Operation) -> bool:
    """Whether the floating-point theory has the operation; it cannot round a fused BF16 only once."""
    op, *kinds = operation.name.split()
    if op == "FMulAdd" and kinds == ["BF16"]:
        return False
    return op in _ARITHMETIC or op in _TESTS or op in ("FMin", "FMax", "FNeg", "FAbs", "Convert")


def _term(operation: Operation, d: SmtDomain, words: tuple[Word, ...]) -> Word | tuple[Word, ...]:
    if not provable(operation):
        raise VyreError(
            f"no solver knows {operation.name}.",
            fix="check it on all inputs: `vyre certify BACKEND --exhaustive`.",
        )
    op, kind, *rest = operation.name.split()
    if kind in _WHOLE:
        return _from_integer(d, kind, rest[0], words[0])
    of = F64 if kind == F64.name else LAYOUTS[kind]
    each = len(words) // operation.arity
    x = [_value(d, of, words[k : k + each]) for k in range(0, len(words), each)]
    if rest:
        return _to_integer(d, _SORTS[of.name], x[0], *rest)
    if op in _TESTS:
        return d.flag(_TESTS[op].format(*x))
    if op in _ARITHMETIC:
        return _result(d, of, f"({_ARITHMETIC[op]} {' '.join(x)})")
    match op:
        case "FNeg":
            head = d.xor(words[-1], d.const(of.sign if each == 1 else HEAD.sign))
            return _named(d, of, (*words[:-1], head), f"(fp.neg {x[0]})")
        case "FAbs":
            head = d.and_(words[-1], d.const(of.magnitude if each == 1 else HEAD.magnitude))
            return _named(d, of, (*words[:-1], head), f"(fp.abs {x[0]})")
        case _:
            return _result(d, of, _extreme(*x, least=op == "FMin"))


def _from_integer(d: SmtDomain, kind: str, target: str, word: Word) -> Word | tuple[Word, ...]:
    """Rounded once: BF16 has a sort of its own here, as nothing is computed with it."""
    function = _WHOLE[kind].function
    if target != BF16.name:
        of = F64 if target == F64.name else LAYOUTS[target]
        return _result(d, of, f"((_ {function} {_SORTS[target]}) RNE {word.name})")
    key = f"bits of {target} {kind} {word.name}"
    name = d.names.get(key)
    if name is None:
        name = d.names[key] = f"r{len(d.lines)}"
        d.lines += [
            f"(declare-const {name} (_ BitVec 32))",
            f"(assert (= ((_ to_fp 8 8) ((_ extract 15 0) {name})) ((_ {function} 8 8) RNE {word.name})))",
            f"(assert (= ((_ extract 31 16) {name}) #x0000))",
            f"(assert (not (fp.isNaN ((_ to_fp 8 8) ((_ extract 15 0) {name})))))",
        ]
    return Word(name)


def _to_integer(d: SmtDomain, sort: str, value: str, target: str, mode: str) -> Word:
    """Rounded by the mode, saturated, NaN to 0. The theory leaves open what does not fit, so that is asked
    first; where a format ends before a limit, only infinities are beyond it."""
    whole = _WHOLE[target]
    rounded = f"(fp.roundToIntegral {_MODES[mode]} {value})"
    least, most = (_real(sort, limit) for limit in whole.limits)
    inside = f"((_ {whole.back} 32) {_MODES[mode]} {value})"
    high = f"(ite (fp.geq {rounded} {most}) #x{whole.most:08x} {inside})"
    saturated = f"(ite (fp.leq {rounded} {least}) #x{whole.least:08x} {high})"
    return Word(d.define(f"(ite (fp.isNaN {value}) #x00000000 {saturated})"))


def _real(sort: str, number: str) -> str:
    """A number of the theory from its digits, which have no sign there."""
    positive = f"((_ to_fp {sort}) RNE {number.removeprefix('-')})"
    return f"(fp.neg {positive})" if number.startswith("-") else positive


def _value(d: SmtDomain, of: FloatFormat, words: tuple[Word, ...]) -> str:
    """The value of its words in the theory; that of a result as it was made, not through its bits."""
    known = d.names.get(_made(of, words))
    if known is not None:
        return known
    if of is F64:
        return f"((_ to_fp {_SORTS[of.name]}) (concat {words[1].name} {words[0].name}))"
    (word,) = words
    bits = word.name if of.width == 32 else f"((_ extract {of.width - 1} 0) {word.name})"
    bits = f"(concat {bits} #x0000)" if of is BF16 else bits
    return f"((_ to_fp {_SORTS[of.name]}) {bits})"


def _made(of: FloatFormat, words: tuple[Word, ...]) -> str:
    return f"value of {' '.join(w.name for w in words)} as {of.name}"


def _named(d: SmtDomain, of: FloatFormat, words: tuple[Word, ...], value: str) -> tuple[Word, ...]:
    """Words of moved bits, whose value the theory has a shorter name for: solvers see through it sooner."""
    d.names[_made(of, words)] = value
    return words


def _extreme(a: str, b: str, *, least: bool) -> str:
    """minimumNumber or maximumNumber; of two zeros, -0 is the lesser."""
    order, first = ("fp.lt", "fp.isNegative") if least else ("fp.gt", "fp.isPositive")
    zeros = f"(and (fp.isZero {a}) (fp.isZero {b}) ({first} {a}))"
    chosen = f"(ite (or ({order} {a} {b}) {zeros}) {a} {b})"
    return f"(ite (fp.isNaN {a}) {b} (ite (fp.isNaN {b}) {a} {chosen}))"


def _result(d: SmtDomain, of: FloatFormat, term: str) -> Word | tuple[Word, ...]:
    """The bits of a value of the theory."""
    if of is F64:
        return _double(d, term)
    return _rounded(d, _bits(d, F32, term)) if of is BF16 else _bits(d, of, term)


def _double(d: SmtDomain, term: str) -> tuple[Word, ...]:
    """The two words of an F64."""
    key = f"bits of F64 {term}"
    name = d.names.get(key)
    if name is None:
        name = d.names[key] = f"r{len(d.lines)}"
        d.lines += [
            f"(declare-const {name} (_ BitVec 64))",
            f"(define-fun {name}v () (_ FloatingPoint {_SORTS[F64.name]}) {term})",
            f"(assert (= ((_ to_fp {_SORTS[F64.name]}) {name}) {name}v))",
            f"(assert (=> (fp.isNaN {name}v) (= {name} #x{F64.nan:016x})))",
        ]
    places = ("31 0", "63 32")
    words = tuple(Word(d.define(f"((_ extract {at}) {name})")) for at in places)
    return _named(d, F64, words, f"{name}v")


def _bits(d: SmtDomain, of: FloatFormat, term: str) -> Word:
    """The bits of a value of F32 or F16."""
    key = f"bits of {of.name} {term}"
    name = d.names.get(key)
    if name is None:
        name = d.names[key] = f"r{len(d.lines)}"
        d.names[_made(of, (Word(name),))] = f"{name}v"
        bits = f"((_ extract {of.width - 1} 0) {name})" if of.width < 32 else name
        digits = of.width // 4
        d.lines += [
            f"(declare-const {name} (_ BitVec 32))",
            f"(define-fun {name}v () (_ FloatingPoint {_SORTS[of.name]}) {term})",
            f"(assert (= ((_ to_fp {_SORTS[of.name]}) {bits}) {name}v))",
            f"(assert (=> (fp.isNaN {name}v) (= {bits} #x{of.nan:0{digits}x})))",
        ]
        if of.width < 32:
            d.lines.append(f"(assert (= ((_ extract 31 {of.width}) {name}) #x{0:0{8 - digits}x}))")
    return Word(name)


def _rounded(d: SmtDomain, word: Word) -> Word:
    """An F32 rounded to BF16, ties to even; right after one operation, as F32 has 2p + 2 bits and more."""
    odd = d.and_(d.shr(word, d.const(16)), d.const(1))
    nearest = d.shr(d.add(word, d.add(d.const(0x7FFF), odd)), d.const(16))
    nan = d.ult(d.const(F32.infinity), d.and_(word, d.const(F32.magnitude)))
    return d.ite(nan, d.const(BF16.nan), nearest)
