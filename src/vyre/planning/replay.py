"""A plan on buffers that stay: bound once, launched again and again as one.

A call binds its arrays anew and makes its outputs. Where the same buffers are read and written every time,
as in decoding token by token, none of that is needed: what is left of a call is one launch, on `cuda` that
of a CUDA graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.backends.capture import capture
from vyre.backends.chosen import chosen
from vyre.backends.device_buffer import DeviceBuffer
from vyre.engines.memory import EngineMemory
from vyre.engines.run import Launch, Runner
from vyre.errors import DispatchError, boundary
from vyre.planning.draft import ROW
from vyre.planning.session import nonempty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.backends.capture import CapturedPlan
    from vyre.backends.protocol import Backend
    from vyre.engines.run import Stage
    from vyre.planning.plan import GraphPlan


@boundary
def replayed(
    plan: GraphPlan,
    inputs: Mapping[str, DeviceBuffer],
    outputs: Mapping[str, DeviceBuffer],
    *,
    backend: str | Backend | None = None,
) -> CapturedPlan:
    """The kernels of a plan, run once on these buffers, and ready to run on them again.

    Inputs have the shapes of the graph's; an output is as long as its value, and no input.
    """
    found = chosen(backend)
    for given, wanted, what in (
        (inputs, plan.graph.inputs, "input"),
        (outputs, plan.graph.outputs, "output"),
    ):
        for name in wanted:
            _require_buffer(given.get(name), f"the {what} {name!r}")
    bound = plan.fitted({name: tuple(inputs[name].shape) for name in plan.graph.inputs}, plan.hardware(found))
    plan.parts(bound, found, whole="buffers that stay are not cut")
    memory = EngineMemory(found)
    plan.session(bound, found, on_device=True, memory=memory)  # which puts constants and scratch there
    for name, of in plan.graph.inputs.items():
        memory.give(name, of.element, nonempty(inputs[name], of.element))
        if inputs[name].size and memory.result(name) is not inputs[name]:
            raise DispatchError(
                f"the input {name!r} begins where no load of four words may begin.",
                fix="pass a whole buffer: vyre.to_device copies what it is given.",
            )
    for name in plan.graph.outputs:
        space = bound.plan.outputs.get(f"out_{name}")
        if space is None:
            raise DispatchError(
                f"the output {name!r} is an input or a constant, which no kernel writes.",
                fix="leave it out of what the graph gives, and read that.",
            )
        memory.accept(f"out_{name}", space, outputs[name])
    return _captured(Runner(found).launches(bound.plan, ROW, whole=True), memory, found)


def _captured(steps: Sequence[Stage], memory: EngineMemory, backend: Backend) -> CapturedPlan:
    with capture(backend) as made:
        for step in steps:
            assert isinstance(step, Launch)  # no kernel of a graph waits for a count
            buffers: dict[str, Any] = {name: memory.bound(what) for name, what in step.bindings.items()}
            if step.params is not None:
                buffers["params"] = step.params
            step.compiled(buffers, workgroups=step.grid)
    return made


def _require_buffer(value: object, what: str) -> None:
    if not isinstance(value, DeviceBuffer):
        raise DispatchError(
            f"{what} is not a device buffer: {type(value).__name__}.",
            fix="make it with vyre.to_device or vyre.device_zeros, and fill it with copy_from.",
        )
