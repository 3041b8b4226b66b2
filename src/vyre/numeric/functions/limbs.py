"""Fixed-point numbers as tuples of U32 limbs, most significant first.

A tuple of n limbs stands for its integer times 2^(-32n), a fraction below one, unless a function says
otherwise. Nothing here rounds: what does not fit is cut off, and each function states how much that is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, Operand, lift, mul_hi, select
from vyre.numeric.formula import clz

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.numeric.functions.script import Script

    Words = tuple[Expr, ...]

MASK = 0xFFFFFFFF


def literal(value: int, count: int) -> Words:
    """The integer as `count` limbs, modulo their range."""
    return tuple(LitU32(value >> 32 * k & MASK) for k in reversed(range(count)))


def is_zero(word: Expr) -> bool:
    return isinstance(word, LitU32) and word.value == 0


def plus(s: Script, a: Words, b: Words) -> Words:
    """The sum of equally long numbers, modulo their range."""
    return _summed(s, [[x, y] for x, y in zip(a, b, strict=True)])


def minus(s: Script, a: Words, b: Words) -> Words:
    """The difference of equally long numbers, modulo their range."""
    out: list[Expr] = []
    borrow: Expr = LitU32(0)
    for x, y in zip(reversed(a), reversed(b), strict=True):
        last = len(out) == len(a) - 1
        if is_zero(borrow):
            out.append(s.let(x - y))
            borrow = LitU32(0) if last else s.let(x < y)
            continue
        first = s.let(x - y)
        out.append(s.let(first - borrow))
        borrow = LitU32(0) if last else s.let((x < y) | (first < borrow))
    return tuple(reversed(out))


def _summed(s: Script, columns: Sequence[list[Expr]]) -> Words:
    """Adds up columns of limbs, most significant first; a carry out of the first is lost."""
    out: list[Expr] = []
    carries: list[Expr] = []
    for number, column in enumerate(reversed(columns)):
        last = number == len(columns) - 1
        terms = [x for x in column if not is_zero(x)] + carries
        total: Expr = terms[0] if terms else LitU32(0)
        carries = []
        for term in terms[1:]:
            bigger = s.let(total + term)
            if not last:
                carries.append(s.let(bigger < term))
            total = bigger
        if len(carries) > 1:
            count = carries[0]
            for carry in carries[1:]:
                count = count + carry
            carries = [s.let(count)]
        out.append(total)
    return tuple(reversed(out))


def product(s: Script, a: Words, b: Words, keep: int) -> Words:
    """The first `keep` limbs of the product.

    Limb products that lie wholly below are left out, so it is too small by less than `2 * keep` units of the
    last limb kept (by one where a factor is a single limb), and exact when `keep` is the limbs of both.
    """
    columns: list[list[Expr]] = [[] for _ in range(keep)]
    for i, x in enumerate(a):
        for k, y in enumerate(b):
            if is_zero(x) or is_zero(y) or i + k >= keep:
                continue
            columns[i + k].append(s.let(mul_hi(x, y)))
            if i + k + 1 < keep:
                columns[i + k + 1].append(s.let(x * y))
    return _summed(s, columns)


def flipped(s: Script, a: Words, mask: Expr) -> Words:
    """The complement where the mask is all ones: the negative less one unit."""
    return tuple(s.let(x ^ mask) for x in a)


def negated_if(s: Script, a: Words, bit: Expr) -> Words:
    """The negative, modulo the range, where `bit` is 1."""
    mask = s.let(-bit)
    return plus(s, flipped(s, a, mask), (*literal(0, len(a) - 1), bit))


def chosen(s: Script, condition: Expr, yes: Words, no: Words) -> Words:
    return tuple(s.let(select(condition, x, y)) for x, y in zip(yes, no, strict=True))


def moved_right(s: Script, a: Words, amount: Expr, *, most: int) -> Words:
    """Moved right by `amount` places, at most `most`, which is below `32 * len(a)`."""
    limbs = s.let(amount >> 5) if most > 31 else LitU32(0)
    words = list(a)
    step = 1
    while step * 32 <= most:
        chosen_bit = s.let(limbs & step)
        words = [
            s.let(select(chosen_bit, words[k - step] if k >= step else 0, words[k]))
            for k in range(len(words))
        ]
        step *= 2
    # Two steps, because a shift by 32 - 0 would be masked to a shift by nothing.
    small = s.let(amount & 31)
    rest = s.let(31 - small)
    out: list[Expr] = []
    for k, word in enumerate(words):
        own = word >> small
        out.append(s.let(own if k == 0 else own | (words[k - 1] << 1) << rest))
    return tuple(out)


def moved_left(s: Script, a: Words, amount: Operand, *, keep: int) -> Words:
    """The first `keep` limbs of `a` moved left by up to 31 places; what leaves at the top is lost."""
    amount = lift(amount)
    rest = s.let(31 - amount)
    out: list[Expr] = []
    for k in range(keep):
        own = a[k] << amount
        out.append(s.let(own | (a[k + 1] >> 1) >> rest if k + 1 < len(a) else own))
    return tuple(out)


def shifted(s: Script, a: Words, places: int) -> Words:
    """Moved left (right for negative `places`) by a constant number of places, in the same limbs."""
    limbs, bits = places >> 5, places & 31
    padded = [a[k + limbs] if 0 <= k + limbs < len(a) else LitU32(0) for k in range(len(a) + 1)]
    if not bits:
        return tuple(padded[:-1])
    return tuple(s.let((x << bits) | (y >> (32 - bits))) for x, y in pairwise(padded))


def normalised(s: Script, a: Words, *, keep: int) -> tuple[Words, Expr]:
    """The number with its leading bit on top, cut to `keep` limbs, and how far it moved.

    Zero stays zero. Up to one limb below `keep` is looked at, so at most 31 places of a longer number are
    brought in; what lies below is lost.
    """
    words = list(a)
    moved: Expr = LitU32(0)
    step = 1
    while step * 2 < len(words):
        step *= 2
    while step:
        empty = words[0].eq(0)
        for k in range(1, step):
            empty = empty & words[k].eq(0)
        empty = s.let(empty)
        size = len(words)
        words = [
            s.let(select(empty, words[k + step] if k + step < size else 0, words[k])) for k in range(size)
        ]
        moved = s.let(moved + empty * (32 * step))
        step //= 2
    zeros = s.let(clz(words[0]))
    # A shift by 32 is masked to none, which is right for zero.
    return moved_left(s, tuple(words), s.let(zeros & 31), keep=keep), s.let(moved + zeros)


def looked_up(s: Script, index: Expr, rows: Sequence[int]) -> Expr:
    """`rows[index]` as a tree of selects; the number of rows is a power of two."""
    level: list[Operand] = list(rows)
    bit = 1
    while len(level) > 1:
        condition = s.let(index & bit)
        level = [
            s.let(select(condition, level[k + 1], level[k])) if level[k] != level[k + 1] else level[k]
            for k in range(0, len(level), 2)
        ]
        bit *= 2
    return lift(level[0])


def looked_up_wide(s: Script, index: Expr, rows: Sequence[int], count: int) -> Words:
    """The same for rows of `count` limbs."""
    return tuple(looked_up(s, index, [row >> 32 * k & MASK for row in rows]) for k in reversed(range(count)))
