"""A run that goes on beyond its plan: with other seeds, killed and resumed, and told of in a certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests import wrong
from tests.conform.certify.made_up import ADD, perfect, registry
from tests.conform.certify.small_runs import Right, shards
from tests.conform.verify.runs import certify
from vyre.certification.plan import CertifyPlan
from vyre.conform.certify.certificate import certificates
from vyre.conform.certify.level import levels
from vyre.conform.certify.merge import merge
from vyre.conform.certify.promises import registry_now
from vyre.conform.certify.sound import unsound
from vyre.conform.certify.statement import read, write
from vyre.conform.certify.summary import summary
from vyre.conform.certify.verify import verify
from vyre.conform.records.results import Results, Soak, StageResult, SubjectCount
from vyre.conform.suite import soak as soaking
from vyre.conform.suite.plan import DEFAULT_SEED
from vyre.conform.suite.regressions import Store
from vyre.conform.verify.stage import random_u32
from vyre.errors import VyreError
from vyre.report import render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from vyre.ir.program import Program

BARRIER: dict[str, Any] = {"stages": ("barrier",), "repeats": 1}
FIRST = DEFAULT_SEED + soaking.STEP
LATER = FIRST + soaking.STEP


class Clock:
    """Every look at it takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("vyre.conform.suite.soak.time", made)
    return made


class WrongOnWord(wrong.Right):
    """The first element of the output is wrong where the first input word is the one that a test names."""

    name = "wrong-on-word"
    word = -1

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        first = np.frombuffer(buffers[program.buffers[0].name], np.uint32)
        if first.size and int(first[0]) == self.word:
            np.frombuffer(buffers["output"], np.uint32)[0] ^= 1


def test_a_fault_of_a_later_seed_is_found_stored_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan and the first seed beyond it pass; case 17 of the second seed does not."""
    backend = WrongOnWord()
    backend.word = int(random_u32(LATER + 17, 1)[0])
    assert certify(backend, tmp_path / "plan", **BARRIER).ok
    monkeypatch.setattr(soaking, "MOST_FAILURES", 1)
    results = certify(backend, tmp_path / "soak", soak=60, **BARRIER)
    assert not results.failures
    assert results.soak is not None
    (soak,) = results.soak
    assert (soak.first, soak.step) == (FIRST, soaking.STEP)
    assert soak.seeds >= 2
    (failure,) = soak.failures
    assert failure.seed == LATER
    assert failure.case.endswith("/17")
    assert f"--seed {LATER} --case '{failure.case}'" in failure.replay
    assert not results.ok
    assert results.unexpected == (failure,)
    assert list(Store(tmp_path / "soak" / "failures").load(backend.name).values()) == [failure]
    (made, *_) = certificates(results, promised=registry_now())
    assert verify(write(made)).ok
    text = "\n".join("".join(piece for piece, _ in line) for line in summary(results, [made]))
    assert f"under {soak.seeds} other seeds" in text
    assert "1 failure" in text
    assert failure.replay in text
    assert failure.case in render(read(write(made)))
    again = certify(backend, tmp_path / "soak", stages=("regressions",))
    assert [f.case for f in again.failures] == [failure.case]


def test_what_the_plan_gives_is_the_same_without_it(tmp_path: Path, clock: Clock) -> None:
    without = certify(Right(), tmp_path / "without", **BARRIER)
    with_soak = certify(Right(), tmp_path / "with", soak=0.5, **BARRIER)
    assert with_soak.soak is not None
    assert "soak" not in without.to_json().decode()
    assert replace(with_soak, soak=None).to_json() == without.to_json()
    assert Results.from_json(with_soak.to_json()) == with_soak


class _Killed(Exception):
    pass


def test_a_killed_soak_goes_on_where_it_stopped(tmp_path: Path, clock: Clock) -> None:
    seen = 0

    def kill(progress: Any) -> None:
        nonlocal seen
        seen += progress.what.startswith("soak")
        if seen == 3:
            raise _Killed

    with pytest.raises(_Killed):
        certify(Right(), tmp_path, soak=1, progress=kill, **BARRIER)
    before = clock.now
    results = certify(Right(), tmp_path, soak=1, resume=True, **BARRIER)
    assert clock.now - before < 120
    assert results.soak is not None
    (soak,) = results.soak
    assert soak.stages[0].cases > 3 * soaking.PIECE
    # Resumed once more without time left, nothing is run again and nothing is lost.
    again = certify(Right(), tmp_path, resume=True, **BARRIER)
    assert again.soak == results.soak


def test_a_plan_without_seeded_stages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VyreError, match="has none of them"):
        certify(Right(), tmp_path, stages=("golden",), soak=1)


@pytest.mark.parametrize("minutes", [-1.0, float("nan"), 1e9])
def test_minutes_that_are_none_are_refused(minutes: float) -> None:
    with pytest.raises(VyreError, match="number of minutes"):
        CertifyPlan(soak=minutes)


def soaked(failed: int) -> Soak:
    stage = StageResult("programs", 8, (SubjectCount("integer", 8, failed, 0),))
    return Soak(FIRST, soaking.STEP, 1, (stage,), ())


def test_a_failure_beyond_the_plan_denies_the_level() -> None:
    clean = levels("integer", replace(perfect(ADD), soak=(soaked(0),)), registry(ADD), ())
    spoiled = levels("integer", replace(perfect(ADD), soak=(soaked(1),)), registry(ADD), ())
    reason = "the stage programs failed beyond the plan (--soak): integer"
    assert reason not in clean.levels[1].reasons
    assert reason in spoiled.levels[1].reasons


def test_a_failure_that_is_counted_and_not_listed_is_missed(tmp_path: Path, clock: Clock) -> None:
    results = certify(Right(), tmp_path, soak=0.2, **BARRIER)
    (made, *_) = certificates(results, promised=registry_now())
    assert not unsound(made)
    assert "counts 1 failures and lists 0" in unsound(replace(made, soak=(soaked(1),)))
    assert "under no seed" in unsound(replace(made, soak=(replace(soaked(0), seeds=0),)))


def test_merged_shards_keep_what_each_ran_beyond_its_plan(tmp_path: Path, clock: Clock) -> None:
    first, second = shards(Right(), tmp_path, 2, soak=0.2, **BARRIER)
    assert first.soak is not None
    assert second.soak is not None
    whole = merge([first, second])
    assert whole.soak == (*first.soak, *second.soak)
    assert [s.first for s in whole.soak or ()] == [FIRST, LATER]
    assert {s.step for s in whole.soak or ()} == {2 * soaking.STEP}
