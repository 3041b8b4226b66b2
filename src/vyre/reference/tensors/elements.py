"""The elements of a tensor by their coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Place = tuple[int, ...]
"""Coordinates, one for each axis."""


@dataclass(frozen=True, slots=True)
class Elements:
    """The bits of every element, unsigned and as wide as the element, in row-major order.

    A Bool is 0 or 1.
    """

    shape: Place
    bits: list[int]

    def at(self, place: Sequence[int]) -> int:
        """The element at coordinates that lie inside the shape."""
        index = 0
        for coordinate, size in zip(place, self.shape, strict=True):
            index = index * size + coordinate
        return self.bits[index]

    @property
    def count(self) -> int:
        return prod(self.shape)


def places(shape: Sequence[int]) -> Iterator[Place]:
    """All coordinates, in row-major order; a scalar has one place."""
    return product(*map(range, shape))


def made(shape: Place, at: Callable[[Place], int]) -> Elements:
    """The tensor whose element at a place is what `at` gives for it."""
    return Elements(shape, [at(place) for place in places(shape)])


def with_axis(place: Place, axis: int, coordinate: int) -> Place:
    """The place with another coordinate along the axis."""
    return (*place[:axis], coordinate, *place[axis + 1 :])


def without_axis(place: Place, axis: int) -> Place:
    return (*place[:axis], *place[axis + 1 :])
