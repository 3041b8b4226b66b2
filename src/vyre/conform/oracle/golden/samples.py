"""Values for rows that speak of every value: the edges of each type, then a seeded stream."""

from __future__ import annotations

import random
import zlib
from itertools import product
from typing import TYPE_CHECKING

from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_T = DataType
SEEDED = 1_000
"""Random assignments beside the edges, for one row."""
EDGE_LIMIT = 750
"""Combinations of edges, for one row; more variables get a coarser grid of edges."""

_U32 = (
    0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 0x7F, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x55555555,
    0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xAAAAAAAA, 0xFFFF0000, 0xFFFFFFFE, 0xFFFFFFFF,
)  # fmt: skip
_F32 = (
    0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000,
    0x7FFFFFFF,
)  # fmt: skip
_F16 = (0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7DFF, 0x7E00, 0x7FFF)
_BF16 = (0, 1, 0x7F, 0x80, 0x3F80, 0x7F7F, 0x7F80, 0x7F81, 0x7FBF, 0x7FC0, 0x7FFF)
_F64 = (
    0, 1, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000,
    0x7FF0000000000001, 0x7FF7FFFFFFFFFFFF, 0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF,
)  # fmt: skip


def _signed(values: tuple[int, ...], sign: int) -> tuple[int, ...]:
    return values + tuple(v | sign for v in values)


EDGES: Mapping[DataType, tuple[int, ...]] = {
    _T.U32: _U32,
    _T.I32: _U32,
    _T.Bool: (0, 1),
    _T.F32: _signed(_F32, 1 << 31),
    _T.F16: _signed(_F16, 1 << 15),
    _T.BF16: _signed(_BF16, 1 << 15),
    _T.F64: _signed(_F64, 1 << 63),
}


def assignments(row_id: str, variables: Mapping[str, DataType]) -> Iterator[dict[str, int]]:
    """Values for the variables of a row: always the same ones for the same row."""
    names = list(variables)
    edges = [_thinned(EDGES[variables[n]], EDGE_LIMIT ** (1 / len(names))) for n in names]
    for values in product(*edges):
        yield dict(zip(names, values, strict=True))
    stream = random.Random(zlib.crc32(row_id.encode()))
    for _ in range(SEEDED):
        yield {n: _random(stream, variables[n]) for n in names}


def _thinned(values: tuple[int, ...], most: float) -> tuple[int, ...]:
    step = max(1, -(-len(values) // max(2, int(most))))
    return values[::step] if step == 1 else (*values[::step], values[-1])


def _random(stream: random.Random, of: DataType) -> int:
    if of is _T.Bool:
        return stream.getrandbits(1)
    value = stream.getrandbits(of.bits)
    return value >> stream.randrange(of.bits) if stream.getrandbits(1) else value
