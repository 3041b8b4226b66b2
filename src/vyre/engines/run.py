"""Running a plan on a backend. All handling of buffers is in `memory.py`.

What follows from an engine and the lengths of its inputs is worked out once: the plan, its compiled programs,
their parameters and grids. A second run of the same lengths makes buffers and launches, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.chosen import default_name
from vyre.backends.claim import Claim
from vyre.backends.device_buffer import resident
from vyre.backends.dispatch import Compiled, recently_compiled
from vyre.backends.foreign import is_on_device
from vyre.backends.recent import recent_of
from vyre.engines.memory import EngineMemory, HostMemory
from vyre.engines.plan import Window
from vyre.ir.limits import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, DeviceMemory
    from vyre.engines.memory import Memory
    from vyre.engines.plan import Bound, Engine, Plan, Step
    from vyre.ir.program import Program
    from vyre.ir.signature import Convention

_MOST_SCHEDULES = 64
_PARAMS = "params"


@dataclass(frozen=True, slots=True)
class Launch:
    """A step that is compiled, whatever buffers it will have."""

    compiled: Compiled
    bindings: Mapping[str, Bound]
    params: bytes | None
    grid: tuple[int, int, int]
    _constants: list[tuple[Claim, DeviceMemory]] = field(default_factory=list[tuple[Claim, "DeviceMemory"]])
    _ready: dict[tuple[int, ...], Callable[[Sequence[int]], None]] = field(
        default_factory=dict[tuple[int, ...], "Callable[[Sequence[int]], None]"]
    )

    def bound(self, memory: Memory) -> Callable[[], object]:
        """The step on these buffers."""
        buffers: dict[str, Any] = {name: memory.bound(what) for name, what in self.bindings.items()}
        if isinstance(memory, EngineMemory):
            launch = self._addressed(buffers)
            if launch is not None:
                return launch
        if self.params is not None:
            buffers[_PARAMS] = self.params
        return partial(self.compiled, buffers, workgroups=self.grid)

    def _addressed(self, buffers: Mapping[str, Any]) -> Callable[[], None] | None:
        """The launch by addresses of device memory, where a backend has it.

        The engine knows its programs and made all buffers but the inputs, which its memory has looked at.
        """
        lengths: list[int] = []
        places: list[int] = []
        for decl in self.compiled.program.buffers:
            if decl.access.bound:
                memory = self._constant() if decl.name == _PARAMS else buffers[decl.name].memory
                length, rest = divmod(memory.nbytes, decl.element.stride)
                if rest or length > U32_MAX:
                    return None  # which a dispatch refuses by name
                lengths.append(length)
                places.append(memory.span[1])
        key = tuple(lengths)
        run = self._ready.get(key)
        if run is None:
            run = self.compiled.at(key, self.grid)
            if run is None:
                return None
            self._ready[key] = run
        return partial(run, places)

    def _constant(self) -> DeviceMemory:
        """The parameters on the device."""
        if not self._constants:
            assert self.params is not None
            memory = resident(self.compiled.backend).borrow(memoryview(self.params))
            self._constants.append((Claim(memory), memory))
        return self._constants[0][1]


@dataclass(frozen=True, slots=True)
class Prepared:
    """An engine bound to its inputs. Call it again after they have changed where they lie."""

    plan: Plan
    memory: Memory
    launches: tuple[Callable[[], object], ...]
    steps: tuple[Launch, ...]
    """They hold the parameters of the launches."""

    def __call__(self) -> None:
        for launch in self.launches:
            launch()

    def outputs(self) -> dict[str, NDArray[Any]]:
        return {name: self.memory.take(name) for name in self.plan.outputs}


class Runner:
    """Runs engines on one backend. It compiles each of their programs once, and plans each length once."""

    def __init__(self, backend: str | Backend | None = None) -> None:
        self.backend = backend
        self._compiled: dict[tuple[Program, Convention | None], Compiled] = {}
        self._schedules: dict[tuple[Any, ...], tuple[Plan, tuple[Launch, ...]]] = {}

    def run(
        self, engine: Engine, inputs: Mapping[str, Any], *, memory: Memory | None = None
    ) -> dict[str, NDArray[Any]]:
        """The outputs, by name."""
        plan, steps, memory = self._placed(engine, inputs, memory)
        for step in steps:
            step.bound(memory)()
        return {name: memory.take(name) for name in plan.outputs}

    def prepare(self, engine: Engine, inputs: Mapping[str, Any], *, memory: Memory | None = None) -> Prepared:
        """Everything but the run itself. Where an input is on the device, all buffers are."""
        plan, steps, memory = self._placed(engine, inputs, memory)
        return Prepared(plan, memory, tuple([step.bound(memory) for step in steps]), steps)

    def _placed(
        self, engine: Engine, inputs: Mapping[str, Any], memory: Memory | None
    ) -> tuple[Plan, tuple[Launch, ...], Memory]:
        if memory is None:
            there = any(is_on_device(value) for value in inputs.values())
            memory = EngineMemory(self.backend) if there else HostMemory()
        lengths = {name: memory.give(name, of, inputs[name]) for name, of in engine.inputs.items()}
        plan, steps = self._schedule(engine, lengths, whole=memory.whole)
        for name, space in plan.scratch.items():
            memory.make(name, space, output=False)
        for name, space in plan.outputs.items():
            memory.make(name, space, output=True)
        return plan, steps, memory

    def _schedule(
        self, engine: Engine, lengths: Mapping[str, int], *, whole: bool
    ) -> tuple[Plan, tuple[Launch, ...]]:
        key = (engine, whole, *lengths.values())
        found = self._schedules.get(key)
        if found is None:
            plan = engine.plan(lengths)
            row = engine.shape.row
            found = plan, self.launches(plan, row, whole=whole)
            if len(self._schedules) >= _MOST_SCHEDULES:
                self._schedules = {}
            self._schedules[key] = found
        return found

    def launches(self, plan: Plan, row: int, *, whole: bool) -> tuple[Launch, ...]:
        """The compiled steps of a plan; grids are folded onto y after `row` workgroups."""
        return tuple(self._launch(step, row, whole=whole) for step in plan.steps)

    def _launch(self, step: Step, row: int, *, whole: bool) -> Launch:
        declared = step.program.buffer(_PARAMS)
        words = [0] * (0 if declared is None else declared.count)
        words[: 1 + len(step.params)] = (step.groups, *step.params)
        for what in step.bindings.values():
            if isinstance(what, Window):
                first = what.start if whole else 0
                words[6:] = (first, first + what.stop - what.start)
        given = declared is None or _PARAMS in step.bindings
        params = None if given else np.array(words, "<u4").tobytes()
        grid = step.grid or grid_of(step.groups, row)
        return Launch(self.compiled(step.program, step.convention), step.bindings, params, grid)

    def compiled(self, program: Program, convention: Convention | None) -> Compiled:
        """The program on this backend, compiled when it is first asked for."""
        key = (program, convention)
        if key not in self._compiled:
            made = recently_compiled(program, self.backend, convention=convention)
            self._compiled[key] = made
        return self._compiled[key]


def runner_of(backend: str | Backend | None) -> Runner:
    """The one that is kept for a backend."""
    if backend is None or isinstance(backend, str):
        return _named(backend or default_name())
    kept = recent_of(backend)
    return Runner(backend) if kept is None else kept.result("engines", lambda: Runner(backend))


@lru_cache(maxsize=16)
def _named(backend: str) -> Runner:
    return Runner(backend)


def grid_of(groups: int, row: int) -> tuple[int, int, int]:
    """A grid of at least `groups` workgroups, folded onto y after a row."""
    return (min(groups, row), -(-groups // row), 1)
