"""What holds for a cast, by its rule: there and back, lane by lane, and what rounding keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import U32, Func, c
from vyre.conform.registry.cast.names import cast_id
from vyre.conform.registry.ids import AND, LE, NE, OR, SHR, SUB
from vyre.conform.registry.value.lanes import lane_id
from vyre.conform.spec.law import AlgebraicLaw, Bounded, Custom, Idempotent, ap
from vyre.conform.spec.term import Equation, Term
from vyre.ir.types import LANE_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, CastRule

if TYPE_CHECKING:
    from collections.abc import Callable

T = DataType
Laws = tuple[AlgebraicLaw, ...]


def _about(name: str, of: DataType, predicate: Callable[[Func, Term], Equation]) -> Custom:
    """A law of one value of a type."""
    return Custom(name, predicate, (of,))


def properties(source: DataType, target: DataType, rule: CastRule) -> Laws:
    """The properties of one row of the cast table."""
    match rule:
        case CastRule.Identity:
            return (_about("the value is unchanged", source, lambda f, a: Equation(f(a), a)), Idempotent())
        case CastRule.ToBool:
            return _truth(source)
        case CastRule.Splat:
            return tuple(_splat_lane(source, target, k) for k in range(target.lanes))
        case CastRule.LowLanes:
            return _low_lanes(source, target)
        case CastRule.LowHalf:
            return (_low_half(source, target),)
        case CastRule.Widen:
            return _widening(source, target)
        case CastRule.Round:
            return _rounding(source, target)
        case _:
            return (*_round_trip(source, target), *_high_lane(source, target, rule))


def _word(of: DataType, value: Term) -> Term:
    """The bits of a one-word value as U32."""
    return value if of is U32 else ap(cast_id(of, U32), value)


def _round_trip(source: DataType, target: DataType) -> Laws:
    if (target, source) not in CAST_TABLE:
        return ()
    back = cast_id(target, source)
    return (_about("there and back is the value", source, lambda f, a: Equation(ap(back, f(a)), a)),)


def _high_lane(source: DataType, target: DataType, rule: CastRule) -> Laws:
    if target not in LANE_TYPES or source in LANE_TYPES:
        return ()
    top = lane_id(target, target.lanes - 1)
    if rule is CastRule.ZeroExtend:
        return (_about("the highest lane is 0", source, lambda f, a: Equation(ap(top, f(a)), c(0))),)

    def sign(f: Func, a: Term) -> Equation:
        return Equation(ap(top, f(a)), ap(SUB, c(0), ap(SHR, _word(source, a), c(31))))

    return (_about("the highest lane repeats the sign", source, sign),)


def _truth(source: DataType) -> Laws:
    def any_bit(f: Func, a: Term) -> Equation:
        lanes = [ap(lane_id(source, k), a) for k in range(source.lanes)]
        every = _word(source, a) if source not in LANE_TYPES else lanes[0]
        for lane in lanes[1:] if source in LANE_TYPES else []:
            every = ap(OR, every, lane)
        return Equation(_word(T.Bool, f(a)), ap(NE, every, c(0)))

    return (Bounded(0, 1), _about("1 where any bit is set", source, any_bit))


def _splat_lane(source: DataType, target: DataType, k: int) -> Custom:
    lane = lane_id(target, k)
    return _about(f"lane {k} is the value", source, lambda f, a: Equation(ap(lane, f(a)), _word(source, a)))


def _low_lanes(source: DataType, target: DataType) -> Laws:
    if target in LANE_TYPES:
        return tuple(_kept_lane(source, target, k) for k in range(target.lanes))

    def lowest(f: Func, a: Term) -> Equation:
        return Equation(_word(target, f(a)), ap(lane_id(source, 0), a))

    return (_about("lane 0 is kept", source, lowest),)


def _kept_lane(source: DataType, target: DataType, k: int) -> Custom:
    def kept(f: Func, a: Term) -> Equation:
        return Equation(ap(lane_id(target, k), f(a)), ap(lane_id(source, k), a))

    return _about(f"lane {k} is kept", source, kept)


def _low_half(source: DataType, target: DataType) -> Custom:
    def low(f: Func, a: Term) -> Equation:
        return Equation(_word(target, f(a)), ap(AND, a, c(0xFFFF)))

    return _about("the low 16 bits", source, low)


_INFINITY = {T.F16: (0x7FFF, 0x7C00), T.BF16: (0x7FFF, 0x7F80), T.F32: (0x7FFF_FFFF, 0x7F80_0000)}


def _number(of: DataType, value: Term) -> Term:
    """Not zero where the value is not a NaN: its bits without the sign are at most infinity."""
    mask, infinity = _INFINITY[of]
    return ap(LE, ap(AND, _word(of, value), c(mask)), c(infinity))


def _widening(source: DataType, target: DataType) -> Laws:
    back = cast_id(target, source)

    def kept(f: Func, a: Term) -> Equation:
        return Equation(ap(back, f(a)), a, precondition=_number(source, a))

    return (_about("rounding back gives the number", source, kept),)


def _rounding(source: DataType, target: DataType) -> Laws:
    widen = cast_id(target, source)

    def exact(f: Func, a: Term) -> Equation:
        return Equation(f(ap(widen, a)), a, precondition=_number(target, a))

    def settled(f: Func, a: Term) -> Equation:
        return Equation(f(ap(widen, f(a))), f(a))

    return (
        _about("what the target can hold is kept", target, exact),
        _about("rounding twice is rounding once", source, settled),
    )
