"""A plan that is ready to run: compiled, its memory made, its parameters written.

It is used by one call at a time, and then by the next one of the same lengths, on other arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.protocol import ResidentBackend, able
from vyre.backends.storage import STORAGE
from vyre.engines.memory import EngineMemory, HostMemory
from vyre.planning.draft import ROW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.engines.memory import Memory
    from vyre.engines.plan import Bound
    from vyre.engines.run import Runner
    from vyre.graph.nodes import Constant
    from vyre.graph.types import ValueType
    from vyre.planning.bound import BoundPlan

_HOSTS = frozenset({"cpu", "reference"})
"""Backends whose device is the host: arrays of NumPy are in its memory already."""


def keeps_on_device(backend: Backend) -> bool:
    """Whether buffers are worth keeping on the device between kernels."""
    return backend.name not in _HOSTS and able(backend, ResidentBackend)


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
        self.on_device = on_device
        self._runner = runner
        self._memory: Memory = memory or (EngineMemory(backend) if on_device else HostMemory())
        self._launches: list[tuple[Any, dict[str, Any], tuple[int, int, int]]] = []
        self._inputs: tuple[str, ...] = ()
        self._uses: list[tuple[dict[str, Any], str, Bound]] = []
        for name, node in constants.items():
            self._memory.give(name, node.type.element, nonempty(constant_array(node)))
        for name, space in bound.plan.scratch.items():
            self._memory.make(name, space, output=False)
        self._fixed = {*constants, *bound.plan.scratch}

    def run(self, inputs: Mapping[str, tuple[ValueType, Any]]) -> None:
        """Launches every kernel on these inputs; the outputs are there until the next run."""
        memory, plan = self._memory, self.bound.plan
        self._inputs = tuple(inputs)
        for name, (of, value) in inputs.items():
            memory.give(name, of.element, nonempty(value))
        if not (self.on_device and self._launches):
            for name, space in plan.outputs.items():
                memory.make(name, space, output=True)
        if not self._launches:
            self._prepare()
        else:
            for buffers, name, what in self._uses:
                buffers[name] = memory.bound(what)[0]
        for compiled, buffers, grid in self._launches:
            compiled.call(buffers, workgroups=grid)

    def _prepare(self) -> None:
        prepared = self._runner.bound(self.bound.plan, self._memory, ROW)
        for step, launch in zip(self.bound.plan.steps, prepared.launches, strict=True):
            buffers = dict(launch.buffers)
            self._launches.append((launch.compiled, buffers, launch.grid))
            for name, what in step.bindings.items():
                if (what if isinstance(what, str) else what.buffer) not in self._fixed:
                    self._uses.append((buffers, name, what))

    def take(self, name: str) -> NDArray[Any]:
        """A buffer as a flat array: of the host its own memory, of a device a copy."""
        return self._memory.take(name)

    def drop(self) -> None:
        """Forgets the arrays of the caller, whose memory may go back."""
        for buffers, name, _ in self._uses:
            buffers[name] = None
        for name in (*self._inputs, *self.bound.plan.outputs):
            self._memory.drop(name)


def nonempty(value: Any) -> Any:
    """The array, or one element that nobody reads where it has none: not every device binds nothing."""
    if value.size:
        return value
    return np.zeros(1, value.dtype)


def constant_array(node: Constant) -> NDArray[Any]:
    return np.frombuffer(node.data, STORAGE[node.type.element])
