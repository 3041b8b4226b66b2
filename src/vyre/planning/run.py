"""`run_graph`: arrays in, arrays out, on any backend.

The first call of a plan on a backend compiles its kernels. A later one of the same lengths looks at the
arrays and launches what is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.device_buffer import DeviceBuffer
from vyre.backends.foreign import is_on_device, plain_array
from vyre.backends.protocol import ResidentBackend, able
from vyre.backends.registry import default_backend, get
from vyre.backends.storage import STORAGE
from vyre.engines.memory import EngineMemory, HostMemory
from vyre.errors import boundary
from vyre.graph.binding import sizes_of
from vyre.graph.nodes import Constant
from vyre.ir.types import DataType
from vyre.planning.draft import ROW
from vyre.planning.plan import GraphPlan, plan_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.engines.memory import Memory
    from vyre.graph.graph import Graph

_HOSTS = frozenset({"cpu", "reference"})
"""Backends whose device is the host: arrays of NumPy are in its memory already."""


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
    plan once and call often. `memory` is where the buffers lie, by default the host's or the device's.
    """
    made = plan if isinstance(plan, GraphPlan) else plan_graph(plan)
    graph = made.graph
    values = {name: _array(name, value) for name, value in inputs.items()}
    sizes = sizes_of(graph, {name: value.shape for name, value in values.items()})
    bound = made.bind(sizes)
    found = get(backend or default_backend()) if backend is None or isinstance(backend, str) else backend
    memory = _memory(values, found) if memory is None else memory
    for name, of in graph.inputs.items():
        memory.give(name, of.element, _nonempty(values[name]))
    for name, node in graph.values:
        if isinstance(node, Constant) and name in made.fusion.stored:
            memory.give(name, node.type.element, _nonempty(constant_array(node)))
    for name, space in bound.plan.scratch.items():
        memory.make(name, space, output=False)
    for name, space in bound.plan.outputs.items():
        memory.make(name, space, output=True)
    made.runner(found).bound(bound.plan, memory, ROW)()
    results: dict[str, NDArray[Any]] = {}
    for name in graph.outputs:
        of = graph.types[name]
        computed = f"out_{name}" in bound.plan.outputs
        taken = memory.take(f"out_{name}" if computed else name)
        shape = of.resolved(sizes)
        whole = taken[: int(np.prod(shape, dtype=np.int64))].reshape(shape)
        whole = whole != 0 if of.element is DataType.Bool else whole
        results[name] = whole if computed else whole.copy()
    return results


def _array(name: str, value: Any) -> Any:
    """What has a shape and a dtype: an array of the host, or one on a device as it is."""
    if is_on_device(value):
        return value
    return plain_array(f"the input {name!r}", np.asarray(value))


def _memory(values: Mapping[str, Any], backend: Backend) -> Memory:
    on_device = any(isinstance(value, DeviceBuffer) or is_on_device(value) for value in values.values())
    if on_device or (backend.name not in _HOSTS and able(backend, ResidentBackend)):
        return EngineMemory(backend)
    return HostMemory()


def _nonempty(value: Any) -> Any:
    """The array, or one element that nobody reads where it has none: not every device binds nothing."""
    if is_on_device(value) or value.size:
        return value
    return np.zeros(1, value.dtype)


def constant_array(node: Constant) -> NDArray[Any]:
    return np.frombuffer(node.data, STORAGE[node.type.element])
