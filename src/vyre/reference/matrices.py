"""What matrix instructions compute: the elements of all lanes are put together, multiplied, and dealt out.

A matrix is a mapping from (row, column) to the bits of an element. Doubles are added with k ascending, one
rounding each; bytes are integers from -128 to 127, and their sums wrap.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from vyre.ir.float_formats import F64
from vyre.ir.limits import U32_MAX
from vyre.reference.floats.arithmetic import fma

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Lanes = Sequence[tuple[int, ...]]
    Exchange = Callable[[Lanes], list[int]]
    Matrix = dict[tuple[int, int], int]

_LANES = 32
_ELEMENTS = 4


def _dealt(lanes: Lanes, first: int, count: int, place: Callable[[int, int, int], tuple[int, int]]) -> Matrix:
    """The matrix of which each lane holds `count` operands from `first` on."""
    return {
        place(lane // 4, lane % 4, i): operands[first + i]
        for lane, operands in enumerate(lanes)
        for i in range(count)
    }


def _place_a(g: int, t: int, i: int) -> tuple[int, int]:
    return g + 8 * (i % 2), t + 4 * (i // 2)


def _place_b(g: int, t: int, i: int) -> tuple[int, int]:
    return t + 4 * i, g


def _place_c(g: int, t: int, i: int) -> tuple[int, int]:
    return g + 8 * (i // 2), 2 * t + i % 2


def _doubles(depth: int, element: int) -> Exchange:
    def exchange(lanes: Lanes) -> list[int]:
        found = _chains(depth, tuple(lanes))
        return [found[_place_c(lane // 4, lane % 4, element)] for lane in range(_LANES)]

    return exchange


@lru_cache(maxsize=1)  # the four elements of a lane are asked for one after the other
def _chains(depth: int, lanes: Lanes) -> Matrix:
    a = _dealt(lanes, 0, depth // 2, _place_a)
    b = _dealt(lanes, depth // 2, depth // 4, _place_b)
    found = _dealt(lanes, depth // 2 + depth // 4, _ELEMENTS, _place_c)
    for (row, column), total in found.items():
        for k in range(depth):
            total = fma(F64, a[row, k], b[k, column], total)
        found[row, column] = total
    return found


def _bytes(lanes: Lanes) -> list[int]:
    words = [[*_words(a, 4), *_words(b, 2), *_words(c, 4)] for a, b, c in lanes]
    rows = [tuple(row) for row in words]
    a = _dealt(rows, 0, 4, _place_a)
    b = _dealt(rows, 4, 2, _place_b)
    c = _dealt(rows, 6, _ELEMENTS, _place_c)
    found: list[int] = []
    for lane in range(_LANES):
        value = 0
        for i in range(_ELEMENTS):
            row, column = _place_c(lane // 4, lane % 4, i)
            products = sum(_dot(a[row, k], b[k, column]) for k in range(8))
            value |= ((c[row, column] + products) & U32_MAX) << (32 * i)
        found.append(value)
    return found


def _words(value: int, count: int) -> list[int]:
    return [value >> (32 * i) & U32_MAX for i in range(count)]


def _dot(a: int, b: int) -> int:
    return sum(x * y for x, y in zip(_signed(a), _signed(b), strict=True))


def _signed(word: int) -> list[int]:
    return [byte - 256 if byte > 127 else byte for byte in word.to_bytes(4, "little")]


MATRICES: Mapping[str, Exchange] = {
    **{f"mma_f64.m16n8k{k}_{i}": _doubles(k, i) for k in (4, 8, 16) for i in range(_ELEMENTS)},
    "mma_s8.m16n8k32": _bytes,
}
"""The instructions by hardware id."""
