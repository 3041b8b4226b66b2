"""Specs for every row of the cast table (decision 6), each by its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import MAX, TOP, U32, Func, c
from vyre.conform.registry.cast import floats
from vyre.conform.registry.ids import EQ, LE, NE, SHR, SUB
from vyre.conform.registry.value.lanes import any_class, lane_id
from vyre.conform.spec.law import AlgebraicLaw, Bounded, Custom, Idempotent, InverseOf, ap
from vyre.conform.spec.op import EquivalenceClass, ExpressionForm, OpSpec
from vyre.conform.spec.term import Equation, Term
from vyre.conform.spec.words import word_count
from vyre.ir.expr import Cast, Expr
from vyre.ir.signature import OpSignature
from vyre.ir.types import LANE_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, CastRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.spec.domain import Domain

T = DataType


def cast_id(source: DataType, target: DataType) -> str:
    return f"cast.{source.value.lower()}.{target.value.lower()}"


def _kept(d: Domain[Any], *words: Any) -> Any:
    return words


def _truth(d: Domain[Any], *words: Any) -> Any:
    every = words[0]
    for word in words[1:]:
        every = d.or_(every, word)
    return d.ne(every, d.const(0))


def _extended(target: DataType, *, signed: bool) -> Callable[..., Any]:
    def cpu_fn(d: Domain[Any], *words: Any) -> Any:
        sign = d.sub(d.const(0), d.shr(words[0], d.const(31))) if signed else d.const(0)
        return (*words, *(sign,) * (word_count(target) - len(words)))

    return cpu_fn


def _splat(target: DataType) -> Callable[..., Any]:
    def cpu_fn(d: Domain[Any], word: Any) -> Any:
        return (word,) * word_count(target)

    return cpu_fn


def _lowest(target: DataType) -> Callable[..., Any]:
    def cpu_fn(d: Domain[Any], *words: Any) -> Any:
        return words[: word_count(target)]

    return cpu_fn


def _low_half(d: Domain[Any], word: Any) -> Any:
    return d.and_(word, d.const(0xFFFF))


_FLOATS: dict[tuple[DataType, DataType], Callable[..., Any]] = {
    (T.F16, T.F32): floats.half_to_single,
    (T.F32, T.F16): floats.single_to_half,
    (T.BF16, T.F32): floats.brain_to_single,
    (T.F32, T.BF16): floats.single_to_brain,
    (T.F32, T.F64): floats.single_to_double,
    (T.F64, T.F32): floats.double_to_single,
}


def _definition(source: DataType, target: DataType, rule: CastRule) -> Callable[..., Any]:
    match rule:
        case CastRule.Identity | CastRule.Bitcast | CastRule.FromBool | CastRule.ZeroExtendHalf:
            return _kept
        case CastRule.ToBool:
            return _truth
        case CastRule.ZeroExtend | CastRule.SignExtend:
            return _extended(target, signed=rule is CastRule.SignExtend)
        case CastRule.Splat:
            return _splat(target)
        case CastRule.LowLanes:
            return _lowest(target)
        case CastRule.LowHalf:
            return _low_half
        case CastRule.Widen | CastRule.Round:
            return _FLOATS[source, target]


def _number(t: DataType, value: Term) -> Term:
    """Not zero where a value of F16, BF16 or F32 is no NaN: its bits without the sign are at most infinity."""
    top, bits = {T.F16: (0x7C00, 16), T.BF16: (0x7F80, 16), T.F32: (0x7F80_0000, 32)}[t]
    word = value if t is T.F32 else ap(cast_id(t, U32), value)
    plain = ap(cast_id(T.F32, U32), word) if t is T.F32 else word
    return ap(LE, ap("primitive.bitwise.and", plain, c((1 << (bits - 1)) - 1)), c(top))


def _properties(source: DataType, target: DataType, rule: CastRule) -> tuple[AlgebraicLaw, ...]:
    back = cast_id(target, source)

    def there_and_back(f: Func, a: Term) -> Equation:
        return Equation(ap(back, f(a)), a)

    match rule:
        case CastRule.Identity:
            return (Custom("the value is unchanged", lambda f, a: Equation(f(a), a), (source,)), Idempotent())
        case CastRule.Bitcast | CastRule.FromBool if (target, source) in CAST_TABLE:
            return (Custom("there and back is the value", there_and_back, (source,)),)
        case CastRule.ZeroExtend | CastRule.SignExtend | CastRule.ZeroExtendHalf if (
            (target, source) in CAST_TABLE
        ):
            return (Custom("there and back is the value", there_and_back, (source,)), *_high_lane(source, target, rule))
        case CastRule.ToBool:
            return _truth_properties(source)
        case CastRule.Splat:
            return tuple(
                Custom(
                    f"lane {k} is the value",
                    lambda f, a, k=k: Equation(ap(lane_id(target, k), f(a)), _as_word(source, a)),
                    (source,),
                )
                for k in range(target.lanes)
            )
        case CastRule.LowLanes:
            return _lane_properties(source, target)
        case CastRule.LowHalf:
            return (
                Custom(
                    "the low 16 bits",
                    lambda f, a: Equation(
                        ap(cast_id(target, U32), f(a)), ap("primitive.bitwise.and", a, c(0xFFFF))
                    ),
                    (source,),
                ),
            )
        case CastRule.Widen:
            return (
                Custom(
                    "rounding back gives the number",
                    lambda f, a: Equation(ap(back, f(a)), a, precondition=_number(source, a)),
                    (source,),
                ),
            )
        case CastRule.Round:
            return _rounding_properties(source, target)
        case _:
            return ()


def _as_word(source: DataType, value: Term) -> Term:
    return value if source is U32 else ap(cast_id(source, U32), value)


def _high_lane(source: DataType, target: DataType, rule: CastRule) -> tuple[AlgebraicLaw, ...]:
    if target not in LANE_TYPES or source in LANE_TYPES:
        return ()
    top = lane_id(target, target.lanes - 1)
    if rule is CastRule.ZeroExtend:
        return (Custom("the highest lane is 0", lambda f, a: Equation(ap(top, f(a)), c(0)), (source,)),)

    def sign(f: Func, a: Term) -> Equation:
        return Equation(ap(top, f(a)), ap(SUB, c(0), ap(SHR, ap(cast_id(source, U32), a), c(31))))

    return (Custom("the highest lane repeats the sign", sign, (source,)),)


def _truth_properties(source: DataType) -> tuple[AlgebraicLaw, ...]:
    bounded = (Bounded(0, 1),)
    if source not in LANE_TYPES:
        return (
            *bounded,
            Custom(
                "1 where the bits are not 0",
                lambda f, a: Equation(
                    ap(cast_id(T.Bool, U32), f(a)), ap(NE, _as_word(source, a), c(0))
                ),
                (source,),
            ),
        )

    def all_zero(f: Func, a: Term) -> Equation:
        every = ap(lane_id(source, 0), a)
        for k in range(1, source.lanes):
            every = ap("primitive.bitwise.or", every, ap(lane_id(source, k), a))
        return Equation(ap(cast_id(T.Bool, U32), f(a)), ap(NE, every, c(0)))

    return (*bounded, Custom("1 where a lane is not 0", all_zero, (source,)))


def _lane_properties(source: DataType, target: DataType) -> tuple[AlgebraicLaw, ...]:
    if target not in LANE_TYPES:
        return (
            Custom(
                "lane 0 is kept",
                lambda f, a: Equation(_as_word(target, f(a)), ap(lane_id(source, 0), a)),
                (source,),
            ),
        )
    return tuple(
        Custom(
            f"lane {k} is kept",
            lambda f, a, k=k: Equation(ap(lane_id(target, k), f(a)), ap(lane_id(source, k), a)),
            (source,),
        )
        for k in range(target.lanes)
    )


def _rounding_properties(source: DataType, target: DataType) -> tuple[AlgebraicLaw, ...]:
    widen = cast_id(target, source)

    def exact(f: Func, a: Term) -> Equation:
        return Equation(f(ap(widen, a)), a, precondition=_number(target, a))

    exactly = Custom("what the target can hold is kept", exact, (target,))
    return (exactly,)


def _classes(source: DataType, rule: CastRule) -> tuple[EquivalenceClass, ...]:
    found = [any_class()]
    if rule is CastRule.SignExtend:
        found += [
            EquivalenceClass(
                "negative",
                lambda d, a: d.shr(a, d.const(31)),
                lambda d, a: d.or_(a, d.const(TOP)),
            ),
            EquivalenceClass(
                "not negative",
                lambda d, a: d.eq(d.shr(a, d.const(31)), d.const(0)),
                lambda d, a: d.and_(a, d.const(TOP - 1)),
            ),
        ]
    if rule is CastRule.ToBool:
        zero = _zero_class(word_count(source))
        found += [zero, *_single_lane_classes(word_count(source))]
    if source.is_float:
        found += _float_classes(source)
    return tuple(found)


def _zero_class(count: int) -> EquivalenceClass:
    def contains(d: Domain[Any], *words: Any) -> Any:
        return d.eq(_truth(d, *words), d.const(0))

    return EquivalenceClass("zero", contains, lambda d, *words: (d.const(0),) * count)


def _single_lane_classes(count: int) -> list[EquivalenceClass]:
    """A value that is not zero in one lane only: what a test of lane 0 alone would miss."""

    def made(k: int) -> EquivalenceClass:
        def contains(d: Domain[Any], *words: Any) -> Any:
            true = d.ne(words[k], d.const(0))
            for j, word in enumerate(words):
                true = true if j == k else d.and_(true, d.eq(word, d.const(0)))
            return true

        def sample(d: Domain[Any], *words: Any) -> Any:
            return tuple(
                d.ite(word, word, d.const(1)) if j == k else d.const(0) for j, word in enumerate(words)
            )

        return EquivalenceClass(f"only lane {k} is not zero", contains, sample)

    return [made(k) for k in range(count)]


_FIELDS = {T.F16: (15, 10), T.BF16: (15, 7), T.F32: (31, 23), T.F64: (31, 20)}
"""Sign bit and fraction bits in the word that has them; for F64 the high word."""


def _float_classes(source: DataType) -> list[EquivalenceClass]:
    sign_bit, fraction_bits = _FIELDS[source]
    top = ((1 << sign_bit) - 1) ^ ((1 << fraction_bits) - 1)
    fraction = (1 << fraction_bits) - 1

    def by_word(name: str, contains: Callable[..., Any], sample: Callable[..., Any]) -> EquivalenceClass:
        return EquivalenceClass(
            name,
            lambda d, *words: contains(d, words[-1]),
            lambda d, *words: (*words[:-1], sample(d, words[-1])),
        )

    return [
        by_word(
            "infinity or NaN",
            lambda d, a: d.eq(d.and_(a, d.const(top)), d.const(top)),
            lambda d, a: d.or_(a, d.const(top)),
        ),
        by_word(
            "zero or subnormal",
            lambda d, a: d.eq(d.and_(a, d.const(top)), d.const(0)),
            lambda d, a: d.and_(a, d.const(fraction | 1 << sign_bit)),
        ),
        by_word(
            "negative",
            lambda d, a: d.and_(d.shr(a, d.const(sign_bit)), d.const(1)),
            lambda d, a: d.or_(a, d.const(1 << sign_bit)),
        ),
    ]


_FLOAT_EDGES = {
    T.F16: (0, 1, 0x3FF, 0x400, 0x3BFF, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x8000, 0x8001, 0xFC00, 0xFFFF),
    T.BF16: (0, 1, 0x7F, 0x80, 0x3F80, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x8000, 0x8001, 0xFF80, 0xFFFF),
    T.F32: (
        *(0, 1, 0x7F_FFFF, 0x80_0000, 0x3300_0000, 0x3300_0001, 0x3380_0000, 0x337F_FFFF, 0x387F_E000),
        *(0x387F_F000, 0x3880_0000, 0x3F80_0000, 0x3F80_1000, 0x3F80_3000, 0x3F80_8000, 0x3F81_8000),
        *(0x477F_E000, 0x477F_EFFF, 0x477F_F000, 0x7F7F_7FFF, 0x7F7F_8000, 0x7F7F_FFFF, 0x7F80_0000),
        *(0x7F80_0001, 0x7FC0_0000, TOP, TOP + 1, 0xBF80_0000, 0xFF80_0000, MAX),
    ),
}
_HIGH_EDGES = (
    *(0, 1, 0xF_FFFF, 0x10_0000, 0x3690_0000, 0x36A0_0000, 0x3690_0001, 0x380F_FFFF, 0x3810_0000, 0x3FF0_0000),
    *(0x47EF_FFFF, 0x47F0_0000, 0x7FEF_FFFF, 0x7FF0_0000, 0x7FF8_0000, TOP, 0xBFF0_0000, 0xFFF0_0000, MAX),
)
_LOW_EDGES = (0, 1, 0x0FFF_FFFF, 0x1000_0000, 0x1000_0001, 0x2000_0000, 0x3000_0000, 0xE000_0000, 0xF000_0000, MAX)


def _boundaries(source: DataType) -> tuple[tuple[int, ...], ...]:
    if source is T.F64:
        return (_LOW_EDGES, _HIGH_EDGES)
    if source is T.Bool:
        return ((0, 1),)
    edges = _FLOAT_EDGES.get(source, (0, 1, 2, 0x7FFF_FFFF, TOP, MAX))
    return (edges,) * word_count(source)


def _spec(source: DataType, target: DataType, rule: CastRule) -> OpSpec:
    def build(operands: tuple[Expr, ...]) -> Expr:
        return Cast(target, operands[0])

    return OpSpec(
        cast_id(source, target),
        OpSignature((source,), target),
        _definition(source, target, rule),
        ExpressionForm(build),
        f"{source.value} to {target.value}: {rule.value}.",
        properties=_properties(source, target, rule),
        classes=_classes(source, rule),
        boundaries=_boundaries(source),
    )


def specs() -> list[OpSpec]:
    """One spec per pair that a program can write; a Bytes value never stands in an expression."""
    return [_spec(s, t, rule) for (s, t), rule in CAST_TABLE.items() if DataType.Bytes not in (s, t)]
