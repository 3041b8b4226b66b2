"""Stages besides the ops: lists of named cases, each run on its own.

    stage.count(plan)                     how many cases
    stage.run(backend, plan, lo, hi)      outcomes of cases lo to hi - 1

A case is named `stage/subject/number`; `number` counts within the stage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vyre.backends.execute import run_bytes
from vyre.conform.process.inspection import inspect
from vyre.conform.records.blocks import FAILED, PASSED, REFUSED, Outcome
from vyre.conform.verify.blame import failure_kind
from vyre.errors import UnsupportedByBackend, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.ir.program import Program


class Stage(Protocol):
    """A stage; `group` cases make a block, after which the journal is written."""

    @property
    def name(self) -> str: ...

    @property
    def group(self) -> int: ...

    def count(self, plan: RunPlan) -> int: ...

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]: ...


@dataclass(frozen=True, slots=True)
class Trial:
    """One program on one input: what the buffers must hold afterwards, or a question asked of them.

    `judge` gives None for a lawful result, or (inputs, expected, actual) of the first thing that is not.
    """

    subject: str
    program: Program
    buffers: Mapping[str, bytes]
    workgroups: tuple[int, int, int]
    judge: Callable[[Mapping[str, bytes]], tuple[tuple[str, ...], str, str] | None]
    repeats: int = 1
    note: str = ""
    alike: bool = True
    """Whether all runs must give the same bytes; what atomics return depends on their order."""


def attempt(name: str, subject: str, program: Program | None, ask: Callable[[], Outcome]) -> Outcome:
    """Asks, and turns whatever a backend does instead of answering into an outcome."""
    try:
        return ask()
    except UnsupportedByBackend as refusal:
        return Outcome(name, subject, REFUSED, actual=refusal.message)
    except Exception as error:  # a crash, a hang, or an exception of the backend
        text = error.message if isinstance(error, VyreError) else f"{type(error).__name__}: {error}"
        shown = "" if program is None else program.to_text()
        return Outcome(name, subject, FAILED, failure_kind(error), (), "a result", text, "", shown)


def run_trial(backend: Backend, name: str, trial: Trial) -> Outcome:
    """One trial, repeated on the same compiled program; every run must be lawful, and all alike."""

    def ask() -> Outcome:
        executable = backend.compile(trial.program)
        first: dict[str, bytes] | None = None
        for turn in range(trial.repeats):
            found = run_bytes(executable, trial.program, trial.buffers, trial.workgroups)
            wrong = trial.judge(found)
            kind = "value"
            if wrong is None and trial.alike and first is not None and first != found:
                wrong, kind = _difference(first, found, turn), "unstable"
            if wrong is not None:
                inputs, expected, actual = wrong
                text, source = trial.program.to_text(), inspect(executable).source
                return Outcome(
                    name, trial.subject, FAILED, kind, inputs, expected, actual, trial.note, text, source
                )
            first = found
        return Outcome(name, trial.subject, PASSED)

    return attempt(name, trial.subject, trial.program, ask)


def _difference(
    first: Mapping[str, bytes], later: Mapping[str, bytes], turn: int
) -> tuple[tuple[str, ...], str, str]:
    name = next(n for n in first if first[n] != later[n])
    at = next(k for k, (a, b) in enumerate(zip(first[name], later[name], strict=True)) if a != b)
    return (
        (f"{name} byte {at}",),
        f"0x{first[name][at]:02X} as in run 1",
        f"0x{later[name][at]:02X} in run {turn + 1}",
    )


def exactly(
    expected: Mapping[str, bytes], *, width: int = 4
) -> Callable[[Mapping[str, bytes]], tuple[tuple[str, ...], str, str] | None]:
    """A judge that wants these bytes; the first element that differs is named."""

    def judge(found: Mapping[str, bytes]) -> tuple[tuple[str, ...], str, str] | None:
        for name, want in expected.items():
            got = found[name]
            if got != want:
                differs = np.frombuffer(want, np.uint8) != np.frombuffer(got, np.uint8)
                at = int(np.argmax(differs)) // width * width
                values = (int.from_bytes(x[at : at + width], "little") for x in (want, got))
                shown = [f"0x{v:X}" for v in values]
                return (f"{name}[{at // width}]",), shown[0], shown[1]
        return None

    return judge


class TrialStage:
    """A stage made of trials, which are built anew from their number."""

    def __init__(
        self, name: str, subjects: Mapping[str, Callable[[int, int, RunPlan], Trial]], *, each: int
    ) -> None:
        self.name = name
        self.group = each
        self._subjects = list(subjects.items())
        self._each = each

    def count(self, plan: RunPlan) -> int:
        return len(self._subjects) * self._each

    def subject(self, number: int) -> str:
        """What case `number` is about."""
        return self._subjects[number // self._each][0]

    def case(self, subject: str, turn: int = 0) -> str:
        """The name of a case of a subject."""
        place = next(k for k, (name, _) in enumerate(self._subjects) if name == subject)
        return f"{self.name}/{subject}/{place * self._each + turn}"

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, number) for number in range(lo, hi)]

    def _one(self, backend: Backend, plan: RunPlan, number: int) -> Outcome:
        subject, make = self._subjects[number // self._each]
        trial = replace(make(number % self._each, plan.seed + number, plan), subject=subject)
        return run_trial(backend, f"{self.name}/{subject}/{number}", trial)


def random_u32(seed: int, count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Words for the buffers of trials."""
    return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=np.uint32)
