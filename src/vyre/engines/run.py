"""Running a plan on a backend. All handling of buffers is in `memory.py`.

What follows from an engine and the lengths of its inputs is worked out once: the plan, its compiled programs,
their parameters and grids. A second run of the same lengths makes buffers and launches, and nothing else.
Counts that the device leaves are read where the plan asks for them.
"""

from __future__ import annotations

from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.chosen import chosen, default_name
from vyre.backends.claim import Claim
from vyre.backends.device_buffer import DeviceBuffer, resident
from vyre.backends.dispatch import Compiled, recently_compiled
from vyre.backends.foreign import is_on_device
from vyre.backends.protocol import TogetherBackend, able
from vyre.backends.recent import recent_of
from vyre.backends.stamps import lowering_is_loaded
from vyre.engines.memory import EngineMemory, HostMemory, StagedMemory, keeps_on_device
from vyre.engines.plan import Count, Covering, Repeated, Window, groups_for
from vyre.engines.short import ShortRun, short_run
from vyre.errors import DispatchError
from vyre.ir.limits import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextvars import Context

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, DeviceMemory
    from vyre.engines.memory import Memory
    from vyre.engines.plan import Bound, Engine, Plan, Space, Step
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
    _asked: list[tuple[Bound | None, int]] = field(default_factory=list[tuple["Bound | None", int]])
    """What is bound in the order of the program, None for the parameters, and the bytes of an element."""

    def bound(self, memory: Memory) -> Callable[[], object]:
        """The step on these buffers."""
        if isinstance(memory, EngineMemory):
            launch = self._addressed(memory)
            if launch is not None:
                return launch
        buffers: dict[str, Any] = {name: memory.bound(what) for name, what in self.bindings.items()}
        if self.params is not None:
            buffers[_PARAMS] = self.params
        return partial(self.compiled, buffers, workgroups=self.grid)

    def _addressed(self, buffers: EngineMemory) -> Callable[[], None] | None:
        """The launch by addresses of device memory, where a backend has it.

        The engine knows its programs and made all buffers but the inputs, which its memory has looked at.
        """
        lengths: list[int] = []
        places: list[int] = []
        if not self._asked:
            bound = [decl for decl in self.compiled.program.buffers if decl.access.bound]
            self._asked[:] = [(self.bindings.get(decl.name), decl.element.stride) for decl in bound]
        for what, stride in self._asked:
            memory = self._constant() if what is None else buffers.place(what)
            length, rest = divmod(memory.nbytes, stride)
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
class CountedLaunch:
    """A launch that depends on counts: how many workgroups it has, and whether there is anything to fill."""

    launch: Launch
    filled: tuple[str, ...]
    """Buffers that were made as large as a count said."""
    covering: Covering | None
    row: int
    _sized: dict[int, Launch] = field(default_factory=dict[int, Launch])

    def bound(self, memory: Memory) -> Callable[[], object]:
        return partial(self._run, memory)

    def _run(self, memory: Memory) -> None:
        if any(memory.is_empty(name) for name in self.filled):
            return
        if self.covering is None:
            self.launch.bound(memory)()
            return
        groups = groups_for(counted(self.covering.count, memory), self.covering.each)
        if groups:
            self._of(groups).bound(memory)()

    def _of(self, groups: int) -> Launch:
        """The launch of that many workgroups."""
        found = self._sized.get(groups)
        if found is None:
            given = self.launch
            params = None if given.params is None else np.array([groups], "<u4").tobytes() + given.params[4:]
            found = Launch(given.compiled, given.bindings, params, grid_of(groups, self.row))
            if len(self._sized) >= _MOST_SCHEDULES:
                self._sized.clear()
            self._sized[groups] = found
        return found


@dataclass(frozen=True, slots=True)
class Fill:
    """Makes a buffer as large as a count says."""

    name: str
    space: Space
    output: bool

    def bound(self, memory: Memory) -> Callable[[], object]:
        return partial(self._run, memory)

    def _run(self, memory: Memory) -> None:
        assert isinstance(self.space.length, Count)
        length = counted(self.space.length, memory)
        memory.make(self.name, replace(self.space, length=length), output=self.output)


@dataclass(frozen=True, slots=True)
class Turns:
    """Launches that are repeated while a flag is set."""

    steps: tuple[Stage, ...]
    flag: str
    most: int

    def bound(self, memory: Memory) -> Callable[[], object]:
        return partial(self._run, memory)

    def _run(self, memory: Memory) -> None:
        for _ in range(self.most):
            if not memory.word(self.flag, 0):
                return
            for step in self.steps:
                step.bound(memory)()
        if memory.word(self.flag, 0):
            raise DispatchError(
                f"an engine asks for more than the {self.most} turns that its inputs allow.",
                fix="report it with the inputs: the engine or the backend is wrong.",
            )


Stage = Launch | CountedLaunch | Fill | Turns
"""What a schedule is made of: each has `bound(memory)`, which gives the call that does it."""


def counted(count: Count, memory: Memory) -> int:
    """What the device has counted. Raises `DispatchError` where it is more than the plan allows."""
    found = memory.word(count.buffer, count.word)
    if found > count.most:
        raise DispatchError(
            f"an engine counted {found} elements, and its inputs allow {count.most}.",
            fix="report it with the inputs: the engine or the backend is wrong.",
        )
    return found


def _bind_and_run(stage: Stage, memory: Memory) -> None:
    stage.bound(memory)()


@dataclass(frozen=True, slots=True)
class Prepared:
    """An engine bound to its inputs. Call it again after they have changed where they lie."""

    plan: Plan
    memory: Memory
    launches: tuple[Callable[[], object], ...]
    steps: tuple[Stage, ...]
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
        self._schedules: dict[tuple[Any, ...], tuple[Plan, tuple[Stage, ...]]] = {}
        self._shorts: dict[Engine, ShortRun | None] = {}

    def run(
        self,
        engine: Engine,
        inputs: Mapping[str, Any],
        *,
        memory: Memory | None = None,
        out: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The outputs, by name: arrays, or device buffers where an input is on the device.

        What `out` has of them is written in place, and must lie where the inputs do.
        """
        if memory is None and not any(is_on_device(value) for value in inputs.values()):
            memory = StagedMemory(self.backend) if keeps_on_device(chosen(self.backend)) else HostMemory()
        plan, steps, memory = self._placed(engine, inputs, memory, out or {})
        for step in steps:
            step.bound(memory)()
        return {name: memory.result(name) for name in plan.outputs}

    def value(self, engine: Engine, inputs: Mapping[str, Any]) -> NDArray[Any]:
        """The output `output` of an engine that has no other, on the host: a few elements."""
        short = self._shorts.get(engine)
        if short is not None:
            found = short(inputs)
            if found is not None:
                return found
        result = self.run(engine, inputs)["output"]
        if engine not in self._shorts:
            if len(self._shorts) >= _MOST_SCHEDULES:
                self._shorts = {}
            self._shorts[engine] = short_run(self.backend, engine.inputs, partial(self._launched, engine))
        return result.numpy() if isinstance(result, DeviceBuffer) else result

    def _launched(self, engine: Engine, lengths: Mapping[str, int]) -> tuple[Plan, tuple[Launch, ...]] | None:
        """The schedule on whole buffers, where it has nothing but launches."""
        plan, stages = self._schedule(engine, lengths, whole=True)
        launches = tuple(stage for stage in stages if isinstance(stage, Launch))
        return (plan, launches) if len(launches) == len(stages) else None

    def prepare(self, engine: Engine, inputs: Mapping[str, Any], *, memory: Memory | None = None) -> Prepared:
        """Everything but the run itself. Where an input is on the device, all buffers are."""
        plan, steps, memory = self._placed(engine, inputs, memory, {})
        counted = next((n for n, step in enumerate(steps) if not isinstance(step, Launch)), len(steps))
        ready = [step.bound(memory) for step in steps[:counted]]
        later = [partial(_bind_and_run, step, memory) for step in steps[counted:]]
        return Prepared(plan, memory, (*ready, *later), steps)

    def _placed(
        self, engine: Engine, inputs: Mapping[str, Any], memory: Memory | None, out: Mapping[str, Any]
    ) -> tuple[Plan, tuple[Stage, ...], Memory]:
        if memory is None:
            there = any(is_on_device(value) for value in inputs.values())
            memory = EngineMemory(self.backend) if there else HostMemory()
        lengths = {name: memory.give(name, of, inputs[name]) for name, of in engine.inputs.items()}
        plan, steps = self._schedule(engine, lengths, whole=memory.whole)
        for spaces, output in ((plan.scratch, False), (plan.outputs, True)):
            for name, space in spaces.items():
                if output and name in out:
                    memory.accept(name, space, out[name])
                elif isinstance(space.length, int):
                    memory.make(name, space, output=output)
        return plan, steps, memory

    def _schedule(
        self, engine: Engine, lengths: Mapping[str, int], *, whole: bool
    ) -> tuple[Plan, tuple[Stage, ...]]:
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

    def launches(self, plan: Plan, row: int, *, whole: bool) -> tuple[Stage, ...]:
        """The compiled steps of a plan; grids are folded onto y after `row` workgroups."""
        self._compile_ahead(plan)
        spaces = {**plan.scratch, **plan.outputs}
        counted = {name: space for name, space in spaces.items() if isinstance(space.length, Count)}
        stages: list[Stage] = []

        def made(step: Step) -> Stage:
            launch = self._launch(step, row, whole=whole)
            names = {what if isinstance(what, str) else what.buffer for what in step.bindings.values()}
            filled = tuple(name for name in names if name in sizes)
            covering = step.groups if isinstance(step.groups, Covering) else None
            return CountedLaunch(launch, filled, covering, row) if filled or covering else launch

        sizes = frozenset(counted)
        for step in plan.steps:
            inner = step.steps if isinstance(step, Repeated) else (step,)
            for what in (what for one in inner for what in one.bindings.values()):
                name = what if isinstance(what, str) else what.buffer
                if name in counted:
                    stages.append(Fill(name, counted.pop(name), output=name in plan.outputs))
            if isinstance(step, Repeated):
                stages.append(Turns(tuple(made(one) for one in inner), step.flag, step.most))
            else:
                stages.append(made(step))
        return (*stages, *(Fill(name, space, output=True) for name, space in counted.items()))

    def _launch(self, step: Step, row: int, *, whole: bool) -> Launch:
        declared = step.program.buffer(_PARAMS)
        groups = step.groups if isinstance(step.groups, int) else 0
        words = [0] * (0 if declared is None else declared.count)
        words[: 1 + len(step.params)] = (groups, *step.params)
        for what in step.bindings.values():
            if isinstance(what, Window):
                first = what.start if whole else 0
                words[6:] = (first, first + what.stop - what.start)
        given = declared is None or _PARAMS in step.bindings
        params = None if given else np.array(words, "<u4").tobytes()
        grid = step.grid or grid_of(groups, row)
        return Launch(self.compiled(step.program, step.convention), step.bindings, params, grid)

    def _compile_ahead(self, plan: Plan) -> None:
        """Compiles what is not compiled yet, several programs at once on a backend that can.

        As long as nothing has to be lowered, programs are found on the disk, one after the other: threads
        would only wait for each other.
        """
        wanted = {(step.program, step.convention): None for step, _ in plan.dispatches}
        new = [key for key in wanted if key not in self._compiled]
        backend = chosen(self.backend)
        if not able(backend, TogetherBackend):
            return
        while new and not lowering_is_loaded():
            self.compiled(*new.pop(0))
        if len(new) > 1:
            from concurrent.futures import ThreadPoolExecutor

            def compiled(context: Context, key: tuple[Program, Convention | None]) -> Compiled:
                return context.run(self.compiled, *key)

            # The default backend may be that of a block around this call, which other threads do not see.
            contexts = [copy_context() for _ in new]
            with ThreadPoolExecutor(min(len(new), backend.compilers)) as pool:
                for _ in pool.map(compiled, contexts, new):
                    pass  # what one of them raises is raised here

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
