"""One checker for each engine invariant: what is wrong with a case on a backend, or None.

Every checker runs the engine itself, through `EngineBench.run`, and asks one question of what it finds. An
engine that plans as it goes has no plan to look at: what it dispatched is watched instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.spec.engine import CalledEngine
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.conform.verify.dispatch import dispatch_engine
from vyre.conform.verify.stages.engines_loops import data_dependent_loop
from vyre.conform.verify.stages.engines_memory import GuardedMemory
from vyre.engines.plan import Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.conform.spec.engine import EngineCase, Location
    from vyre.conform.verify.stages.engines_called import Survey, Surveys
    from vyre.engines.plan import Plan
    from vyre.engines.run import Runner
    from vyre.ir.program import Program

    Outputs = Mapping[str, NDArray[Any]]

LOADED = np.ma
"""Named here, so that it is imported before stages run in threads: NumPy imports it in the middle of `isin`
and `unique`, where a second thread would find half of it."""
BASE = Shape(64, 4, turns=1)
SHAPES = (
    Shape(1, 4, turns=2, row=5),
    Shape(32, 2, turns=2, row=3, reverse=True),
    Shape(128, 1, turns=1, row=7, banks=False),
    Shape(256, 8, turns=1),
)
"""Ways to cut the work that no result may depend on."""


@dataclass(frozen=True, slots=True)
class WrongResult:
    """What broke: where, what was expected, what was found."""

    where: str
    expected: str
    actual: str
    kind: str = "value"


@dataclass(frozen=True, slots=True)
class EngineBench:
    """A case with the means to run it."""

    case: EngineCase
    runner: Runner
    repeats: int
    other: Shape
    """Another way to cut the work, for `WorkgroupInvariant`."""
    surveys: Surveys
    """Ways to watch the backend, for engines that plan as they go."""
    shape: Shape = BASE

    def run(self, shape: Shape | None = None) -> Outputs:
        """The outputs; of another shape than its own where one is named."""
        if self.called is not None:
            return self.call(self.surveys.plain if shape is None else self.surveys.cut(shape))
        return self.run_in(GuardedMemory(), shape)

    def run_in(self, memory: GuardedMemory, shape: Shape | None = None) -> Outputs:
        engine = self.case.build(shape or self.shape)
        return dispatch_engine(self.runner, engine, self.case.inputs, memory=memory)

    @property
    def called(self) -> CalledEngine | None:
        """The engine where it plans as it goes."""
        engine = self.case.build(self.shape)
        return engine if isinstance(engine, CalledEngine) else None

    def call(self, survey: Survey) -> Outputs:
        """The outputs of a called engine on a backend that is watched."""
        assert self.called is not None
        return self.called.call(self.case.inputs, survey)

    def programs(self) -> list[Program]:
        """Those that are dispatched, each once."""
        if self.called is None:
            return list(dict.fromkeys(step.program for step, _ in self.plan(self.shape).dispatches))
        survey = self.surveys.plain
        self.call(survey)
        return list(dict.fromkeys(survey.programs))

    def plan(self, shape: Shape) -> Plan:
        engine = self.case.build(shape)
        lengths = {name: int(np.asarray(self.case.inputs[name]).size) for name in engine.inputs}
        return engine.plan(lengths)


def deterministic(bench: EngineBench) -> WrongResult | None:
    first = _copied(bench.run())
    for turn in range(2, bench.repeats + 2):
        found = _difference(first, bench.run())
        if found is not None:
            name, at, one, other = found
            return WrongResult(
                f"{name}[{at}]", f"0x{one:X} as in run 1", f"0x{other:X} in run {turn}", "unstable"
            )
    return None


def _times(number: int) -> str:
    return {0: "never", 1: "once"}.get(number, f"{number:,} times")


def no_output_lost(bench: EngineBench) -> WrongResult | None:
    wanted, found = _counts(bench.case.expected), _counts(bench.case.items(bench.run()))
    for item, times in wanted.items():
        if found.get(item, 0) < times:
            return WrongResult(f"item 0x{item:X}", _times(times), _times(found.get(item, 0)))
    return None


def no_duplicate(bench: EngineBench) -> WrongResult | None:
    wanted, found = _counts(bench.case.expected), _counts(bench.case.items(bench.run()))
    for item, times in found.items():
        if times > wanted.get(item, 0):
            return WrongResult(f"item 0x{item:X}", _times(wanted.get(item, 0)), _times(times))
    return None


def ordered(bench: EngineBench) -> WrongResult | None:
    """What is missing or repeated is for others to judge; the rest must stand in order all the same."""
    items, wanted = np.asarray(bench.case.items(bench.run())), np.asarray(bench.case.expected)
    if _counts(items) == _counts(wanted):
        wrong = np.flatnonzero(items != wanted)
        at = int(wrong[0]) if wrong.size else -1
        return WrongResult(f"item {at}", f"0x{wanted[at]:X}", f"0x{items[at]:X}") if wrong.size else None
    if bench.case.key is None:
        return None
    keys = bench.case.key(items)
    falls = np.flatnonzero(np.diff(keys) < 0)
    if not falls.size:
        return None
    at = int(falls[0])
    return WrongResult(f"item {at + 1}", f"a key of at least {keys[at]}, as before it", str(keys[at + 1]))


def bounded(bench: EngineBench) -> WrongResult | None:
    if bench.called is not None:
        return _bounded_call(bench, bench.called.room)
    memory = GuardedMemory()
    outputs = bench.run_in(memory)
    found = memory.damage(bench.case.written(outputs))
    return None if found is None else WrongResult(*found)


def _bounded_call(bench: EngineBench, room: int) -> WrongResult | None:
    survey = bench.surveys.plain
    before = {name: array.tobytes() for name, array in bench.case.inputs.items()}
    outputs = bench.call(survey)
    if survey.damage is not None:
        return WrongResult(*survey.damage)
    changed = [name for name, array in bench.case.inputs.items() if array.tobytes() != before[name]]
    if changed:
        return WrongResult(f"input {changed[0]}", "what it was", "other bytes")
    longest = max(outputs, key=lambda name: outputs[name].size)
    size = outputs[longest].size
    return WrongResult(f"the length of {longest}", f"at most {room}", str(size)) if size > room else None


def _ended_call(bench: EngineBench, turns: int) -> WrongResult | None:
    """What was dispatched, and the turns that loops took, are within the bounds, and the run ended."""
    survey = bench.surveys.counted
    bench.call(survey)
    for what, found, most in (
        ("invocations", survey.invocations, bench.case.work),
        ("turns of loops", survey.turns, turns),
    ):
        if found > most:
            return WrongResult(what, f"at most {most}", str(found))
    return None


def termination(bench: EngineBench) -> WrongResult | None:
    """The plan is within its bound, no loop asks the data how long to run, and the run comes to its end."""
    if bench.called is not None:
        return _ended_call(bench, bench.called.turns)
    for shape in (bench.shape, *SHAPES):
        plan = bench.plan(shape)
        again = bench.plan(shape)
        if plan != again:
            return WrongResult(
                "the plan", "one that follows from the lengths", "another one for the same lengths"
            )
        invocations = plan.invocations
        if invocations > bench.case.work:
            return WrongResult("invocations", f"at most {bench.case.work}", str(invocations))
        for step, _ in plan.dispatches:
            loop = data_dependent_loop(step.program)
            if loop is not None:
                return WrongResult(
                    f"loop {loop}", "bounds that follow from the lengths", "bounds read from data"
                )
    bench.run()
    return None


def atomic_linearizable(bench: EngineBench) -> WrongResult | None:
    history = bench.case.history
    assert history is not None
    for location in history(bench.run()):
        found = _unexplained(location)
        if found is not None:
            return WrongResult(location.name, *found)
    return None


def _unexplained(location: Location) -> tuple[str, str] | None:
    """Additions of 1 and more, without wrapping: the values before, sorted, are the only possible order."""
    operands = np.asarray(location.operands, np.int64)
    final = location.initial + int(operands.sum())
    if location.final != final:
        return f"{final} in the end, after {operands.size} additions", str(location.final)
    if location.returned is None or not operands.size:
        return None
    returned = np.asarray(location.returned, np.int64)
    order = np.argsort(returned, kind="stable")
    before = location.initial + np.concatenate([[0], np.cumsum(operands[order])[:-1]])
    wrong = np.flatnonzero(returned[order] != before)
    if not wrong.size:
        return None
    at = int(wrong[0])
    return f"{before[at]} returned to somebody", f"{returned[order][at]} returned next"


def workgroup_invariant(bench: EngineBench) -> WrongResult | None:
    found = _difference(_copied(bench.run()), bench.run(bench.other))
    if found is None:
        return None
    name, at, one, other = found
    return WrongResult(
        f"{name}[{at}]", f"0x{one:X} as with {_shown(bench.shape)}", f"0x{other:X} with {_shown(bench.other)}"
    )


def _shown(shape: Shape) -> str:
    lanes = "1 lane" if shape.lanes == 1 else f"{shape.lanes} lanes"
    return lanes + (", last part first" if shape.reverse else "")


CHECKERS: dict[Inv, Callable[[EngineBench], WrongResult | None]] = {
    Inv.Deterministic: deterministic,
    Inv.NoOutputLost: no_output_lost,
    Inv.NoDuplicate: no_duplicate,
    Inv.Ordered: ordered,
    Inv.Bounded: bounded,
    Inv.Termination: termination,
    Inv.AtomicLinearizable: atomic_linearizable,
    Inv.WorkgroupInvariant: workgroup_invariant,
}


def _counts(items: Any) -> dict[int, int]:
    values, times = np.unique(np.asarray(items), return_counts=True)
    return dict(zip(values.tolist(), times.tolist(), strict=True))


def _copied(outputs: Outputs) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in outputs.items()}


def _difference(first: Outputs, later: Outputs) -> tuple[str, int, int, int] | None:
    """By bits: a NaN is what it was."""
    for name, array in first.items():
        if array.size != later[name].size:
            return f"the length of {name}", 0, array.size, later[name].size
        kind = np.dtype(f"<u{array.itemsize}")
        one, other = array.view(kind), later[name].view(kind)
        wrong = np.flatnonzero(one != other)
        if wrong.size:
            at = int(wrong[0])
            return name, at, int(one[at]), int(other[at])
    return None
