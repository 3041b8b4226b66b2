"""How solvers like to read some definitions: the same meaning in words of their own.

    DIRECT      operators of SMT-LIB, and bits picked one by one
    CALLED      calls of the functions in `PRELUDE`, which keep the text of a long definition short

Each table replaces definitions of `operators.py` in a translation. Every entry of `DIRECT` is proved equal to
the definition that it stands for, for all inputs, by the proofs of `primitive` compositions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.semantics import operators
from vyre.semantics.terms import SORT, SmtDomain, Word, lanes, whole, word

if TYPE_CHECKING:
    from vyre.semantics.evaluate import Definition, Spelling

_PLACES = range(32)


def _called(name: str) -> Definition:
    """A function of the solver on the operands."""

    def call(d: SmtDomain, *words: Word) -> Word:
        return d.step(name, *words)

    return call


def _tested(name: str) -> Definition:
    """A comparison of the solver."""

    def test(d: SmtDomain, a: Word, b: Word) -> Word:
        return d.flag(f"({name} {a.name} {b.name})")

    return test


def _connected(name: str) -> Definition:
    """A connective of the solver between the truths of two words."""

    def connect(d: SmtDomain, a: Word, b: Word) -> Word:
        return d.flag(f"({name} {d.truth(a)} {d.truth(b)})")

    return connect


def _guarded(name: str) -> Definition:
    def divide(d: SmtDomain, a: Word, b: Word) -> Word:
        zero = d.const(0)
        return d.ite(d.eq(b, zero), zero, d.step(name, a, b))

    return divide


def _denied(d: SmtDomain, a: Word) -> Word:
    return d.ite(a, d.const(0), d.const(1))


def _chosen(d: SmtDomain, condition: Word, a: tuple[Word, ...], b: tuple[Word, ...]) -> tuple[Word, ...]:
    """One choice between whole bit-vectors."""
    return lanes(d.ite(condition, Word(whole(a)), Word(whole(b))).name, len(a))


def _high_product(d: SmtDomain, a: Word, b: Word) -> Word:
    wide = f"(bvmul ((_ zero_extend 32) {a.name}) ((_ zero_extend 32) {b.name}))"
    return Word(f"((_ extract 63 32) {wide})")


def _bit(a: Word, place: int) -> str:
    return f"((_ extract {place} {place}) {a.name})"


def _sum_of_bits(d: SmtDomain, a: Word) -> Word:
    return Word(f"(bvadd {' '.join(f'((_ zero_extend 31) {_bit(a, i)})' for i in _PLACES)})")


def _reversed(d: SmtDomain, a: Word) -> Word:
    return Word(f"(concat {' '.join(_bit(a, i) for i in _PLACES)})")


def _first_bit(*, from_top: bool) -> Definition:
    """The place of the first set bit, one case a place."""

    def zeros(d: SmtDomain, a: Word) -> Word:
        text = d.const(32).name
        for count in reversed(_PLACES):
            bit = _bit(a, 31 - count if from_top else count)
            text = f"(ite (= {bit} (_ bv1 1)) {d.const(count).name} {text})"
        return Word(text)

    return zeros


DIRECT: Spelling = {
    operators.select: _chosen,
    operators.div: _guarded("bvudiv"),
    operators.mod: _guarded("bvurem"),
    operators.gt: _tested("bvugt"),
    operators.ge: _tested("bvuge"),
    operators.logical_and: _connected("and"),
    operators.logical_or: _connected("or"),
    operators.mul_hi: _high_product,
    operators.negate: _called("bvneg"),
    operators.logical_not: _denied,
    operators.popcount: _sum_of_bits,
    operators.clz: _first_bit(from_top=True),
    operators.ctz: _first_bit(from_top=False),
    operators.reverse_bits: _reversed,
}

CALLED: Spelling = {
    operators.div: _called("div"),
    operators.gt: _tested("bvugt"),
    operators.ge: _tested("bvuge"),
    operators.mul_hi: _called("mulhi"),
    operators.negate: _called("bvneg"),
    operators.clz: _called("clz"),
}


def _leading_zeros() -> str:
    """Halving: where the upper half is empty, count it and move the lower half up."""
    value, count = "x", word(0)
    steps = ""
    for i, half in enumerate((16, 8, 4, 2, 1)):
        empty = f"(= ((_ extract 31 {32 - half}) {value}) (_ bv0 {half}))"
        steps += (
            f"(let ((x{i} (ite {empty} (bvshl {value} {word(half)}) {value}))"
            f" (n{i} (ite {empty} (bvadd {count} {word(half)}) {count}))) "
        )
        value, count = f"x{i}", f"n{i}"
    return f"(define-fun clz ((x {SORT})) {SORT} (ite (= x {word(0)}) {word(32)} {steps}{count}{')' * 5}))"


PRELUDE = f"""(set-logic QF_BVFP)
{_leading_zeros()}
(define-fun mulhi ((x {SORT}) (y {SORT})) {SORT}
  ((_ extract 63 32) (bvmul (concat {word(0)} x) (concat {word(0)} y))))
(define-fun div ((x {SORT}) (y {SORT})) {SORT} (ite (= y {word(0)}) {word(0)} (bvudiv x y)))
"""
"""What the calls of `CALLED` mean."""
