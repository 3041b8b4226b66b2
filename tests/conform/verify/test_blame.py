"""A crash or a hang is blamed on the case that caused it, and its replay shows it again as an outcome."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

pytest.importorskip("llvmlite")

from tests.conform.verify.runs import certify
from vyre.cli.app import main
from vyre.conform.process.faults import BackendCrash, BackendHang, MemoryGone
from vyre.conform.process.isolate import Isolated
from vyre.conform.records.blocks import OpBlock
from vyre.conform.records.documents import Field, FieldError, encode
from vyre.conform.registry import spec
from vyre.conform.spec.program import application
from vyre.conform.suite.block_records import read_record
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import STAGES, units
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.blame import LATE, LAWS, narrowed, stop
from vyre.conform.verify.confirm import NOT_AGAIN, confirmed
from vyre.conform.verify.golden.stage import run_rows
from vyre.conform.verify.named import run_named
from vyre.conform.verify.stage import PASSED, Outcome, attempt
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vyre.conform.records.results import Failure

XOR, OR, SHR = "primitive.bitwise.xor", "primitive.bitwise.or", "primitive.bitwise.shr"


@pytest.fixture
def isolated() -> Iterator[Any]:
    opened: list[Isolated] = []

    def start(name: str, *, timeout: float = 30.0) -> Isolated:
        opened.append(Isolated(f"tests.wrong:{name}", timeout=timeout))
        return opened[-1]

    yield start
    for backend in opened:
        backend.close()


def only(backend: Any, folder: Path, op: str, **plan: Any) -> Failure:
    results = certify(backend, folder, ops=(op,), cases=64, **plan)
    (failure,) = [f for f in results.failures if f.op == op]
    return failure


def replayed(backend: Any, failure: Failure) -> str:
    report = run_named(Bench(backend), failure.smallest, make_plan("x", seed=failure.seed), STAGES)
    return f"{report.status} {report.kind}".strip()


def test_one_input_that_kills_is_found_and_kills_again(isolated: Any, tmp_path: Path) -> None:
    backend = isolated("CrashingOn")
    failure = only(backend, tmp_path, XOR)
    assert (failure.kind, failure.note, failure.count) == ("crash", "at a single case", 1)
    assert "SIGSEGV" in failure.actual
    assert failure.inputs[0] == "0x80000000"
    assert failure.smallest.startswith(f"{XOR}/inputs/0x80000000,")
    assert replayed(backend, failure) == "failed crash"


def test_the_replay_command_outlives_the_crash(
    isolated: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = only(isolated("CrashingOn"), tmp_path, XOR)
    monkeypatch.chdir(tmp_path)
    assert failure.replay.startswith("vyre certify --backend-class tests.wrong:Isolated")
    asked = ["certify", "--backend-class", "tests.wrong:CrashingOn", "--case", failure.smallest]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 1
    assert "failed (crash)" in done.output
    assert "SIGSEGV" in done.output


def test_one_input_that_hangs_is_found_and_hangs_again(isolated: Any, tmp_path: Path) -> None:
    backend = isolated("HangingOn", timeout=1.0)
    failure = only(backend, tmp_path, XOR, largest=0)
    assert (failure.kind, failure.note) == ("hang", "at a single case")
    assert failure.inputs[0] == "0x80000000"
    assert replayed(backend, failure) == "failed hang"


def test_a_crash_after_the_answer_is_not_blamed_on_the_next(isolated: Any, tmp_path: Path) -> None:
    failure = only(isolated("LateOn"), tmp_path, XOR)
    assert failure.kind == "crash"
    assert failure.inputs[0] == "0x80000000"
    assert "exit status 5" in failure.actual
    assert replayed(isolated("LateOn"), failure) == "failed crash"


@pytest.mark.parametrize("delay", [0, 1, 9, 50])
def test_a_crash_that_shows_much_later_is_blamed_on_the_part_that_brings_it_back(delay: int) -> None:
    """A busy machine may answer for many parts before the death of an earlier one shows."""
    guilty, ran = 7, [0]

    def bad(at: int, size: int, late: float) -> BaseException | None:
        sure = late == LATE
        begun = at <= guilty < at + size
        if begun and (sure or not delay):
            return BackendCrash("died", fix="mend it.")
        if begun:
            ran[0] = delay
        elif not sure and ran[0]:
            ran[0] -= 1
            return None if ran[0] else BackendCrash("died", fix="mend it.")
        return None

    at, size, error = narrowed(bad, 0, 64, BackendCrash("died", fix="mend it."))
    assert (at, size, isinstance(error, BackendCrash)) == (guilty, 1, True)


def test_cases_that_kill_only_together_are_named_together(isolated: Any, tmp_path: Path) -> None:
    backend = isolated("CrashingTogether")
    failure = only(backend, tmp_path, XOR)
    assert failure.kind == "crash"
    assert "together" in failure.note
    assert failure.smallest == failure.case
    assert failure.case.startswith(f"{XOR}/u8/")
    first, last = map(int, failure.case.rpartition("/")[2].split("-"))
    assert failure.count == last - first + 1
    assert replayed(backend, failure) == "failed crash"


def test_a_law_that_kills_is_named(isolated: Any, tmp_path: Path) -> None:
    backend = isolated("CrashingLaw")
    failure = only(backend, tmp_path, OR)
    assert (failure.kind, failure.note) == ("crash", "at a single case")
    law = failure.smallest.split("/")[1]
    assert law not in ("inputs", "laws")
    assert replayed(backend, failure) == "failed crash"


def test_a_compiler_that_dies_of_what_a_law_applies_does_not_end_the_run(
    isolated: Any, tmp_path: Path
) -> None:
    backend = isolated("CrashingCompiler")
    failure = only(backend, tmp_path, SHR)
    assert failure.kind == "crash"
    assert failure.case.startswith(f"{SHR}/a >> 1 = a / 2/")
    assert replayed(backend, failure) == "failed crash"


def test_a_golden_row_that_kills_takes_no_other_with_it(isolated: Any) -> None:
    from vyre.conform.oracle.golden import load_rows

    rows = tuple(r for r in load_rows() if r.stem == XOR)
    outcomes = run_rows(isolated("CrashingOn"), rows)
    failed = [o for o in outcomes if o.status == "failed"]
    assert len(rows) > len(failed) > 0
    assert {o.kind for o in failed} == {"crash"}
    for one in failed:
        row = next(r for r in rows if f"golden/{r.id}" == one.case)
        assert run_rows(isolated("CrashingOn"), (row,))[0].kind == "crash"


def test_patience_of_one_thread_does_not_hurry_another(isolated: Any) -> None:
    backend = isolated("Right", timeout=30.0)
    seen: list[float] = []
    with backend.patience(0.5):
        other = threading.Thread(target=lambda: seen.append(backend._wire._limit))
        other.start()
        other.join()
        assert backend._wire._limit == 0.5
    assert (seen, backend._wire._limit) == ([30.0], 30.0)


def test_memory_of_a_child_that_is_gone_is_not_that_of_the_next(isolated: Any) -> None:
    from vyre.conform.process.remote import RemoteMemory

    backend = isolated("Right")
    old = RemoteMemory(backend._wire, 0, 16)
    backend.renew()
    with pytest.raises(MemoryGone):
        old.read(memoryview(bytearray(16)))
    old.free()


def test_a_range_of_cases_can_be_asked_for(isolated: Any) -> None:
    bench, plan = Bench(isolated("Right")), make_plan("x")
    assert run_named(bench, f"{XOR}/u8/0-99", plan, STAGES).status == "passed"
    for wrong in ("99-0", "0-65536", "a-b"):
        with pytest.raises(Exception, match="no case is called"):
            run_named(bench, f"{XOR}/u8/{wrong}", plan, STAGES)


def test_a_hang_is_raised_in_time(isolated: Any) -> None:
    backend = isolated("HangingOn", timeout=20.0)
    plan = make_plan("x")
    with backend.patience(0.5):
        report = run_named(Bench(backend), f"{XOR}/inputs/0x80000000,0x0", plan, STAGES)
    assert (report.kind, "within 0.5 s" in report.actual) == ("hang", True)
    assert issubclass(BackendHang, Exception)


class Numbered:
    """A stage of xors, each of two words; the second one holds what kills."""

    name, group = "bounds", 4

    def count(self, plan: Any) -> int:
        return 4

    def run(self, backend: Any, plan: Any, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, number) for number in range(lo, hi)]

    def _one(self, backend: Any, number: int) -> Outcome:
        def ask() -> Outcome:
            views = {n: memoryview(bytearray(8)) for n in ("x0", "x1", "out")}
            views["x0"][4:] = (0x8000_0000 if number == 1 else number).to_bytes(4, "little")
            given = {n: v if n == "out" else v.toreadonly() for n, v in views.items()}
            backend.compile(application(spec(XOR)).program).run(given, (1, 1, 1))
            time.sleep(0.05 * (number == 2))
            return Outcome(f"bounds/numbered/{number}", "numbered", PASSED)

        return attempt(f"bounds/numbered/{number}", "numbered", None, ask)


@pytest.mark.parametrize("name", ["CrashingOn", "LateOn"])
def test_a_case_of_a_stage_is_blamed_for_what_it_did(
    name: str, isolated: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STAGES, "bounds", Numbered())  # pyright: ignore[reportArgumentType]
    results = certify(isolated(name), tmp_path, ops=(XOR,), stages=("bounds",))
    assert [(f.case, f.kind) for f in results.failures] == [("bounds/numbered/1", "crash")]


def test_a_crash_that_does_not_come_back_says_so(isolated: Any) -> None:
    backend = isolated("Right")
    lost = Outcome("bounds/numbered/0", "numbered", "failed", "crash", (), "a result", "died")
    stage: Any = Numbered()
    (found,) = confirmed(Bench(backend), stage, make_plan("x"), 0, [lost])
    assert (found.kind, found.note) == ("crash", NOT_AGAIN)


def test_a_stop_that_is_blamed_on_an_earlier_op_can_be_resumed() -> None:
    """Every field that a blamed stop may have is one that a journal may hold."""
    plan = make_plan("cpu", ops=("primitive.math.div",), stages=("ops",), cases=40, largest=0)
    unit = units(plan, None)[0]
    ended = stop(VyreError("died", fix="mend it."), 3, [1, 2], at="a single case", check=LAWS, cases=1)
    block = OpBlock(0, stop=replace(ended, op="primitive.math.add", in_="random"))
    record = encode(block)
    assert read_record(Field(record, "record"), unit) == block
    with pytest.raises(FieldError, match=r"record\.stop\.in: expected a string"):
        read_record(Field({**record, "stop": {**record["stop"], "in": 7}}, "record"), unit)
