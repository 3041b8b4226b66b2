"""Where the invocations of a dispatch are: their ids as arrays, and the expressions that compute them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.shapes.constraints import number
from vyre.ir.expr import Expr, InvocationId, LocalId, WorkgroupId
from vyre.ir.node import Let

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.conform.shapes.features import Level
    from vyre.ir.node import Node

    Ids = NDArray[np.int64]

Axes = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """Invocations in the order of their linear global id; `slot` numbers them workgroup by workgroup."""

    size: Axes
    grid: Axes

    @classmethod
    def of(cls, row: Mapping[str, Level]) -> Layout:
        size = (number(row, "workgroup x"), number(row, "workgroup y"), number(row, "workgroup z"))
        grid = (number(row, "workgroups x"), number(row, "workgroups y"), number(row, "workgroups z"))
        return cls(size, grid)

    @property
    def local_count(self) -> int:
        return self.size[0] * self.size[1] * self.size[2]

    @property
    def groups(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def count(self) -> int:
        return self.local_count * self.groups

    def ids(self) -> tuple[list[Ids], list[Ids], list[Ids]]:
        """Along each axis: the ids of invocations, theirs in a workgroup, and those of their workgroups."""
        sizes = list(zip(self.size, self.grid, strict=True))
        places = [np.arange(size * grid, dtype=np.int64) for size, grid in sizes]
        local = [place % size for place, (size, _) in zip(places, sizes, strict=True)]
        return places, local, [place // size for place, (size, _) in zip(places, sizes, strict=True)]

    def slots(self) -> Ids:
        """For each invocation, its group's number times the size of a group plus its place in it."""
        _, local, group = self.ids()
        (x, y, _), (across, along, _) = self.size, self.grid
        steps = zip(local, group, (1, x, x * y), (1, across, across * along), strict=True)
        return everywhere(
            np.add, [here * step + there * (self.local_count * far) for here, there, step, far in steps]
        )

    def lets(self) -> list[Node]:
        """`i`, `l` and `w`: the linear ids of the invocation, in its workgroup, and of the workgroup."""
        x, y = self.size[0] * self.grid[0], self.size[1] * self.grid[1]
        return [
            Let("i", _linear(InvocationId, x, y)),
            Let("l", _linear(LocalId, self.size[0], self.size[1])),
            Let("w", _linear(WorkgroupId, self.grid[0], self.grid[1])),
        ]


def _linear(kind: type[InvocationId | LocalId | WorkgroupId], x: int, y: int) -> Expr:
    return kind(0) + kind(1) * x + kind(2) * (x * y & 0xFFFF_FFFF)


def everywhere(join: Callable[[Ids, Ids], Ids], axes: list[Ids]) -> Ids:
    """For each invocation what its ids along the axes come to when they are joined."""
    x, y, z = axes
    return join(join(z[:, None, None], y[None, :, None]), x).reshape(-1)
