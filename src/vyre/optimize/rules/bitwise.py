"""And, or, exclusive or, complement; population count and reversal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.limits import U32_MAX
from vyre.optimize.rules.build import (
    I32,
    U32,
    c,
    clz,
    ctz,
    d,
    popcount,
    reverse_bits,
    rule,
    suffix,
    word,
    x,
    y,
)

if TYPE_CHECKING:
    from vyre.ir.types import DataType
    from vyre.optimize.rule import Rule


def _bits(t: DataType) -> list[Rule]:
    zero, ones, s = word(t, 0), word(t, U32_MAX), suffix(t)
    return [
        rule(f"and-zero{s}", x & zero, zero, of=t),
        rule(f"and-ones{s}", x & ones, x, of=t),
        rule(f"and-self{s}", x & x, x, of=t),
        rule(f"and-complement{s}", x & ~x, zero, of=t),
        rule(f"complement-and{s}", ~x & x, zero, of=t),
        rule(f"or-zero{s}", x | zero, x, of=t),
        rule(f"or-ones{s}", x | ones, ones, of=t),
        rule(f"or-self{s}", x | x, x, of=t),
        rule(f"or-complement{s}", x | ~x, ones, of=t),
        rule(f"complement-or{s}", ~x | x, ones, of=t),
        rule(f"xor-zero{s}", x ^ zero, x, of=t),
        rule(f"xor-ones{s}", x ^ ones, ~x, of=t),
        rule(f"xor-self{s}", x ^ x, zero, of=t),
        rule(f"xor-complement{s}", x ^ ~x, ones, of=t),
        rule(f"complement-twice{s}", ~(~x), x, of=t),
        rule(f"complement-xor-constant{s}", ~(x ^ c), x ^ ~c, of=t),
        rule(f"complemented-xor-constant{s}", ~x ^ c, x ^ ~c, of=t),
        rule(f"complements-xor{s}", ~x ^ ~y, x ^ y, of=t),
        rule(f"and-constants{s}", (x & c) & d, x & (c & d), of=t),
        rule(f"or-constants{s}", (x | c) | d, x | (c | d), of=t),
        rule(f"xor-constants{s}", (x ^ c) ^ d, x ^ (c ^ d), of=t),
        rule(f"and-or-constants{s}", (x & c) | d, x | d, when=(c | d).eq(ones), of=t),
        rule(f"or-and-constants{s}", (x | c) & d, x & d, when=(c & d).eq(zero), of=t),
        rule(f"or-and-covered{s}", (x | c) & d, d, when=(c & d).eq(d), of=t),
        rule(f"xor-and-outside{s}", (x ^ c) & d, x & d, when=(c & d).eq(zero), of=t),
        rule(f"split-and{s}", (x & c) | (x & d), x & (c | d), of=t),
        rule(f"split-xor-and{s}", (x & c) ^ (x & d), x & (c ^ d), of=t),
        rule(f"split-add-and{s}", (x & c) + (x & d), x & (c | d), when=(c & d).eq(zero), of=t),
        rule(f"xor-undo{s}", (x ^ y) ^ y, x, of=t),
        rule(f"xor-undo-first{s}", (x ^ y) ^ x, y, of=t),
        rule(f"xor-undo-right{s}", x ^ (x ^ y), y, of=t),
        rule(f"absorb-and{s}", x & (x | y), x, of=t),
        rule(f"absorb-or{s}", x | (x & y), x, of=t),
        rule(f"absorbed-and{s}", (x | y) & x, x, of=t),
        rule(f"absorbed-or{s}", (x & y) | x, x, of=t),
        rule(f"and-same{s}", (x & y) & y, x & y, of=t),
        rule(f"or-same{s}", (x | y) | y, x | y, of=t),
        rule(f"and-or-complement{s}", x & (~x | y), x & y, of=t),
        rule(f"or-and-complement{s}", x | (~x & y), x | y, of=t),
        rule(f"or-xor{s}", x | (x ^ y), x | y, of=t),
        rule(f"choose-self{s}", (x & y) | (x & ~y), x, of=t),
        rule(f"and-plus-or{s}", (x & y) + (x | y), x + y, of=t),
        rule(f"and-plus-xor{s}", (x & y) + (x ^ y), x | y, of=t),
        rule(f"or-minus-and{s}", (x | y) - (x & y), x ^ y, of=t),
        rule(f"sum-minus-or{s}", (x + y) - (x | y), x & y, of=t),
        rule(f"sum-minus-and{s}", (x + y) - (x & y), x | y, of=t),
        rule(f"or-xor-and{s}", (x | y) ^ (x & y), x ^ y, of=t),
        rule(f"de-morgan-and{s}", ~x & ~y, ~(x | y), of=t),
        rule(f"de-morgan-or{s}", ~x | ~y, ~(x & y), of=t),
        rule(f"de-morgan-and-back{s}", ~(~x & y), x | ~y, of=t),
        rule(f"de-morgan-or-back{s}", ~(~x | y), x & ~y, of=t),
        rule(f"complement-sum{s}", ~(x + c), ~c - x, of=t),
        rule(f"complement-difference{s}", ~(c - x), x + ~c, of=t),
    ]


RULES = (
    *_bits(U32),
    *_bits(I32),
    rule("reverse-twice", reverse_bits(reverse_bits(x)), x),
    rule("popcount-reversed", popcount(reverse_bits(x)), popcount(x)),
    rule("clz-reversed", clz(reverse_bits(x)), ctz(x)),
    rule("ctz-reversed", ctz(reverse_bits(x)), clz(x)),
    rule("popcount-is-zero", popcount(x).eq(0), x.eq(0)),
    rule("popcount-not-zero", popcount(x).ne(0), x.ne(0)),
    rule("clz-is-32", clz(x).eq(32), x.eq(0)),
    rule("clz-not-32", clz(x).ne(32), x.ne(0)),
    rule("ctz-is-32", ctz(x).eq(32), x.eq(0)),
    rule("ctz-not-32", ctz(x).ne(32), x.ne(0)),
    rule("clz-top-bit", clz(x) >> 5, x.eq(0)),
    rule("ctz-top-bit", ctz(x) >> 5, x.eq(0)),
)
