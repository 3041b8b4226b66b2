"""Verdicts on programs, and the store of programs that some backend got wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.wrong.values import Wrong, off_by_one_popcount
from vyre.backends.protocol import BackendInfo, Executable
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.diff.differential import INTEGER_PROGRAMS, Agreement, compare, judge, keep_case, kept_cases
from vyre.conform.generate.programs import generate_program
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program

ROOT = Path(__file__).parents[3]
GENERATED = generate_program(0, INTEGER_PROGRAMS)


class Raising:
    name = "raising"

    def __init__(self, error: VyreError) -> None:
        self.error = error

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "none")

    def compile(self, program: Program) -> Executable:
        raise self.error


def test_the_reference_agrees_with_itself() -> None:
    assert judge(GENERATED, ReferenceBackend()) == (Agreement.Agrees, "")


def test_a_mismatch_names_buffer_element_and_both_values() -> None:
    found = compare(GENERATED, Wrong(off_by_one_popcount))
    assert found is not None
    assert found.expected != found.actual
    assert str(found).startswith(f"program 0: {found.buffer}[{found.element}] is 0x")
    assert judge(GENERATED, Wrong(off_by_one_popcount)) == (Agreement.Differs, str(found))


def test_a_refusal_is_no_failure_and_an_error_is() -> None:
    refusal = UnsupportedByBackend("FAdd", "raising")
    assert judge(GENERATED, Raising(refusal))[0] is Agreement.Refused
    verdict, detail = judge(GENERATED, Raising(DispatchError("lost.", fix="wait.")))
    assert verdict is Agreement.Failed
    assert detail.startswith("DispatchError: lost.")


class Overflowing:
    """Writes one byte behind its last buffer, as a kernel on the caller's own memory could."""

    name = "overflowing"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "none")

    def compile(self, program: Program) -> Overflowing:
        return self

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        view = list(buffers.values())[-1]
        whole = memoryview(view.obj)  # pyright: ignore[reportArgumentType]
        whole[256 + view.nbytes] ^= 1


def test_a_backend_that_writes_outside_of_a_buffer_is_told() -> None:
    verdict, detail = judge(GENERATED, Overflowing())
    assert verdict is Agreement.Failed
    assert "wrote outside of the buffer" in detail


def test_kept_programs_come_back_whole_under_a_name_made_of_their_content(tmp_path: Path) -> None:
    first = keep_case(tmp_path, GENERATED, "somewhere: wrong")
    assert keep_case(tmp_path, GENERATED, "found again elsewhere") == first
    keep_case(tmp_path, generate_program(1, INTEGER_PROGRAMS), "another")
    cases = dict(kept_cases(tmp_path))
    assert len(cases) == 2
    case = cases[first.stem]
    assert case.generated.program == GENERATED.program
    assert case.generated.inputs == GENERATED.inputs
    assert case.generated.workgroups == GENERATED.workgroups
    assert case.found == "found again elsewhere"
    assert case.expected


def run_tool(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab.bulk.differential", *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def test_the_tool_counts_and_names_the_device(tmp_path: Path) -> None:
    run = run_tool("--backend", "reference", "--count", 6, "--first", 3, "--jobs", 2, "--keep", tmp_path)
    assert run.returncode == 0, run.stderr
    assert "reference: 6 programs (seeds 3 to 8), 6 agree, 0 differ, 0 fail, 0 refused" in run.stdout
    assert "CPython" in run.stdout
    assert not list(tmp_path.iterdir())


def test_the_tool_shrinks_and_keeps_what_fails(tmp_path: Path) -> None:
    run = run_tool("--backend", "tests.wrong:WrongPopcount", "--count", 1, "--keep", tmp_path)
    assert run.returncode == 1
    assert "1 differ" in run.stdout
    assert "kept as" in run.stderr
    ((_, case),) = kept_cases(tmp_path)
    assert case.generated.program.size < 12
    assert judge(case.generated, Wrong(off_by_one_popcount))[0] is Agreement.Differs


def test_the_tool_fails_on_a_backend_that_is_not_there(tmp_path: Path) -> None:
    run = run_tool("--backend", "no_such_backend", "--count", 1, "--keep", tmp_path)
    assert run.returncode != 0
    assert "no backend is called" in run.stderr
