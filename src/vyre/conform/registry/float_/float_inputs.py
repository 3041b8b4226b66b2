"""How the operands of float operations are covered: classes that hold every input, and boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.oracle.floats.layout import HEAD, LAYOUTS
from vyre.conform.oracle.floats.operands import specials
from vyre.conform.spec.edges import EDGES
from vyre.conform.spec.op import EquivalenceClass
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.semantics.domain import Domain

_TAILS = (0, 1, 1 << 31, 0xFFFF_FFFF)
"""Low words of an F64."""


def boundaries(of: DataType, arity: int) -> tuple[tuple[int, ...], ...]:
    """The special values of a format for every operand; of F64 fewer where they are crossed three ways."""
    if of is DataType.F64:
        heads = specials(HEAD).tolist()
        if arity > 2:
            return (_TAILS[::3], tuple(heads[::2])) * arity
        return (_TAILS, tuple(heads)) * arity
    if of.value not in LAYOUTS:
        return (EDGES,)
    words = specials(LAYOUTS[of.value]).tolist()
    return (tuple(words),) * arity


def classes(of: DataType, arity: int) -> tuple[EquivalenceClass, ...]:
    """What the first operand is, for all operands at once and one by one."""
    double = of is DataType.F64
    if not double and of.value not in LAYOUTS:
        return (_everything(),)
    layout = HEAD if double else LAYOUTS[of.value]
    found = [_everything()]
    for k in range(arity):
        name = f"operand {k + 1} is " if arity > 1 else ""
        at = 2 * k + 1 if double else k
        found += [_subnormal(layout, at, name), _special(layout, at, name), _negative(layout, at, name)]
    if arity > 1:
        found.append(_close_doubles() if double else _close(layout))
    return tuple(found)


def _everything() -> EquivalenceClass:
    def contains(d: Domain[Any], *words: Any) -> Any:
        return d.const(1)

    def same(d: Domain[Any], *words: Any) -> Any:
        return words

    return EquivalenceClass("any", contains, same)


def _changed(words: tuple[Any, ...], k: int, word: Any) -> tuple[Any, ...]:
    return (*words[:k], word, *words[k + 1 :])


def _subnormal(of: FloatFormat, k: int, name: str) -> EquivalenceClass:
    def contains(d: Domain[Any], *words: Any) -> Any:
        return d.eq(d.and_(words[k], d.const(of.infinity)), d.const(0))

    def sample(d: Domain[Any], *words: Any) -> Any:
        kept = d.const(of.sign | (1 << of.fraction_bits) - 1)
        return _changed(words, k, d.and_(words[k], kept))

    return EquivalenceClass(f"{name}zero or subnormal", contains, sample)


def _special(of: FloatFormat, k: int, name: str) -> EquivalenceClass:
    def contains(d: Domain[Any], *words: Any) -> Any:
        return d.eq(d.and_(words[k], d.const(of.infinity)), d.const(of.infinity))

    def sample(d: Domain[Any], *words: Any) -> Any:
        return _changed(words, k, d.or_(words[k], d.const(of.infinity)))

    return EquivalenceClass(f"{name}infinity or NaN", contains, sample)


def _negative(of: FloatFormat, k: int, name: str) -> EquivalenceClass:
    def contains(d: Domain[Any], *words: Any) -> Any:
        return d.ne(d.and_(words[k], d.const(of.sign)), d.const(0))

    def sample(d: Domain[Any], *words: Any) -> Any:
        return _changed(words, k, d.or_(words[k], d.const(of.sign)))

    return EquivalenceClass(f"{name}negative", contains, sample)


def _close(of: FloatFormat) -> EquivalenceClass:
    """Two operands that agree in all but the sign and the last bits: what cancels."""
    low = 7

    def contains(d: Domain[Any], *words: Any) -> Any:
        return d.eq(d.and_(d.xor(words[0], words[1]), d.const(of.magnitude & ~low)), d.const(0))

    def sample(d: Domain[Any], *words: Any) -> Any:
        kept = d.and_(words[1], d.const(of.sign | low))
        return _changed(words, 1, d.or_(d.and_(words[0], d.const(of.magnitude & ~low)), kept))

    return EquivalenceClass("close operands", contains, sample)


def _close_doubles() -> EquivalenceClass:
    """The same of F64, whose last bits are in the low words."""
    low = 7

    def contains(d: Domain[Any], *words: Any) -> Any:
        tails = d.and_(d.xor(words[0], words[2]), d.const(~low))
        heads = d.and_(d.xor(words[1], words[3]), d.const(HEAD.magnitude))
        return d.eq(d.or_(tails, heads), d.const(0))

    def sample(d: Domain[Any], *words: Any) -> Any:
        tail = d.or_(d.and_(words[0], d.const(~low)), d.and_(words[2], d.const(low)))
        head = d.or_(d.and_(words[1], d.const(HEAD.magnitude)), d.and_(words[3], d.const(HEAD.sign)))
        return _changed(_changed(words, 2, tail), 3, head)

    return EquivalenceClass("close operands", contains, sample)
