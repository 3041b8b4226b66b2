"""`bytes.*`: bytes inside words, and the instructions of `intrinsic.packed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import MAX, c, law0, law1, law2, law3
from vyre.conform.registry.ids import AND, SHL, SHR, SUB
from vyre.conform.registry.library.entry import Promise
from vyre.conform.registry.library.limbs import swapped
from vyre.conform.spec.law import Absorbing, Bounded, Commutative, Involution, ap
from vyre.conform.spec.term import Equation

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain

    D = Domain[Any]

_LANE = "bytes.lane"


def _byte(d: D, word: Any, k: int) -> Any:
    return d.and_(d.shr(word, d.const(8 * k)), d.const(0xFF))


def _signed_byte(d: D, word: Any, k: int) -> Any:
    """A byte above 127 is itself less 256."""
    byte = _byte(d, word, k)
    return d.ite(d.ult(d.const(127), byte), d.sub(byte, d.const(256)), byte)


def _chosen(d: D, index: Any, values: list[Any]) -> Any:
    """The value whose number is the index modulo 4."""
    place, found = d.and_(index, d.const(3)), values[0]
    for k in (1, 2, 3):
        found = d.ite(d.eq(place, d.const(k)), values[k], found)
    return found


def word_index(d: D, a: Any) -> Any:
    return d.udiv(a, d.const(4))


def lane(d: D, word: Any, index: Any) -> Any:
    return _chosen(d, index, [_byte(d, word, k) for k in range(4)])


def pack(d: D, *parts: Any) -> Any:
    total = d.const(0)
    for part in reversed(parts):
        total = d.or_(d.shl(total, d.const(8)), d.and_(part, d.const(0xFF)))
    return total


def with_lane(d: D, word: Any, index: Any, byte: Any) -> Any:
    own = [_byte(d, word, k) for k in range(4)]
    changed = [pack(d, *(byte if j == k else own[j] for j in range(4))) for k in range(4)]
    return _chosen(d, index, changed)


def swap(d: D, a: Any) -> Any:
    return swapped(d, a)


def dot_unsigned(d: D, a: Any, b: Any) -> Any:
    total = d.const(0)
    for k in range(4):
        total = d.add(total, d.mul(_byte(d, a, k), _byte(d, b, k)))
    return total


def dot_signed(d: D, a: Any, b: Any) -> Any:
    total = d.const(0)
    for k in range(4):
        total = d.add(total, d.mul(_signed_byte(d, a, k), _signed_byte(d, b, k)))
    return total


DOT_UNSIGNED = Promise(
    dot_unsigned,
    (Commutative(), Absorbing(0), Bounded(0, 4 * 255 * 255)),
    (law0("of four times 255 by 255", lambda f: Equation(f(c(MAX), c(MAX)), c(4 * 255 * 255))),),
)
"""What the composition and the instruction have alike."""

PAIRS = {
    "bytes.dot4_u8": DOT_UNSIGNED,
    "bytes.dot4_i8": Promise(
        dot_signed,
        (Commutative(),),
        (
            law1(
                "by -1 in every byte is the opposite of by 1",
                lambda f, a: Equation(
                    ap("cast.i32.u32", f(a, c(MAX))),
                    ap(SUB, c(0), ap("cast.i32.u32", f(a, c(0x0101_0101)))),
                ),
            ),
        ),
    ),
    "bytes.lane": Promise(
        lane,
        (Bounded(0, 255),),
        (
            law2("only 2 bits of b count", lambda f, a, b: Equation(f(a, b), f(a, ap(AND, b, c(3))))),
            law1("the highest byte", lambda f, a: Equation(f(a, c(3)), ap(SHR, a, c(24)))),
        ),
    ),
}

SINGLES = {
    "bytes.word_index": Promise(
        word_index,
        (Bounded(0, (1 << 30) - 1),),
        (
            law1(
                "four bytes are in one word",
                lambda f, a: Equation(ap(SUB, a, ap(SHL, f(a), c(2))), ap(AND, a, c(3))),
            ),
        ),
    ),
    "bytes.swap": Promise(
        swap,
        (Involution(),),
        (
            law2(
                "byte b is byte 3 - b",
                lambda f, a, b: Equation(ap(_LANE, f(a), b), ap(_LANE, a, ap(SUB, c(3), b))),
            ),
        ),
    ),
}

WITH_LANE = Promise(
    with_lane,
    (),
    (
        law3("it is found there", lambda f, a, b, z: Equation(ap(_LANE, f(a, b, z), b), ap(AND, z, c(0xFF)))),
        law2(
            "the byte that was there changes nothing", lambda f, a, b: Equation(f(a, b, ap(_LANE, a, b)), a)
        ),
    ),
)

PACK = Promise(
    pack,
    (),
    (
        law1(
            "the bytes of a word make the word",
            lambda f, a: Equation(f(*(ap(_LANE, a, c(k)) for k in range(4))), a),
        ),
    ),
)
