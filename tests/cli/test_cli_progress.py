"""Long work without a terminal: a line now and then, none where programs read."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from vyre.certification import CertifyProgress
from vyre.cli import certify_, progress
from vyre.cli.exhaustive_ import _left  # pyright: ignore[reportPrivateUsage]
from vyre.conform.suite.pace import StageProgress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_lines_come_while_nothing_is_finished(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_APART", 0.001)
    said, thrice = list[str](), threading.Event()

    def echo(text: str, **_: Any) -> None:
        said.append(text)
        if sum(line.startswith("shapes") for line in said) == 3:
            thrice.set()

    monkeypatch.setattr(progress.click, "echo", echo)
    with progress.Bar(unit="cases", quiet=False) as bar:
        bar.update(0, total=32, what="shapes")
        clock[0] += 40
        assert thrice.wait(60)
    assert said[-1] == "shapes: 40 s, 0 of 32 cases"
    told = len(said)
    assert not threading.Event().wait(0.01)
    assert len(said) == told, "a bar that has ended goes on telling"


def test_failures_are_told(clock: list[float]) -> None:
    with progress.Bar(unit="cases", quiet=True) as bar:
        clock[0] += 10
        bar.update(1100, what="laws", failing="1 failure")
        assert bar.line() == "laws: 10 s, 1,100 cases, 1 failure"


def test_a_time_that_has_passed_is_told_no_more(clock: list[float]) -> None:
    with progress.Bar(unit="cases", quiet=True) as bar:
        clock[0] += 2
        bar.update(8, total=32, what="shapes", left=((30.0, "left in this stage"), (600.0, "left in all")))
        clock[0] += 20
        assert (
            bar.line()
            == "shapes: 22 s, 8 of 32 cases, about 10 s left in this stage, about 10 min left in all"
        )
        clock[0] += 10
        assert bar.line() == "shapes: 32 s, 8 of 32 cases, about 10 min left in all"


def test_a_run_tells_the_stage_it_is_at(clock: list[float]) -> None:
    with progress.Bar(unit="cases", quiet=True) as bar:
        at = StageProgress("shapes", 1, 23, 24, 32, 12.4, None)
        certify_._tell(bar, CertifyProgress(24, 73_929_014, 0, "shapes", 2, at))  # pyright: ignore[reportPrivateUsage]
        assert (
            bar.line()
            == "shapes (stage 1 of 23): 0 s, 24 of 32 cases, about 12 s left in this stage, 2 failures"
        )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "about 1 s"), (119, "about 119 s"), (150, "about 2 min"), (7300, "about 2.0 h")],
)
def test_times_are_told_as_coarsely_as_they_are_known(seconds: float, words: str) -> None:
    assert progress.about(seconds) == words


def test_chunks_of_an_earlier_run_do_not_count_for_the_rate() -> None:
    told = [(100 * k, 0.0) for k in range(1, 6)] + [(500 + 10 * k, float(k)) for k in range(1, 9)]
    assert _left(told[-8:], 1000) == ((42.0, "left"),)
    assert _left(told[:1], 1000) == ()


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_APART", 0.001)
    with progress.Bar(unit="cases", quiet=True) as bar:
        bar.update(5, total=10)
        assert not threading.Event().wait(0.01)
    assert capsys.readouterr().err == ""
