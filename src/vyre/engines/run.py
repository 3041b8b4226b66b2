"""Running a plan on a backend. All handling of buffers is in `memory.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre.backends.dispatch import Compiled, recently_compiled
from vyre.backends.foreign import is_on_device
from vyre.engines.memory import EngineMemory, HostMemory
from vyre.engines.plan import Window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.engines.memory import Memory
    from vyre.engines.plan import Engine, Plan, Step
    from vyre.ir.program import Program
    from vyre.ir.signature import Convention


@dataclass(frozen=True, slots=True)
class Launch:
    """A step with everything it needs."""

    compiled: Compiled
    buffers: Mapping[str, Any]
    grid: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Prepared:
    """An engine bound to its inputs. Call it again after they have changed where they lie."""

    plan: Plan
    memory: Memory
    launches: tuple[Launch, ...]

    def __call__(self) -> None:
        for launch in self.launches:
            launch.compiled(launch.buffers, workgroups=launch.grid)

    def outputs(self) -> dict[str, NDArray[Any]]:
        return {name: self.memory.take(name) for name in self.plan.outputs}


class Runner:
    """Runs engines on one backend and compiles each of their programs once."""

    def __init__(self, backend: str | Backend | None = None) -> None:
        self.backend = backend
        self._compiled: dict[tuple[Program, Convention | None], Compiled] = {}

    def run(
        self, engine: Engine, inputs: Mapping[str, Any], *, memory: Memory | None = None
    ) -> dict[str, NDArray[Any]]:
        """The outputs, by name."""
        prepared = self.prepare(engine, inputs, memory=memory)
        prepared()
        return prepared.outputs()

    def prepare(self, engine: Engine, inputs: Mapping[str, Any], *, memory: Memory | None = None) -> Prepared:
        """Everything but the run itself. Where an input is on the device, all buffers are."""
        if memory is None:
            resident = any(is_on_device(value) for value in inputs.values())
            memory = EngineMemory(self.backend) if resident else HostMemory()
        lengths = {name: memory.give(name, of, inputs[name]) for name, of in engine.inputs.items()}
        plan = engine.plan(lengths)
        for name, space in plan.scratch.items():
            memory.make(name, space, output=False)
        for name, space in plan.outputs.items():
            memory.make(name, space, output=True)
        return self.bound(plan, memory, engine.shape.row)

    def bound(self, plan: Plan, memory: Memory, row: int) -> Prepared:
        """A plan whose buffers are all in `memory`; grids are folded onto y after `row` workgroups."""
        return Prepared(plan, memory, tuple(self._launch(step, row, memory) for step in plan.steps))

    def _launch(self, step: Step, row: int, memory: Memory) -> Launch:
        compiled = self.compiled(step.program, step.convention)
        declared = next((b for b in step.program.buffers if b.name == "params"), None)
        words = [0] * (0 if declared is None else declared.count)
        words[: 1 + len(step.params)] = (step.groups, *step.params)
        buffers: dict[str, Any] = {}
        for name, what in step.bindings.items():
            buffers[name], first = memory.bound(what)
            if isinstance(what, Window):
                words[6:] = (first, first + what.stop - what.start)
        if declared is not None and "params" not in buffers:
            buffers["params"] = memory.words(words)
        return Launch(compiled, buffers, step.grid or grid_of(step.groups, row))

    def compiled(self, program: Program, convention: Convention | None) -> Compiled:
        """The program on this backend, compiled when it is first asked for."""
        key = (program, convention)
        if key not in self._compiled:
            made = recently_compiled(program, self.backend, convention=convention)
            self._compiled[key] = made
        return self._compiled[key]


def grid_of(groups: int, row: int) -> tuple[int, int, int]:
    """A grid of at least `groups` workgroups, folded onto y after a row."""
    return (min(groups, row), -(-groups // row), 1)
