"""The digest of the results of consecutive inputs: 64 bits that any device can compute with u32 steps.

For an input word x and a result word r (16-bit results zero-extended), with all arithmetic modulo 2^32,

    first(x, r)  = A(r ^ A(x))
    second(x, r) = B(r + B(x))

where A and B are bijections of 32-bit words: three xor-shifts with two odd multipliers between them. The
digest of a chunk is the pair (sum of all first, sum of all second). Sums have no order, so a device may add
in any. For a fixed x both words are bijections of r: one wrong result always changes both sums. Several
wrong results cancel in both sums with a chance of 2^-64.

This is the NumPy form, from which the truth is made; `vyre.conform.oracle.truth.programs` is the one that
runs on a backend, written apart from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]

CHUNK_BITS = 20
CHUNK = 1 << CHUNK_BITS
"""Inputs of one digest."""

CHUNKS = 1 << (32 - CHUNK_BITS)
"""Digests of one function."""

INPUTS = 1 << 32


@dataclass(frozen=True, slots=True)
class Mixer:
    """w ^= w >> shifts[0]; w *= factors[0]; w ^= w >> shifts[1]; w *= factors[1]; w ^= w >> shifts[2]."""

    shifts: tuple[int, int, int]
    factors: tuple[int, int]


A = Mixer((16, 15, 16), (0x7FEB_352D, 0x846C_A68B))
B = Mixer((16, 13, 16), (0x85EB_CA6B, 0xC2B2_AE35))
"""Two well-known mixers of 32-bit words, the second the finaliser of MurmurHash3."""


def mixed(words: Words, by: Mixer) -> Words:
    """Every word through a mixer, as a new array."""
    w = words ^ (words >> np.uint32(by.shifts[0]))
    w *= np.uint32(by.factors[0])
    w ^= w >> np.uint32(by.shifts[1])
    w *= np.uint32(by.factors[1])
    w ^= w >> np.uint32(by.shifts[2])
    return w


def digest(inputs: Words, results: Words) -> int:
    """The digest of any set of cases: the first sum in the low half, the second in the high half."""
    with np.errstate(over="ignore"):
        first = mixed(results ^ mixed(inputs, A), A)
        second = mixed(results + mixed(inputs, B), B)
    low = int(first.sum(dtype=np.uint64)) & 0xFFFF_FFFF
    high = int(second.sum(dtype=np.uint64)) & 0xFFFF_FFFF
    return high << 32 | low


def combined(digests: list[int]) -> int:
    """The digest of all cases together, from those of parts that share none."""
    low = sum(d & 0xFFFF_FFFF for d in digests) & 0xFFFF_FFFF
    high = sum(d >> 32 for d in digests) & 0xFFFF_FFFF
    return high << 32 | low


def consecutive(first: int, count: int) -> Words:
    """The input words first, first + 1, …; they do not wrap."""
    return np.arange(first, first + count, dtype=np.uint64).astype(np.uint32)
