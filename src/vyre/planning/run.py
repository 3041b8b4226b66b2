"""`run_graph`: arrays in, arrays out, on any backend.

The first call of a plan on a backend compiles its kernels. A later one of the same lengths looks at the
arrays and launches what is there.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

from vyre.backends.chosen import chosen
from vyre.backends.foreign import host_or_device
from vyre.errors import boundary
from vyre.ir.types import DataType
from vyre.planning.plan import GraphPlan, plan_graph
from vyre.planning.results import bfloat_of, returned_as

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from vyre.backends.device_buffer import DeviceBuffer
    from vyre.backends.protocol import Backend
    from vyre.engines.memory import Memory
    from vyre.graph.graph import Graph
    from vyre.planning.bound import BoundPlan
    from vyre.planning.session import Session
    from vyre.planning.short import GraphCall


@boundary
def run_graph(
    plan: GraphPlan | Graph,
    inputs: Mapping[str, Any],
    *,
    backend: str | Backend | None = None,
    memory: Memory | None = None,
) -> dict[str, Any]:
    """The outputs of a graph by name, as arrays of their own.

    Inputs that are on the device already are read where they are, and then the outputs stay there too: as
    arrays of torch or CuPy where all of those inputs are, else as `DeviceBuffer`, a Bool as uint32. Otherwise
    outputs are NumPy arrays, a bfloat16 as its bits in uint16, a Bool as NumPy's bool. Pass a plan rather
    than a graph to plan once and call often. `memory` is where the buffers of this one call lie, by default
    the host's or the device's; from there outputs come back as NumPy arrays.
    """
    made = plan if isinstance(plan, GraphPlan) else plan_graph(plan)
    graph = made.graph
    found = chosen(backend)
    if memory is None:
        results = _at_once(made, made.ready(found, inputs), inputs)
        if results is not None:
            return results
    values = {name: host_or_device(f"the input {name!r}", value) for name, value in inputs.items()}
    bound = made.fitted({name: tuple(value.shape) for name, value in values.items()}, made.hardware(found))
    taking = None if memory is not None else returned_as(values.values())
    whole = "" if taking is None and memory is None else "arrays that are on the device are not cut"
    parts = made.parts(bound, found, whole=whole)
    if parts is not None:
        return dict(parts.run(values, partial(_run_part, backend=found)))
    if memory is None:
        results = _at_once(made, made.make_ready(bound, found, values), values)
        if results is not None:
            return results
    session = made.session(bound, found, on_device=taking is not None, memory=memory)
    session.run({name: (of, values[name]) for name, of in graph.inputs.items()})
    if taking is None:
        results = _on_host(graph, bound, session)
    else:
        results = _on_device(graph, session, taking, bfloat_of(values.values()))
    if memory is None:
        made.release(session, found)
    return results


def _at_once(plan: GraphPlan, call: GraphCall | None, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The outputs the short way; None, with nothing done, where it is not for this call."""
    found = None if call is None else call([values[name] for name in plan.graph.inputs])
    return None if found is None else dict(zip(plan.graph.outputs, found, strict=True))


def _run_part(plan: GraphPlan, inputs: Mapping[str, Any], *, backend: Backend) -> dict[str, Any]:
    return run_graph(plan, inputs, backend=backend)


def _on_host(graph: Graph, bound: BoundPlan, session: Session) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name in graph.outputs:
        computed = f"out_{name}" in bound.plan.outputs
        taken = session.take(f"out_{name}" if computed else name)
        shape = bound.shapes[name]
        whole = taken[: prod(shape)].reshape(shape)
        if graph.types[name].element is DataType.Bool:
            whole = whole != 0
        results[name] = whole if computed else whole.copy()
    return results


def _on_device(
    graph: Graph,
    session: Session,
    taking: Callable[[DeviceBuffer], Any],
    bfloat: np.dtype[Any] | None,
) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name in graph.outputs:
        buffer = session.hand_over(name)
        if bfloat is not None and graph.types[name].element is DataType.BF16:
            buffer.dtype = bfloat
        results[name] = taking(buffer)
    return results
