"""Operands at which float operations go wrong, on their bits.

    shaped(layout, masks, seed=…)     each operand on its own: zeros, subnormals, ends of ranges, ties, NaNs
    related(layout, masks, seed=…)    operands that cancel, align at the rounding bit, overflow or underflow;
                                      a single one near the places where functions turn

A layout describes one word. An F64 is two: the first is the tail of its fraction, the second has the layout
of the head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.generate.counter import word
from vyre.conform.generate.stream import CaseStream
from vyre.conform.oracle.floats.layout import HEAD, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.float_formats import FloatFormat

RELATIONS = 16
_NEAR = 12
"""Moderate values have exponents within this of that of 1."""
_STREAMS = 4
"""Free words of an operand."""


def shaped(of: FloatFormat, masks: tuple[int, ...], *, seed: int) -> CaseStream:
    """Sixteen shapes for every operand, each on its own."""

    def make(d: Any, low: Any, high: Any) -> tuple[Any, ...]:
        free = _Free(d, low, high, seed)
        return _spread(d, of, [_shape(d, of, *free(k)) for k in range(_operands(of, masks))], free)

    return CaseStream("adversarial", masks, seed, make=make)


def related(of: FloatFormat, masks: tuple[int, ...], *, seed: int) -> CaseStream:
    """The second operand in one of sixteen relations to the first, a third near their product."""

    def make(d: Any, low: Any, high: Any) -> tuple[Any, ...]:
        free = _Free(d, low, high, seed)
        count = _operands(of, masks)
        r, s = free(0)
        first = _moderate(d, of, r, s)
        if count == 1:
            return _spread(d, of, [_landmark(d, of, low, r, s)], free)
        second = _choose(d, d.and_(low, d.const(RELATIONS - 1)), _relations(d, of, first, *free(1)))
        # The roles change every 16 cases, so that each relation is met both ways round.
        flip = d.and_(low, d.const(RELATIONS))
        operands = [d.ite(flip, second, first), d.ite(flip, first, second)]
        operands += [_third(d, of, first, second, low, *free(k)) for k in range(2, count)]
        return _spread(d, of, operands, free)

    return CaseStream("correlated", masks, seed, make=make)


class _Free:
    """Two free words for each operand."""

    def __init__(self, d: Any, low: Any, high: Any, seed: int) -> None:
        self._word: Callable[[int], Any] = lambda stream: word(d, low, high, seed=seed, stream=stream)

    def __call__(self, operand: int, *, second: bool = False) -> tuple[Any, Any]:
        at = _STREAMS * operand + 2 * second
        return self._word(at), self._word(at + 1)


def _operands(of: FloatFormat, masks: tuple[int, ...]) -> int:
    return len(masks) // 2 if of is HEAD else len(masks)


def _spread(d: Any, of: FloatFormat, heads: list[Any], free: _Free) -> tuple[Any, ...]:
    """The words of the operands; the tail of an F64 is often empty, full, or half."""
    if of is not HEAD:
        return tuple(heads)
    words: list[Any] = []
    for k, head in enumerate(heads):
        r, s = free(k, second=True)
        tails = [d.const(0), d.const(0), d.const(0xFFFF_FFFF), d.const(1), d.const(1 << 31), r, r, r]
        words += [_choose(d, d.and_(s, d.const(7)), tails), head]
    return tuple(words)


def _choose(d: Any, which: Any, options: list[Any]) -> Any:
    chosen = options[0]
    for k, option in enumerate(options[1:], 1):
        chosen = d.ite(d.eq(which, d.const(k)), option, chosen)
    return chosen


def _shape(d: Any, of: FloatFormat, r: Any, s: Any) -> Any:
    c = d.const
    unit = 1 << of.fraction_bits
    sign, fraction = d.and_(r, c(of.sign)), d.and_(r, c(unit - 1))
    step = d.sub(d.and_(s, c(7)), c(3))
    any_power = d.and_(r, c(of.infinity))
    exponent = d.urem(s, c(of.fraction_bits + 2))
    # A multiple of a half: what lies below is cut away, which leaves integers and ties between them.
    cut = d.shr(c(unit - 1), d.add(exponent, c(1)))
    halves = d.or_(d.add(c(of.one), d.shl(exponent, c(of.fraction_bits))), d.and_(fraction, d.not_(cut)))
    words = min(31, of.bias)
    few = d.and_(r, c(0xF << max(0, of.fraction_bits - 4) & (unit - 1)))
    sizes = [
        c(0),
        c(of.infinity),
        d.or_(c(of.infinity), d.or_(fraction, c(1))),
        fraction,
        d.and_(fraction, c(7)),
        d.add(c(unit), step),
        d.sub(c(of.infinity - 1), d.and_(s, c(7))),
        any_power,
        d.and_(d.add(any_power, step), c(of.magnitude)),
        d.and_(_moderate(d, of, r, s), c(of.magnitude)),
        d.or_(d.and_(_moderate(d, of, r, s), c(of.infinity)), few),
        halves,
        d.add(halves, step),
        d.add(c(of.one + (words - 2) * unit), d.or_(d.shl(d.and_(s, c(3)), c(of.fraction_bits)), fraction)),
        d.add(c(of.one), d.sub(d.and_(s, c(255)), c(128))),
        d.and_(r, c(of.magnitude)),
    ]
    return d.or_(sign, d.and_(_choose(d, d.shr(s, c(28)), sizes), c(of.magnitude)))


LANDMARKS = (
    0x3FF921FB54442D18,  # pi / 2
    0x400921FB54442D18,  # pi
    0x3FE921FB54442D18,  # pi / 4
    0x3FF0000000000000,  # 1
    0x4005BF0A8B145769,  # e
    0x3FD78B56362CEF38,  # 1 / e
    0x3FE62E42FEFA39EF,  # log 2
    0x3FF71547652B82FE,  # 1 / log 2
    0x400A934F0979A371,  # log2 10
    0x3FD34413509F79FF,  # log10 2
    0x3FE6A09E667F3BCD,  # sqrt 1/2
    0x3FE0000000000000,  # 0.5
    0x4024000000000000,  # 10
    0x4059000000000000,  # 100
    0x40562E42FE82517E,  # 88.722839
    0x4059D1D9FD36F7E4,  # 103.27893
    0x405FC00000000000,  # 127
    0x4062A00000000000,  # 149
    0x4043441355475A32,  # 38.53184
    0x40466D42C3C9EECC,  # 44.8536
    0x40262E02F80204BD,  # 11.0898664
    0x4031542456F75D9A,  # 17.3286795
    0x402E000000000000,  # 15
    0x4038000000000000,  # 24
    0x4013441355475A32,  # 4.81648
    0x401CE61CF9350AA4,  # 7.2247199
    0x3FEFFFEB074A771D,  # 0.99999
    0x3FF0000A7C5AC472,  # 1.00001
    0x3EFF75104D551D69,  # 3e-5
    0x3E701B2B29A4692B,  # 6e-8
    0x38105563C4FFE223,  # 1.2e-38
    0x369FF868BF4D956A,  # 1.4e-45
)
"""Where functions cross zero, overflow, underflow, or are close to a simple one; 32 doubles by their bits."""


def _landmark(d: Any, of: FloatFormat, low: Any, r: Any, s: Any) -> Any:
    """A few steps around one of them, or around it times a power of two, of either sign."""
    c = d.const
    if of is HEAD:
        words = [bits >> 32 for bits in LANDMARKS]
    else:
        words = nearest(of, np.array(LANDMARKS, np.uint64).view(np.float64)).tolist()
    place = _choose(d, d.and_(low, c(len(LANDMARKS) - 1)), [c(w) for w in words])
    power = d.ite(d.and_(s, c(1 << 16)), d.and_(d.shr(s, c(8)), c(15)), c(0))
    moved = d.add(d.add(place, d.shl(power, c(of.fraction_bits))), d.sub(d.and_(s, c(63)), c(32)))
    return d.or_(d.and_(moved, c(of.magnitude)), d.and_(r, c(of.sign)))


def _moderate(d: Any, of: FloatFormat, r: Any, s: Any) -> Any:
    """A value within a few powers of 1, with any fraction."""
    c = d.const
    span = min(_NEAR, of.bias - 1)
    exponent = d.add(c(of.bias - span), d.urem(d.shr(s, c(8)), c(2 * span + 1)))
    kept = d.and_(r, c(of.sign | (1 << of.fraction_bits) - 1))
    return d.or_(kept, d.shl(exponent, c(of.fraction_bits)))


def _relations(d: Any, of: FloatFormat, a: Any, r: Any, s: Any) -> list[Any]:
    """The second operand under each relation, from the first and two free words."""
    c = d.const
    unit, sign = 1 << of.fraction_bits, c(of.sign)
    fraction, any_sign = d.and_(r, c(unit - 1)), d.and_(r, sign)
    head = d.and_(a, c(of.infinity))

    def scaled(by: Any, tail: Any) -> Any:
        """The power of two of the first, moved by so many steps, with another sign and fraction."""
        moved = d.and_(d.add(head, d.shl(by, c(of.fraction_bits))), c(of.infinity))
        return d.or_(any_sign, d.or_(moved, tail))

    def opposite(total: int) -> Any:
        """The exponent that adds up with the first one to this; products and quotients end up there."""
        moved = d.and_(d.sub(c((total << of.fraction_bits) & 0xFFFF_FFFF), head), c(of.infinity))
        return d.or_(any_sign, d.or_(moved, fraction))

    near = d.sub(d.and_(s, c(7)), c(3))
    apart = d.sub(d.urem(s, c(2 * of.fraction_bits + 7)), c(of.fraction_bits + 3))
    half = c(-(of.fraction_bits + 1))
    top = (1 << (of.width - 1 - of.fraction_bits)) - 2
    return [
        a,
        d.xor(a, sign),
        d.add(a, near),
        d.xor(d.add(a, near), sign),
        d.xor(a, d.and_(r, c(of.sign | 7))),
        scaled(c(1), fraction),
        scaled(c(-1), fraction),
        scaled(apart, fraction),
        scaled(apart, c(0)),
        scaled(half, c(0)),
        scaled(half, c(1)),
        scaled(c(-(of.fraction_bits + 2)), c(unit - 1)),
        opposite(2 * of.bias),
        opposite(top + of.bias),
        opposite(of.bias + 1),
        opposite(of.bias - of.fraction_bits),
    ]


def _third(d: Any, of: FloatFormat, a: Any, b: Any, low: Any, r: Any, s: Any) -> Any:
    """Near the product of two operands, where a fused sum cancels or ties; or one of them; or free."""
    c = d.const
    exponents = d.sub(d.add(d.and_(a, c(of.infinity)), d.and_(b, c(of.infinity))), c(of.one))
    apart = d.sub(d.urem(s, c(2 * of.fraction_bits + 7)), c(of.fraction_bits + 3))
    moved = d.and_(d.add(exponents, d.shl(apart, c(of.fraction_bits))), c(of.infinity))
    fraction = d.ite(d.and_(s, c(1 << 30)), d.and_(r, c((1 << of.fraction_bits) - 1)), c(0))
    near = d.or_(d.and_(r, c(of.sign)), d.or_(moved, fraction))
    level = d.or_(d.and_(r, c(of.sign)), d.or_(d.and_(exponents, c(of.infinity)), fraction))
    choice = d.and_(d.shr(low, c(5)), c(7))
    options = [near, near, level, level, a, d.xor(b, c(of.sign)), _shape(d, of, r, s), r]
    return _choose(d, choice, options)
