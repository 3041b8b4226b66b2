"""Shifts, whose amounts count modulo 32, and the masks around them."""

from vyre.optimize.rules.build import ONES, c, d, rule, x, y

_FIT = ((c & 31) + (d & 31)) < 32
_EMPTY = ((c & 31) + (d & 31)) > 31

RULES = (
    rule("shl-zero", x << c, x, when=(c & 31).eq(0)),
    rule("shr-zero", x >> c, x, when=(c & 31).eq(0)),
    rule("zero-shl", 0 << x, 0),
    rule("zero-shr", 0 >> x, 0),
    rule("shl-masked", x << (y & c), x << y, when=(c & 31).eq(31)),
    rule("shr-masked", x >> (y & c), x >> y, when=(c & 31).eq(31)),
    rule("shl-turn", x << (y + c), x << y, when=(c & 31).eq(0)),
    rule("shr-turn", x >> (y + c), x >> y, when=(c & 31).eq(0)),
    rule("shl-back", x << (c - y), x << -y, when=(c & 31).eq(0)),
    rule("shr-back", x >> (c - y), x >> -y, when=(c & 31).eq(0)),
    rule("shl-shl", (x << c) << d, x << ((c & 31) + (d & 31)), when=_FIT),
    rule("shr-shr", (x >> c) >> d, x >> ((c & 31) + (d & 31)), when=_FIT),
    rule("shl-out", (x << c) << d, 0, when=_EMPTY),
    rule("shr-out", (x >> c) >> d, 0, when=_EMPTY),
    rule("shl-shr", (x << c) >> d, x & (ONES >> d), when=(c & 31).eq(d & 31)),
    rule("shr-shl", (x >> c) << d, x & (ONES << d), when=(c & 31).eq(d & 31)),
    rule("shl-then-mask", (x << c) & d, x << c, when=(d | ~(ONES << c)).eq(ONES)),
    rule("shr-then-mask", (x >> c) & d, x >> c, when=(d | ~(ONES >> c)).eq(ONES)),
    rule("mask-then-shl", (x & c) << d, x << d, when=(c | ~(ONES >> d)).eq(ONES)),
    rule("mask-then-shr", (x & c) >> d, x >> d, when=(c | ~(ONES << d)).eq(ONES)),
    rule("mask-shifted-left-out", (x & c) << d, 0, when=(c << d).eq(0)),
    rule("mask-shifted-right-out", (x & c) >> d, 0, when=(c >> d).eq(0)),
    rule("shl-masked-out", (x << c) & d, 0, when=(d & (ONES << c)).eq(0)),
    rule("shr-masked-out", (x >> c) & d, 0, when=(d & (ONES >> c)).eq(0)),
    rule("shifts-or-left", (x << c) | (y << c), (x | y) << c),
    rule("shifts-xor-left", (x << c) ^ (y << c), (x ^ y) << c),
    rule("shifts-and-left", (x << c) & (y << c), (x & y) << c),
    rule("shifts-or-right", (x >> c) | (y >> c), (x | y) >> c),
    rule("shifts-xor-right", (x >> c) ^ (y >> c), (x ^ y) >> c),
    rule("shifts-and-right", (x >> c) & (y >> c), (x & y) >> c),
    rule("shr-is-zero", (x >> c).eq(0), x < (1 << c), when=(c & 31).ne(0)),
    rule("shr-not-zero", (x >> c).ne(0), x > (ONES >> (32 - c)), when=(c & 31).ne(0)),
    rule("mul-shl", (x << c) * d, x * (d << c)),
    rule("shl-mul", (x * c) << d, x * (c << d)),
)
