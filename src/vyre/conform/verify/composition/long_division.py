"""Long division proved for all inputs: what a turn does to words, and what the turns make of integers.

A turn of the loop moves the highest bit x of `digits` into the remainder R and takes the divisor B off where
it fits, f times: R' = 2R + x - fB. That is asked of the body, in bit-vectors with room for 2R + x. What
follows from it for the whole number is asked of integers, once for all turns; so is that R' is below B again,
and that there is one quotient and one remainder. That a register that is shifted gives its bits from the
highest to the lowest, and holds then what was shifted in, is asked of one as long as the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.conform.verify.composition.body import RESULT, loop_parts
from vyre.conform.verify.composition.link import NUMBERS, WORD, Link, abstract, integers, moved, not_, query
from vyre.errors import OpError
from vyre.ir.types import DataType
from vyre.semantics.translate import Translation, sort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.op import Op


@dataclass(frozen=True, slots=True)
class LongDivision:
    """A division that an op makes, as formulas over its parameters.

    `dividend` has `words` words and `divisor` as many as `rest` names. `result` is what the op makes of
    `quotient` and `remainder`, unless the divisor is 0. Where `kept`, the digits hold the quotient at last.
    """

    words: int
    dividend: str
    divisor: str
    result: str
    rest: tuple[str, ...]
    digits: tuple[str, ...]
    kept: bool = True
    named: tuple[str, ...] = ()
    """The steps of the body that hold the words of the divisor, where it is not a parameter."""

    @property
    def turns(self) -> int:
        return 32 * (self.words - 1)

    @property
    def width(self) -> int:
        """Bits of the divisor."""
        return 32 * len(self.rest)


def wide(words: int, dividend: str, divisor: str, result: str) -> LongDivision:
    """One of numbers of as many words."""
    rest = tuple(f"rest{k}" for k in range(words))
    digits = tuple(f"digit{k}" for k in range(words - 1))
    return LongDivision(words, dividend, divisor, result, rest, digits)


def _size(name: str) -> str:
    """The magnitude of 64 bits with a sign; -2^63 is its own, 2^63."""
    return f"(ite (bvslt {name} (_ bv0 64)) (bvneg {name}) {name})"


def _signed(negative: str, of: str) -> LongDivision:
    made = wide(2, _size("a"), _size("b"), f"(ite {negative} (bvneg {of}) {of})")
    return replace(made, named=("b0", "b1"))


_NEGATIVE = "(bvslt {} (_ bv0 64))"
_FULL = "(bvmul ((_ zero_extend 32) a) ((_ zero_extend 32) b))"

DIVISIONS: Mapping[str, LongDivision] = {
    "wide.u64.div": wide(2, "a", "b", "quotient"),
    "wide.u64.mod": wide(2, "a", "b", "remainder"),
    "wide.u128.div": wide(4, "a", "b", "quotient"),
    "wide.u128.mod": wide(4, "a", "b", "remainder"),
    "wide.i64.div": _signed(f"(distinct {_NEGATIVE.format('a')} {_NEGATIVE.format('b')})", "quotient"),
    "wide.i64.mod": _signed(_NEGATIVE.format("a"), "remainder"),
    "integer.mul_mod": LongDivision(2, _FULL, "modulus", "remainder", ("rest",), ("digits",), kept=False),
}
"""Every op that divides so."""


def links(op: Op, of: LongDivision, meaning: str) -> list[Link]:
    """The steps from the body of an op to its meaning."""
    parts = loop_parts(op, named=of.named)
    if parts.turns != range(of.turns) or parts.step(0) != parts.step(1):
        raise OpError(f"{op.id} is not a division of {of.turns} equal turns.", fix="prove this op otherwise.")
    types = {p.name: p.type for p in op.params} | dict.fromkeys(parts.state, DataType.U32)
    first, turn, last = Translation(types), Translation(types), Translation(types)
    same = f"(= {_joined(of.named)} {of.divisor})" if of.named else "true"
    start = moved(first, parts.before, f"(and {same} {_started(of)})")
    inside = replace(of, divisor=_joined(of.named)) if of.named else of
    after = {f"{name}_next": value for name, value in parts.step(0).items()}
    shifting, words = _turned(inside)
    shifted, taken = moved(turn, after, shifting), [moved(turn, after, word) for word in words]
    names = [
        f"(define-fun quotient () (_ BitVec {32 * of.words}) (concat {_top(of)} {_joined(of.digits)}))",
        f"(define-fun remainder () (_ BitVec {of.width}) {_joined(of.rest)})",
        f"(define-fun {RESULT} () {sort(op.output)} {last.term(parts.after)})",
    ]
    whole = _extended(of.divisor, of.width, 32 * of.words)
    divided = [
        *(f"(declare-const {p.name} {sort(p.type)})" for p in op.params),
        f"(declare-const {RESULT} {sort(op.output)})",
        f"(define-fun quotient () (_ BitVec {32 * of.words}) (bvudiv {of.dividend} {whole}))",
        f"(define-fun remainder () (_ BitVec {of.width}) "
        f"((_ extract {of.width - 1} 0) (bvurem {of.dividend} {whole})))",
    ]
    nothing = f"(_ bv0 {op.output.bits})"
    found = f"(= {RESULT} (ite {_is_zero(of)} {nothing} {of.result}))"
    known = [f"(assert (not {_is_zero(of)}))", _remainder(_highest(of), _lowest(of))]
    return [
        *(Link(name, text) for name, text in WORDS.items()),
        Link("the highest word is divided", abstract(query([*first.lines, *known, not_(start)]))),
        Link("a turn moves the digits", query([*turn.lines, not_(shifted)])),
        *(
            Link(
                f"a turn takes the divisor off word {k}",
                query([*turn.lines, f"(assert {shifted})", not_(word)]),
            )
            for k, word in enumerate(taken)
        ),
        Link("the digits come one by one", _register(of)),
        *(Link(name, text, NUMBERS) for name, text in FACTS.items()),
        Link(
            "the result is made of them",
            abstract(query([*last.lines, *names, f"(assert {same})", not_(found)])),
        ),
        Link("the division has the meaning", query([*divided, f"(assert {found})", not_(meaning)])),
    ]


def _joined(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"(concat {' '.join(reversed(words))})"


def _is_zero(of: LongDivision) -> str:
    return f"(= {of.divisor} (_ bv0 {of.width}))"


def _highest(of: LongDivision) -> str:
    return f"((_ extract {32 * of.words - 1} {of.turns}) {of.dividend})"


def _lowest(of: LongDivision) -> str:
    return f"((_ extract 31 0) {of.divisor})"


def _short(of: LongDivision, formula: str, other: str) -> str:
    """The one formula where the divisor has one word, else the other."""
    if of.width == 32:
        return formula
    return f"(ite (= ((_ extract {of.width - 1} 32) {of.divisor}) (_ bv0 {of.width - 32})) {formula} {other})"


def _top(of: LongDivision) -> str:
    return _short(of, f"(bvudiv {_highest(of)} {_lowest(of)})", "(_ bv0 32)")


def _remainder(x: str, y: str) -> str:
    """What is known of a remainder of words."""
    return f"(assert (=> (distinct {y} (_ bv0 32)) (bvult (bvurem {x} {y}) {y})))"


def _extended(formula: str, bits: int, to: int) -> str:
    return f"((_ zero_extend {to - bits}) {formula})" if to > bits else formula


def _started(of: LongDivision) -> str:
    """The highest word is its quotient times the divisor and the rest, which is below the divisor."""
    left = f"(bvurem {_highest(of)} {_lowest(of)})"
    whole = _short(of, left, _highest(of))
    same = f"(= {_joined(of.rest)} {_extended(whole, 32, of.width)})"
    digits = f"(= {_joined(of.digits)} ((_ extract {of.turns - 1} 0) {of.dividend}))"
    return f"(and {same} {digits} (bvult {_joined(of.rest)} {of.divisor}))"


def _turned(of: LongDivision) -> tuple[str, list[str]]:
    """The digits move by one, and f comes in where the quotient is kept: 1 where the divisor fits into
    2R + x. And each word of R' is one of what that leaves."""
    room = of.width + 1
    rest, divisor = _extended(_joined(of.rest), of.width, room), _extended(of.divisor, of.width, room)
    digits, later = _joined(of.digits), _joined(tuple(f"{word}_next" for word in of.digits))
    bit = _extended(f"((_ extract {of.turns - 1} {of.turns - 1}) {digits})", 1, room)
    doubled = f"(bvadd {rest} {rest} {bit})"
    fits = f"(bvuge {doubled} {divisor})"
    low = f"(ite {fits} #b1 #b0)" if of.kept else "#b0"
    shifted = f"(= {later} (concat ((_ extract {of.turns - 2} 0) {digits}) {low}))"
    left = f"(ite {fits} (bvsub {doubled} {divisor}) {doubled})"
    words = [f"(= {word}_next ((_ extract {32 * k + 31} {32 * k}) {left}))" for k, word in enumerate(of.rest)]
    return shifted, words


def _register(of: LongDivision) -> str:
    """The bits that leave are those of the register from the highest, and those that came in are left."""
    count = of.turns
    lines = [f"(declare-const r0 (_ BitVec {count}))"]
    for k in range(count):
        lines.append(f"(declare-const f{k} (_ BitVec 1))")
        shifted = f"(concat ((_ extract {count - 2} 0) r{k}) f{k})"
        lines.append(f"(define-fun r{k + 1} () (_ BitVec {count}) {shifted})")
    left = [
        f"(= ((_ extract {count - 1} {count - 1}) r{k}) ((_ extract {count - 1 - k} {count - 1 - k}) r0))"
        for k in range(count)
    ]
    held = f"(= r{count} (concat {' '.join(f'f{k}' for k in range(count))}))"
    return query([*lines, not_(f"(and {held} {' '.join(left)})")])


_TWO_WORDS = [f"(declare-const {name} {WORD})" for name in "xy"]
_PRODUCT = "(bvmul ((_ zero_extend 32) (bvudiv x y)) ((_ zero_extend 32) y))"
WORDS: Mapping[str, str] = {
    "a remainder of words is below the divisor": query(
        [*_TWO_WORDS, "(assert (distinct y (_ bv0 32)))", not_("(bvult (bvurem x y) y)")]
    ),
    "a word is its quotient times the divisor and the remainder": query(
        [
            *_TWO_WORDS,
            "(assert (distinct y (_ bv0 32)))",
            not_(f"(= ((_ zero_extend 32) x) (bvadd {_PRODUCT} ((_ zero_extend 32) (bvurem x y))))"),
        ]
    ),
}
"""What the division of one word by another is, for all words."""

FACTS: Mapping[str, str] = {
    "a turn divides twice the number and a bit": integers(
        "n q b r x f s",
        ["(= n (+ (* q b) r))", "(= (+ (* 2 r) x) (+ (* f b) s))"],
        "(= (+ (* 2 n) x) (+ (* (+ (* 2 q) f) b) s))",
    ),
    "what is left is below the divisor": integers(
        "r x b",
        ["(<= 0 r)", "(< r b)", "(<= 0 x)", "(<= x 1)", "(<= b (+ (* 2 r) x))"],
        "(< (- (+ (* 2 r) x) b) b)",
    ),
    "the highest word and the others make the number": integers(
        "n h t b r d q s p",
        ["(= n (+ (* h p) d))", "(= h (+ (* t b) r))", "(= (+ (* r p) d) (+ (* q b) s))"],
        "(= n (+ (* (+ (* t p) q) b) s))",
    ),
    "there is one quotient": integers(
        "d b e",
        ["(> b 0)", "(= (* d b) e)", "(< e b)", "(< (- b) e)"],
        "(and (= d 0) (= e 0))",
    ),
}
"""Of a number n, a divisor b, quotients q and t, remainders r and s: for all integers. The last one is about
the differences of two quotients and of their remainders, which are both below b."""
