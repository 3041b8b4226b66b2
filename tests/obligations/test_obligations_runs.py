"""Kernels in reserved memory, and with their removed checks watched: nothing gets out of its buffer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from lab.bulk.guard_programs import guard_case
from lab.bulk.guard_runs import Runner, Tally
from vyre.obligations.check import Checker
from vyre.obligations.linear import Lines
from vyre.optimize import ranges
from vyre.optimize.ranges import Range

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
SEEDS = 30


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lab.bulk.guard_runs", *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=ROOT,
    )


@pytest.mark.slow
def test_no_kernel_leaves_its_buffers() -> None:
    done = run("0", str(SEEDS))
    assert done.returncode == 0, f"the process ended at {done.stdout.split()[-1:]}: {done.stderr[-500:]}"
    sites, ran, last, escaped = (int(x) for x in done.stdout.splitlines()[-1].split()[1:])
    assert escaped == 0, done.stdout
    assert sites > ran > last > 300, "a run that exercises nothing shows nothing"


def test_an_access_outside_ends_the_process() -> None:
    """The control of the reservation: one element behind the end, and one before the start."""
    for where in ("arena.place(64, left=False) + 64", "arena.place(64, left=True) - 4"):
        code = (
            "import ctypes, lab.bulk.guard_runs as g\n"
            "arena = g.Reservation()\n"
            f"at = {where}\n"
            "print('reserved', flush=True)\nctypes.c_uint32.from_address(at).value = 1\nprint('survived')"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        assert done.stdout == "reserved\n"
        assert done.returncode < 0, "a signal"


def _everything(*_: object, **__: object) -> bool:
    return True


FAULTS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "a sum that wraps": ("_add", lambda a, b: Range(a.lo, min(a.hi + b.hi, 3), a.rooms)),
    "at most taken for less": ("_less_or_equal", lambda a, b: (a.meet(b.below()), b)),
    "a remainder by zero": ("_mod", lambda a, b: b.below()),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_escapes_only_without_the_checker(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the watch, and what the checker is for."""
    name, wrong = FAULTS[fault]
    monkeypatch.setattr(ranges, name, wrong)
    for op, plain in list(ranges._BINARY.items()):
        if plain.__name__ == name:
            monkeypatch.setitem(ranges._BINARY, op, wrong)
    assert watched(6).escaped == 0
    monkeypatch.setattr(Checker, "inside", _everything)
    monkeypatch.setattr(Lines, "limited", _everything)
    assert watched(25).escaped > 0


def watched(seeds: int) -> Tally:
    """Only the watched kernels, which make no access that they find to be outside."""
    runner, total = Runner(), Tally()
    for seed in range(seeds):
        total = total.plus(runner.run(guard_case(seed), plain=False))
        if total.escaped:
            break
    return total
