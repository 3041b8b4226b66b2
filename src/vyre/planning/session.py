"""A plan that is ready to run: compiled, its memory made, its parameters written.

It is used by one call at a time, and then by the next one of the same lengths, on other arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import STORAGE
from vyre.engines.memory import EngineMemory, HostMemory
from vyre.planning.draft import ROW
from vyre.planning.results import shaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.backends.device_buffer import DeviceBuffer
    from vyre.backends.protocol import Backend
    from vyre.engines.memory import Memory
    from vyre.engines.run import Runner
    from vyre.graph.nodes import Constant
    from vyre.graph.types import ValueType
    from vyre.ir.types import DataType
    from vyre.planning.bound import BoundPlan


class Session:
    """The buffers and launches of a plan for certain lengths on one backend."""

    def __init__(
        self,
        bound: BoundPlan,
        runner: Runner,
        backend: Backend,
        constants: Mapping[str, Constant],
        *,
        on_device: bool,
        memory: Memory | None = None,
    ) -> None:
        self.bound = bound
        self._backend = backend
        self.on_device = on_device
        self._memory: Memory = memory or (EngineMemory(backend) if on_device else HostMemory())
        self._steps = runner.launches(bound.plan, ROW, whole=self._memory.whole)
        self._inputs: tuple[str, ...] = ()
        self._has_outputs = False
        for name, node in constants.items():
            self._memory.give(name, node.type.element, nonempty(constant_array(node), node.type.element))
        for name, space in bound.plan.scratch.items():
            self._memory.make(name, space, output=False)

    def run(self, inputs: Mapping[str, tuple[ValueType, Any]]) -> None:
        """Launches every kernel on these inputs; the outputs are there until the next run."""
        memory = self._memory
        self._inputs = tuple(inputs)
        for name, (of, value) in inputs.items():
            memory.give(name, of.element, nonempty(value, of.element))
        if not (self.on_device and self._has_outputs):
            for name, space in self.bound.plan.outputs.items():
                memory.make(name, space, output=True)
            self._has_outputs = True
        for step in self._steps:
            step.bound(memory)()

    def take(self, name: str) -> NDArray[Any]:
        """A buffer as a flat array: of the host its own memory, of a device a copy."""
        return self._memory.take(name)

    def hand_over(self, name: str) -> DeviceBuffer:
        """An output on the device, which is the caller's; one that no kernel wrote is a copy."""
        memory = self._memory
        assert isinstance(memory, EngineMemory)
        written = f"out_{name}"
        buffer = memory.hand_over(written) if written in self.bound.plan.outputs else memory.copied(name)
        self._has_outputs = False
        return shaped(buffer, self.bound.shapes[name], self._backend)

    def drop(self) -> None:
        """Forgets the arrays of the caller, whose memory may go back."""
        for name in (*self._inputs, *self.bound.plan.outputs):
            self._memory.drop(name)


def nonempty(value: Any, element: DataType) -> Any:
    """The array, or one element that nobody reads where it has none: not every device binds nothing."""
    if 0 not in value.shape:
        return value
    dtype: Any = value.dtype
    return np.zeros(1, dtype if isinstance(dtype, np.dtype) else STORAGE[element])  # pyright: ignore[reportUnknownArgumentType]


def constant_array(node: Constant) -> NDArray[Any]:
    return np.frombuffer(node.data, STORAGE[node.type.element])
