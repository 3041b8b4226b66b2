"""Plans with one way to compute each product, and the bytes that they give."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends import get
from vyre.planning.kernels.build import PlannedKernel
from vyre.planning.kernels.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.planning import GraphPlan
    from vyre.planning.kernels.site import Variant


def forced(plan: GraphPlan, made: Callable[[Site], Variant]) -> GraphPlan:
    """The plan with one way to compute each product, whatever the sizes and the hardware."""

    def kernel(planned: PlannedKernel) -> PlannedKernel:
        if planned.kind != "matmul":
            return planned
        site = Site(plan.lowered, plan.fusion, planned.root, plan.fusion.core.get(planned.root))
        variant = replace(made(site), when=(), hardware=frozenset[str]())
        return PlannedKernel(planned.root, planned.kind, (variant,))

    return replace(plan, kernels=tuple(map(kernel, plan.kernels)), _bound={}, _fitted={})


def results(
    plan: GraphPlan, arrays: Mapping[str, Any], hardware: frozenset[str] = frozenset(), backend: str = "cpu"
) -> list[NDArray[Any]]:
    """The bytes that the kernels for this hardware give; without any, those of every backend."""
    shapes = {name: tuple(array.shape) for name, array in arrays.items()}
    session = plan.session(plan.fitted(shapes, hardware), get(backend), on_device=False)
    session.run({name: (of, arrays[name]) for name, of in plan.graph.inputs.items()})
    return [np.array(session.take(f"out_{name}")).view(np.uint8) for name in plan.graph.outputs]
