"""Long work without a terminal: a line now and then, none where programs read."""

from __future__ import annotations

import pytest

from vyre.cli import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_line_every_ten_seconds(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.Bar(unit="cases", quiet=False) as bar:
        for second in range(1, 26):
            clock[0] = 100.0 + second
            bar.update(40 * second, total=4000, what="laws", failing="2 failures" if second > 20 else "")
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "laws: 10 s, 400 of 4,000 cases",
        "laws: 20 s, 800 of 4,000 cases",
    ]


def test_failures_are_told(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.Bar(unit="cases", quiet=False) as bar:
        clock[0] += 10
        bar.update(1100, what="laws", resumed=1000, failing="1 failure")
    assert capsys.readouterr().err == "laws: 10 s, 1,100 cases, 1 failure\n"


def test_quiet_is_quiet(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with progress.Bar(unit="cases", quiet=True) as bar:
        clock[0] += 100
        bar.update(5, total=10)
    assert capsys.readouterr().err == ""
