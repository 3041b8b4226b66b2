"""Mixed operands for float operations: a pure function of format, arity and count, the same everywhere.

The first cases are special values crossed with each other. The rest takes turns: random bits, subnormals and
their neighbours, moderate values, and operands that are close to each other or cancel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.oracle.digest import A, B, consecutive, mixed
from vyre.conform.oracle.floats.layout import LAYOUTS
from vyre.ir.float_formats import F32

if TYPE_CHECKING:
    from vyre.conform.oracle.floats.layout import Words
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.types import DataType

NEAR = 12
"""Moderate values have exponents within this of that of 1."""


def specials(of: FloatFormat) -> Words:
    """Zeros, the ends of every range, ones, small integers, halves, infinities and NaNs, of both signs."""
    unit = 1 << of.fraction_bits
    one = of.one
    positive = [
        *(0, 1, 2, unit - 1, unit, unit + 1, unit * 2),
        *(one - unit, one - 1, one, one + 1, one + unit // 2, one + unit, one + 3 * unit // 2),
        *(
            one + of.fraction_bits * unit,
            one + (of.fraction_bits + 1) * unit + 1,
            one + min(31, of.bias) * unit,
        ),
        *(of.infinity - 1, of.infinity, of.infinity + 1, of.nan, of.magnitude),
    ]
    words = np.array(positive, np.uint32)
    return np.concatenate([words, words | np.uint32(of.sign)])


def _random(stream: int, count: int) -> Words:
    with np.errstate(over="ignore"):
        start = mixed(np.array([stream], np.uint32), B)
        return mixed(mixed(consecutive(0, count), A) + start, B)


def operands(source: DataType, arity: int, count: int) -> tuple[Words, ...]:
    """The operand words of `count` cases."""
    if source.value not in LAYOUTS:
        return (_integers(count),)
    of = LAYOUTS[source.value]
    crossed = _crossed(of, arity, count)
    head = crossed[0].size
    tail = _tail(of, arity, count - head)
    return tuple(np.concatenate([a, b]) for a, b in zip(crossed, tail, strict=True))


def _crossed(of: FloatFormat, arity: int, count: int) -> tuple[Words, ...]:
    words = specials(of)
    grids = np.meshgrid(*(words,) * arity, indexing="ij")
    return tuple(np.ascontiguousarray(g.reshape(-1)[:count]) for g in grids)


def _tail(of: FloatFormat, arity: int, count: int) -> tuple[Words, ...]:
    mask = np.uint32(of.magnitude | of.sign)
    turn = consecutive(0, count) % 4
    columns: list[Words] = []
    for k in range(arity):
        bits, more = (_random(1000 * k + stream + of.width + of.fraction_bits, count) for stream in (1, 2))
        sign = bits & np.uint32(of.sign)
        unit = np.uint32(1 << of.fraction_bits)
        small = sign | more % (unit * np.uint32(2))
        span = 2 * min(NEAR, of.bias - 1) + 1
        exponent = np.uint32(of.bias - span // 2) + (more >> np.uint32(8)) % np.uint32(span)
        moderate = sign | exponent << np.uint32(of.fraction_bits) | bits & (unit - np.uint32(1))
        close = moderate if k == 0 else columns[0] ^ (more & np.uint32(7)) ^ (bits & np.uint32(of.sign))
        columns.append(np.choose(turn, [bits & mask, small, moderate, close]).astype(np.uint32))
    return tuple(columns)


def _integers(count: int) -> Words:
    """Integers of every length, those around powers of two first."""
    edges = [1 << k for k in range(32)]
    near = [(e + d) & 0xFFFF_FFFF for e in edges for d in (-1, 0, 1)] + [0xFFFF_FFFF - e for e in edges]
    words = _random(7, count)
    words >>= _random(8, count) % np.uint32(F32.width)
    words[: len(near)] = np.array(near, np.uint32)[:count]
    return words
