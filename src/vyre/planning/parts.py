"""Calls whose values are too large for a device: run piece by piece, where a graph can be cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from vyre.backends.registry import described
from vyre.errors import DispatchError
from vyre.planning.cutting import LENGTH, cuts, sliced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.graph.graph import Graph
    from vyre.planning.bound import BoundPlan
    from vyre.planning.cutting import CutGraph


class Bindable(Protocol):
    """A plan, as far as it is asked for the sizes of its values."""

    def bind(self, sizes: Mapping[str, int]) -> BoundPlan: ...


_P = TypeVar("_P", bound=Bindable)


@dataclass(frozen=True, slots=True)
class PartedCall(Generic[_P]):
    """The plan of a piece, and how many are computed at once."""

    plan: _P
    cut: CutGraph
    each: int

    def run(
        self, inputs: Mapping[str, Any], run: Callable[[_P, Mapping[str, Any]], Mapping[str, Any]]
    ) -> dict[str, NDArray[Any]]:
        """The outputs, each piece where it belongs; what is whole comes with the first."""
        results: dict[str, NDArray[Any]] = {}
        for start in range(0, self.cut.count, self.each):
            stop = min(start + self.each, self.cut.count)
            given = {name: what.part(inputs, start, stop) for name, what in self.cut.given.items()}
            made = run(self.plan, given)
            for name, (part, along) in self.cut.outputs.items():
                piece = made[part]
                if along is None:
                    results.setdefault(name, piece)
                    continue
                if name not in results:
                    shape = list(piece.shape)
                    shape[along.axis] = self.cut.count * along.unit
                    results[name] = np.empty(shape, piece.dtype)
                results[name][sliced(along, start, stop)] = piece
        return results


def too_large(bound: BoundPlan, backend: Backend) -> str | None:
    """The first value that a device has no buffer for."""
    most = described(backend).limits.buffer_bytes
    return next((name for name, size in bound.nbytes.items() if most is not None and size > most), None)


def parted(
    plan: Callable[[Graph], _P], graph: Graph, bound: BoundPlan, backend: Backend
) -> PartedCall[_P] | None:
    """The first way to cut the graph in which everything fits, in the largest of some lengths."""
    for cut in cuts(graph, bound.sizes):
        made = plan(cut.graph)
        each = cut.count
        while each > 1:
            each = -(-each // 2)
            if too_large(made.bind({LENGTH: each}), backend) is None:
                return PartedCall(made, cut, each)
    return None


def refuse_large(graph: Graph, bound: BoundPlan, name: str, backend: Backend, why: str) -> DispatchError:
    """What a caller is told of a value that is too large."""
    most = described(backend).limits.buffer_bytes
    return DispatchError(
        f"the value {name!r} of type {graph.types[name]} takes {bound.nbytes[name]} bytes; "
        f"the backend {backend.name} accepts {most} per buffer, and {why}.",
        fix="cut the graph into smaller ones, or choose another backend.",
    )
