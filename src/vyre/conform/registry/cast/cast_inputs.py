"""How the operand of a cast is covered: its classes and its boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.registry.build import MAX, TOP, Unary, class1
from vyre.conform.registry.value.lanes import any_class
from vyre.conform.spec.op import EquivalenceClass
from vyre.ir.types import DataType
from vyre.ir.typing import CastRule
from vyre.semantics.words import word_count

if TYPE_CHECKING:
    from vyre.semantics.domain import Domain

T = DataType


def classes(source: DataType, rule: CastRule) -> tuple[EquivalenceClass, ...]:
    found = [any_class()]
    if rule is CastRule.SignExtend:
        found += _signs()
    if rule is CastRule.ToBool:
        count = word_count(source)
        found += [_zero(count), *(_single_word(k) for k in range(count))]
    if source.is_float:
        found += _float_classes(source)
    return tuple(found)


def _signs() -> list[EquivalenceClass]:
    return [
        class1("negative", lambda d, a: d.shr(a, d.const(31)), lambda d, a: d.or_(a, d.const(TOP))),
        class1(
            "not negative",
            lambda d, a: d.eq(d.shr(a, d.const(31)), d.const(0)),
            lambda d, a: d.and_(a, d.const(TOP - 1)),
        ),
    ]


def _zero(count: int) -> EquivalenceClass:
    def contains(d: Domain[Any], *words: Any) -> Any:
        true = d.const(1)
        for word in words:
            true = d.and_(true, d.eq(word, d.const(0)))
        return true

    def sample(d: Domain[Any], *words: Any) -> Any:
        return (d.const(0),) * count

    return EquivalenceClass("zero", contains, sample)


def _single_word(k: int) -> EquivalenceClass:
    """A value that is not zero in one word only: what a test of lane 0 alone would miss."""

    def contains(d: Domain[Any], *words: Any) -> Any:
        true = d.ne(words[k], d.const(0))
        for j, word in enumerate(words):
            true = true if j == k else d.and_(true, d.eq(word, d.const(0)))
        return true

    def sample(d: Domain[Any], *words: Any) -> Any:
        nothing = d.const(0)
        return tuple(d.ite(w, w, d.const(1)) if j == k else nothing for j, w in enumerate(words))

    return EquivalenceClass(f"only lane {k} is not zero", contains, sample)


_FIELDS = {T.F16: (15, 10), T.BF16: (15, 7), T.F32: (31, 23), T.F64: (31, 20)}
"""Sign bit and fraction bits in the word that has them; for F64 the high word, which comes last."""


def _float_classes(source: DataType) -> list[EquivalenceClass]:
    sign_bit, fraction_bits = _FIELDS[source]
    fraction = (1 << fraction_bits) - 1
    top = ((1 << sign_bit) - 1) ^ fraction
    return [
        _last_word(
            "infinity or NaN",
            lambda d, a: d.eq(d.and_(a, d.const(top)), d.const(top)),
            lambda d, a: d.or_(a, d.const(top)),
        ),
        _last_word(
            "zero or subnormal",
            lambda d, a: d.eq(d.and_(a, d.const(top)), d.const(0)),
            lambda d, a: d.and_(a, d.const(fraction | 1 << sign_bit)),
        ),
        _last_word(
            "negative",
            lambda d, a: d.and_(d.shr(a, d.const(sign_bit)), d.const(1)),
            lambda d, a: d.or_(a, d.const(1 << sign_bit)),
        ),
    ]


def _last_word(name: str, contains: Unary, sample: Unary) -> EquivalenceClass:
    def is_member(d: Domain[Any], *words: Any) -> Any:
        return contains(d, words[-1])

    def member(d: Domain[Any], *words: Any) -> Any:
        return (*words[:-1], sample(d, words[-1]))

    return EquivalenceClass(name, is_member, member)


_FLOAT_EDGES = {
    T.F16: (
        *(0, 1, 0x3FF, 0x400, 0x3BFF, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00),
        *(0x8000, 0x8001, 0xFC00, 0xFFFF),
    ),
    T.BF16: (0, 1, 0x7F, 0x80, 0x3F80, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x8000, 0x8001, 0xFF80, 0xFFFF),
    T.F32: (
        *(0, 1, 0x7F_FFFF, 0x80_0000, 0x3300_0000, 0x3300_0001, 0x3380_0000, 0x337F_FFFF, 0x387F_E000),
        *(0x387F_F000, 0x3880_0000, 0x3F80_0000, 0x3F80_1000, 0x3F80_3000, 0x3F80_8000, 0x3F81_8000),
        *(0x477F_E000, 0x477F_EFFF, 0x477F_F000, 0x7F7F_7FFF, 0x7F7F_8000, 0x7F7F_FFFF, 0x7F80_0000),
        *(0x7F80_0001, 0x7FC0_0000, TOP, TOP + 1, 0xBF80_0000, 0xFF80_0000, MAX),
    ),
}
_HIGH_EDGES = (
    *(0, 1, 0xF_FFFF, 0x10_0000, 0x3690_0000, 0x36A0_0000, 0x3690_0001, 0x380F_FFFF, 0x3810_0000),
    *(0x3FF0_0000, 0x47EF_FFFF, 0x47F0_0000, 0x7FEF_FFFF, 0x7FF0_0000, 0x7FF8_0000, TOP, 0xBFF0_0000),
    *(0xFFF0_0000, MAX),
)
_LOW_EDGES = (
    *(0, 1, 0x0FFF_FFFF, 0x1000_0000, 0x1000_0001, 0x2000_0000, 0x3000_0000, 0xE000_0000),
    *(0xF000_0000, MAX),
)


def boundaries(source: DataType) -> tuple[tuple[int, ...], ...]:
    """The boundary values of every word of the operand."""
    if source is T.F64:
        return (_LOW_EDGES, _HIGH_EDGES)
    if source is T.Bool:
        return ((0, 1),)
    edges = _FLOAT_EDGES.get(source, (0, 1, 2, 0x7FFF_FFFF, TOP, MAX))
    return (edges,) * word_count(source)
