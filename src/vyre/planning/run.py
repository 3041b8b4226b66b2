"""`run_graph`: arrays in, arrays out, on any backend.

The first call of a plan on a backend compiles its kernels. A later one of the same lengths looks at the
arrays and launches what is there.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.chosen import default_backend
from vyre.backends.foreign import is_on_device, plain_array
from vyre.backends.registry import get
from vyre.errors import boundary
from vyre.ir.types import DataType
from vyre.planning.plan import GraphPlan, plan_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.engines.memory import Memory
    from vyre.graph.graph import Graph


@boundary
def run_graph(
    plan: GraphPlan | Graph,
    inputs: Mapping[str, Any],
    *,
    backend: str | Backend | None = None,
    memory: Memory | None = None,
) -> dict[str, NDArray[Any]]:
    """The outputs of a graph by name, as NumPy arrays of their own.

    A bfloat16 comes back as its bits in uint16, a Bool as NumPy's bool. Pass a plan rather than a graph to
    plan once and call often; inputs that are on the device already are read where they are. `memory` is where
    the buffers of this one call lie, by default the host's or the device's.
    """
    made = plan if isinstance(plan, GraphPlan) else plan_graph(plan)
    graph = made.graph
    values = {name: _array(name, value) for name, value in inputs.items()}
    bound = made.fitted({name: tuple(value.shape) for name, value in values.items()})
    found = get(backend or default_backend()) if backend is None or isinstance(backend, str) else backend
    session = made.session(bound, found, on_device=any(map(is_on_device, values.values())), memory=memory)
    session.run({name: (of, values[name]) for name, of in graph.inputs.items()})
    results: dict[str, NDArray[Any]] = {}
    for name in graph.outputs:
        computed = f"out_{name}" in bound.plan.outputs
        taken = session.take(f"out_{name}" if computed else name)
        shape = bound.shapes[name]
        whole = taken[: prod(shape)].reshape(shape)
        if graph.types[name].element is DataType.Bool:
            whole = whole != 0
        results[name] = whole if computed else whole.copy()
    if memory is None:
        made.release(session, found)
    return results


def _array(name: str, value: Any) -> Any:
    """What has a shape and a dtype: an array of the host, or one on a device as it is."""
    if is_on_device(value):
        return value
    return plain_array(f"the input {name!r}", np.asarray(value))
