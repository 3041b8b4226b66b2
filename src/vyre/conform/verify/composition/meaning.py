"""What every integer op of the standard library means, as a formula over its parameters.

Written once per op in the solver's own bit-vector operations of the right width, where the library composes
from u32 steps: `wide.u64.add` is one 64-bit addition here. A meaning says when `result` is right; most say
what it equals. `SHAPES` and `INVARIANTS` hold what lies between a body and its meaning where no solver
bridges the two at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.verify.composition.codes import CODES
from vyre.conform.verify.composition.recurrences import RECURRENCES
from vyre.conform.verify.composition.wide_meaning import SIGNED_64, bits_of, rotated_64, swapped_64

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RESULT = "result"


def _equals(formula: str) -> str:
    return f"(= {RESULT} {formula})"


def _bool(formula: str) -> str:
    return _equals(f"(ite {formula} (_ bv1 32) (_ bv0 32))")


def _unless_zero(formula: str) -> str:
    return _equals(f"(ite (= b (_ bv0 32)) (_ bv0 32) {formula})")


_LOW_5 = "(bvand {} (_ bv31 32))"
_LEFT, _RIGHT = _LOW_5.format("amount"), _LOW_5.format("(bvneg amount)")


def _rotated(first: str, second: str) -> str:
    return _equals(f"(bvor ({first} a {_LEFT}) ({second} a {_RIGHT}))")


_INTEGER = {
    "min": _equals("(ite (bvule a b) a b)"),
    "max": _equals("(ite (bvule a b) b a)"),
    "clamp": _equals("(let ((r (ite (bvult x low) low x))) (ite (bvult high r) high r))"),
    "abs_diff": _equals("(ite (bvuge a b) (bvsub a b) (bvsub b a))"),
    "rotl": _rotated("bvshl", "bvlshr"),
    "rotr": _rotated("bvlshr", "bvshl"),
    "is_power_of_two": _bool("(and (distinct a (_ bv0 32)) (= (bvand a (bvsub a (_ bv1 32))) (_ bv0 32)))"),
    # The least power of two: it is one, nothing of half its size reaches `a`; or there is none.
    "next_power_of_two": (
        f"(ite (bvugt a #x80000000) (= {RESULT} (_ bv0 32)) "
        f"(and (distinct {RESULT} (_ bv0 32)) (= (bvand {RESULT} (bvsub {RESULT} (_ bv1 32))) (_ bv0 32)) "
        f"(bvuge {RESULT} a) (or (= {RESULT} (_ bv1 32)) (bvult (bvlshr {RESULT} (_ bv1 32)) a))))"
    ),
    # Squares in 34 bits, where (2^16)^2 has room.
    "isqrt": (
        f"(let ((r ((_ zero_extend 2) {RESULT})) (x ((_ zero_extend 2) a))) "
        f"(and (bvult {RESULT} #x00010000) (bvule (bvmul r r) x) "
        "(bvugt (bvmul (bvadd r (_ bv1 34)) (bvadd r (_ bv1 34))) x)))"
    ),
}

# Fields in 64 bits, where a shift by 32 has room; what lies past bit 31 is cut off with the rest.
_FIELD = (
    "(let ((o (ite (bvugt offset (_ bv32 32)) (_ bv32 64) ((_ zero_extend 32) offset)))) "
    "(let ((c (let ((m (bvsub (_ bv32 64) o)) (n ((_ zero_extend 32) count))) (ite (bvugt n m) m n)))) "
    "(let ((ones (bvsub (bvshl (_ bv1 64) c) (_ bv1 64)))) {})))"
)


def _field(formula: str) -> str:
    return _equals(f"((_ extract 31 0) {_FIELD.format(formula)})")


def _limited(operator: str) -> str:
    """In 33 bits, where every sum and difference has room."""
    whole = f"({operator} ((_ sign_extend 1) a) ((_ sign_extend 1) b))"
    return _equals(
        f"(let ((s {whole})) (ite (bvslt s (bvneg (_ bv2147483648 33))) #x80000000 "
        "(ite (bvsgt s (_ bv2147483647 33)) #x7fffffff ((_ extract 31 0) s))))"
    )


_FIELDS_AND_LIMITS = {
    "add_sat": _equals(
        "(let ((s (bvadd ((_ zero_extend 1) a) ((_ zero_extend 1) b)))) "
        "(ite (bvugt s (_ bv4294967295 33)) #xffffffff ((_ extract 31 0) s)))"
    ),
    "sub_sat": _equals("(ite (bvugt b a) (_ bv0 32) (bvsub a b))"),
    "mul_mod": _equals(
        "(ite (= modulus (_ bv0 32)) (_ bv0 32) ((_ extract 31 0) (bvurem "
        "(bvmul ((_ zero_extend 32) a) ((_ zero_extend 32) b)) ((_ zero_extend 32) modulus))))"
    ),
    "extract_bits": _field("(bvand (bvlshr ((_ zero_extend 32) a) o) ones)"),
    "insert_bits": _field(
        "(bvor (bvand ((_ zero_extend 32) a) (bvnot (bvshl ones o))) "
        "(bvshl (bvand ((_ zero_extend 32) bits) ones) o))"
    ),
}

_NEGATIVE = "(bvslt {} (_ bv0 32))"


def _by_magnitudes(operator: str, negative: str) -> str:
    """The operation on magnitudes, negated where `negative` holds."""
    sizes = [f"(ite {_NEGATIVE.format(x)} (bvneg {x}) {x})" for x in "ab"]
    plain = f"({operator} {sizes[0]} {sizes[1]})"
    return _unless_zero(f"(ite {negative} (bvneg {plain}) {plain})")


_SIGNED = {
    "div": _unless_zero("(bvsdiv a b)"),
    "mod": _unless_zero("(bvsrem a b)"),
    "shl": _equals(f"(bvshl a {_LEFT})"),
    "shr": _equals(f"(bvashr a {_LEFT})"),
    "lt": _bool("(bvslt a b)"),
    "gt": _bool("(bvsgt a b)"),
    "le": _bool("(bvsle a b)"),
    "ge": _bool("(bvsge a b)"),
    "min": _equals("(ite (bvsle a b) a b)"),
    "max": _equals("(ite (bvsle a b) b a)"),
    "abs": _equals("(ite (bvslt a (_ bv0 32)) (bvneg a) a)"),
    "sign": _equals("(ite (bvslt a (_ bv0 32)) #xffffffff (ite (= a (_ bv0 32)) (_ bv0 32) (_ bv1 32)))"),
    "clamp": _equals("(let ((r (ite (bvslt x low) low x))) (ite (bvslt high r) high r))"),
    "add_sat": _limited("bvadd"),
    "sub_sat": _limited("bvsub"),
}

_WIDE = {
    "add": _equals("(bvadd a b)"),
    "sub": _equals("(bvsub a b)"),
    "and": _equals("(bvand a b)"),
    "or": _equals("(bvor a b)"),
    "xor": _equals("(bvxor a b)"),
    "not": _equals("(bvnot a)"),
    "eq": _bool("(= a b)"),
    "ne": _bool("(distinct a b)"),
    "lt": _bool("(bvult a b)"),
    "gt": _bool("(bvugt a b)"),
    "le": _bool("(bvule a b)"),
    "ge": _bool("(bvuge a b)"),
    "min": _equals("(ite (bvule a b) a b)"),
    "max": _equals("(ite (bvule a b) b a)"),
}

_LOW_6 = "((_ zero_extend 32) (bvand amount (_ bv63 32)))"
_WIDE_64 = {
    "mul": _equals("(bvmul a b)"),
    "shl": _equals(f"(bvshl a {_LOW_6})"),
    "shr": _equals(f"(bvlshr a {_LOW_6})"),
    "rotl": _equals(rotated_64("amount")),
    "rotr": _equals(rotated_64("(bvneg amount)")),
    "swap": _equals(swapped_64("a")),
}


def _divided(operator: str, width: int) -> str:
    return _equals(f"(ite (= b (_ bv0 {width})) (_ bv0 {width}) ({operator} a b))")


_LOW_7 = "((_ zero_extend 96) (bvand amount (_ bv127 32)))"
_WIDE_128 = {
    "shl": _equals(f"(bvshl a {_LOW_7})"),
    "shr": _equals(f"(bvlshr a {_LOW_7})"),
    "mul": _equals("(bvmul a b)"),
}


def _divisions(width: int, *, sign: str) -> dict[str, str]:
    return {"div": _divided(f"bv{sign}div", width), "mod": _divided(f"bv{sign}rem", width)}


def _counted(width: int) -> dict[str, str]:
    return {name: _equals(formula) for name, formula in bits_of("a", width).items()}


def _byte(word: str, k: int) -> str:
    return f"((_ extract {8 * k + 7} {8 * k}) {word})"


def _chosen(byte_of: Mapping[int, str]) -> str:
    """One of four formulas by the low two bits of `byte_index`."""
    text = byte_of[3]
    for k in (2, 1, 0):
        text = f"(ite (= ((_ extract 1 0) byte_index) (_ bv{k} 2)) {byte_of[k]} {text})"
    return text


def _with_lane(k: int) -> str:
    parts = [_byte("byte", 0) if lane == k else _byte("word", lane) for lane in (3, 2, 1, 0)]
    return f"(concat {' '.join(parts)})"


def _dot(extend: str) -> str:
    """The sum of four products of bytes, in 32 bits, where each has room."""
    wide = [[f"((_ {extend} 24) {_byte(word, k)})" for word in "ab"] for k in range(4)]
    return f"(bvadd {' '.join(f'(bvmul {x} {y})' for x, y in wide)})"


_BYTES = {
    "word_index": _equals("(bvudiv a (_ bv4 32))"),
    "lane": _equals(_chosen({k: f"((_ zero_extend 24) {_byte('word', k)})" for k in range(4)})),
    "with_lane": _equals(_chosen({k: _with_lane(k) for k in range(4)})),
    "pack": _equals(f"(concat {' '.join(_byte(f'b{k}', 0) for k in (3, 2, 1, 0))})"),
    "swap": _equals(f"(concat {' '.join(_byte('a', k) for k in range(4))})"),
    "dot4_u8": _equals(_dot("zero_extend")),
    "dot4_i8": _equals(_dot("sign_extend")),
}

_INTEGERS = {
    f"{family}.{name}": formula
    for family, table in (
        ("integer", _INTEGER | _FIELDS_AND_LIMITS),
        ("signed", _SIGNED),
        ("wide.u64", _WIDE | _WIDE_64 | _counted(64) | _divisions(64, sign="u")),
        ("wide.u128", _WIDE | _WIDE_128 | _counted(128) | _divisions(128, sign="u")),
        ("wide.i64", {name: _equals(formula) for name, formula in SIGNED_64.items()}),
        ("wide.i64", _divisions(64, sign="s")),
        ("bytes", _BYTES),
    )
    for name, formula in table.items()
}
_CODES = {op_id: _equals(formula) for op_id, formula in CODES.items()}
MEANINGS: Mapping[str, str] = _INTEGERS | _CODES | dict(RECURRENCES)

OF_PRODUCTS = ("bytes.dot4_u8", "bytes.dot4_i8")
"""Ops whose bodies mean the same whatever a product is: the factors are those of the meaning."""

_HALF = "((_ zero_extend 32) ((_ extract {1} {2}) {0}))"
_A0, _A1 = _HALF.format("a", 31, 0), _HALF.format("a", 63, 32)
_B0, _B1 = _HALF.format("b", 31, 0), _HALF.format("b", 63, 32)

SHAPES: Mapping[str, str] = {
    "signed.div": _by_magnitudes("bvudiv", f"(distinct {_NEGATIVE.format('a')} {_NEGATIVE.format('b')})"),
    "signed.mod": _by_magnitudes("bvurem", _NEGATIVE.format("a")),
    "wide.u64.mul": _equals(
        f"(bvadd (bvmul {_A0} {_B0}) (bvshl (bvadd (bvmul {_A1} {_B0}) (bvmul {_A0} {_B1})) (_ bv32 64)))"
    ),
}
"""A formula that the body equals, and that equals the meaning: two easy steps for one hard one."""


def _root_so_far(turn: int) -> str:
    """With n = 16 - turn bits to go the root is in [root, root + 2^n), and root ends in n zeros."""
    width = f"(_ bv{1 << (16 - turn)} 34)"
    return (
        "(let ((r ((_ zero_extend 2) root)) (x ((_ zero_extend 2) a))) "
        f"(and (bvult root #x00010000) (= (bvand r (bvsub {width} (_ bv1 34))) (_ bv0 34)) "
        f"(bvule (square r) x) (bvugt (square (bvadd r {width})) x)))"
    )


INVARIANTS: Mapping[str, Callable[[int], str]] = {"integer.isqrt": _root_so_far}
"""What holds before a turn of an op's one loop, over its variables, its parameters and `square`."""

SQUARE = "(define-fun square ((z (_ BitVec 34))) (_ BitVec 34) (bvmul z z))"
ANY_SQUARE = "(declare-fun square ((_ BitVec 34)) (_ BitVec 34))"
SQUARES: Mapping[str, str] = {
    "a square of 32 bits is the low part of one of 34": (
        "(= (bvmul x x) ((_ extract 31 0) (square ((_ zero_extend 2) x))))"
    ),
    "the square of 16 bits has 32": (
        "(=> (bvult x #x00010000) (bvult (square ((_ zero_extend 2) x)) (_ bv4294967296 34)))"
    ),
}
"""All that the turns of a loop need to know about squares, each proved for every `x`."""


def _quarter(word: str, high: int, low: int) -> str:
    return f"((_ zero_extend 48) ((_ extract {high} {low}) {word}))"


_Q = {f"{w}{k}": _quarter(w, 16 * k + 15, 16 * k) for w in "ab" for k in (0, 1)}
HIGH_PRODUCT = (
    "((_ extract 63 32) "
    f"(bvadd (bvmul {_Q['a0']} {_Q['b0']}) "
    f"(bvshl (bvadd (bvmul {_Q['a1']} {_Q['b0']}) (bvmul {_Q['a0']} {_Q['b1']})) (_ bv16 64)) "
    f"(bvshl (bvmul {_Q['a1']} {_Q['b1']}) (_ bv32 64))))"
)
"""`MulHi` from four products of halves. That their sum is the product is an identity of integers below 2^64,
and bit-vectors of 64 bits keep it."""

PRODUCT_OF_HALVES = """(set-logic QF_NIA)
(declare-const a0 Int)
(declare-const a1 Int)
(declare-const b0 Int)
(declare-const b1 Int)
(define-fun h () Int 65536)
(assert (not (= (* (+ (* a1 h) a0) (+ (* b1 h) b0))
  (+ (* a0 b0) (* h (+ (* a1 b0) (* a0 b1))) (* h h a1 b1)))))
"""
