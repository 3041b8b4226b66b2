"""The programs at the edges are fit to judge a backend: valid, free of races, and able to fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.exactness import exactness_programs
from vyre.backends.protocol import BackendInfo
from vyre.conform.diff.differential import compare
from vyre.conform.diff.shrink import is_sound
from vyre.validate import validate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program

CASES = exactness_programs()
QUICK = [name for name in CASES if not name.startswith(("long grid", "operators"))]


class Idle:
    """Compiles every program to nothing."""

    name = "idle"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "none")

    def compile(self, program: Program) -> Idle:
        return self

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        pass


@pytest.mark.parametrize("name", CASES)
def test_each_is_valid(name: str) -> None:
    assert validate(CASES[name].program) == []


@pytest.mark.parametrize("name", QUICK)
def test_each_is_free_of_races(name: str) -> None:
    assert is_sound(CASES[name])


@pytest.mark.parametrize("name", QUICK)
def test_each_tells_a_backend_that_does_nothing(name: str) -> None:
    assert compare(CASES[name], Idle()) is not None


def test_long_grids_are_longer_than_a_webgpu_dispatch() -> None:
    for axis in range(3):
        case = CASES[f"long grid along {'xyz'[axis]}"]
        assert case.workgroups[axis] > 65_535
