"""A run is bound to where it takes place: another device neither continues it nor slips into it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.process.isolate import DeviceChanged, Isolated
from vyre.conform.process.provenance import ENTRY, bind, code_digest, conditions_of, differences, provenance
from vyre.conform.records.journal import Journal, read
from vyre.conform.records.results import CanaryResult, Conditions
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.run import Suite
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Generator

    from vyre.backends.protocol import BackendInfo, Executable
    from vyre.ir.program import Program

MARK = "VYRE_TEST_ANOTHER_DEVICE"
OPS = ("primitive.bitwise.not", "primitive.logical.not")


class Named(CpuBackend):
    """The processor under the name of a device."""

    device = "first"

    def __init__(self) -> None:
        super().__init__(threads=1, canaries=False)

    def describe(self) -> BackendInfo:
        return replace(super().describe(), device=self.device)


class Other(Named):
    device = "second"


class Fickle(Named):
    """Dies at the first program; the process that takes its place is on another device."""

    def __init__(self) -> None:
        super().__init__()
        self._mark = Path(os.environ[MARK])
        self.device = "second" if self._mark.exists() else "first"

    def compile(self, program: Program) -> Executable:  # type: ignore[override] # the same, but that it dies
        if self.device == "first":
            self._mark.touch()
            os._exit(1)
        return super().compile(program)


class Drifting(Named):
    """Says that it is on another device after it has been asked a few times."""

    def __init__(self, patience: int) -> None:
        super().__init__()
        self._left = patience

    def describe(self) -> BackendInfo:
        self._left -= 1
        self.device = "first" if self._left >= 0 else "second"
        return super().describe()


def suite(backend: Any, path: Path, *, resume: bool = False) -> Suite:
    made = make_plan("cpu", cases=256, ops=OPS, stages=("ops",), largest=1 << 8)
    journal = Journal(path, {"plan": asdict(made)}, resume=resume)
    try:
        return Suite(made, backend, journal, target="cpu")
    except VyreError:
        journal.close()
        raise


@contextmanager
def opened(path: Path, *, resume: bool) -> Generator[Journal]:
    journal = Journal(path, {}, resume=resume)
    try:
        yield journal
    finally:
        journal.close()


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    path = tmp_path / "journal"
    suite(Named(), path).run()
    return path


def test_a_journal_says_where_its_run_was_begun(finished: Path) -> None:
    noted = read(finished)[0][1][ENTRY]
    assert noted["backend"]["device"] == "first"
    assert noted["conditions"] == {"isolation": "in-process", "timeout_ms": 0}
    assert noted["code"] == code_digest()


def test_the_same_device_resumes(finished: Path) -> None:
    first = suite(Named(), finished, resume=True).run().results
    assert first == suite(Named(), finished, resume=True).run().results


def test_another_device_does_not_continue_a_run(finished: Path) -> None:
    before = finished.read_bytes()
    with pytest.raises(VyreError, match="device was 'first', here it is 'second'"):
        suite(Other(), finished, resume=True)
    assert finished.read_bytes() == before


@pytest.mark.parametrize("fact", ["driver", "toolchain", "version", "limits", "hardware", "canaries"])
def test_every_fact_binds(fact: str, tmp_path: Path) -> None:
    here = provenance(Named(), "cpu")
    with opened(tmp_path / "journal", resume=False) as journal:
        bind(journal, here)
        journal.append({"unit": 0})
    other: Any = "other" if fact in ("driver", "toolchain", "version") else ("other",)
    elsewhere = replace(here, backend=replace(here.backend, **{fact: other}))
    if fact == "canaries":
        elsewhere = replace(here, backend=replace(here.backend, canaries=(CanaryResult("x", "wrong"),)))
    with opened(tmp_path / "journal", resume=True) as again:
        bind(again, here)
        with pytest.raises(VyreError, match=f"{fact} was"):
            bind(again, elsewhere)


@pytest.mark.parametrize(
    "change", [{"code": "0" * 64}, {"vyre": "0.0.0"}, {"conditions": Conditions("process", 60_000)}]
)
def test_other_code_and_other_conditions_bind(change: dict[str, Any], tmp_path: Path) -> None:
    here = provenance(Named(), "cpu")
    with opened(tmp_path / "journal", resume=False) as journal:
        bind(journal, here)
    with opened(tmp_path / "journal", resume=True) as again, pytest.raises(VyreError, match="another place"):
        bind(again, replace(here, **change))


def test_a_journal_without_a_place_is_not_continued(finished: Path) -> None:
    head, _, *rest = read(finished)[0]
    journal = Journal(finished, head, resume=False)
    for entry in rest:
        journal.append(entry)
    journal.close()
    with pytest.raises(VyreError, match="does not say which device"):
        suite(Named(), finished, resume=True)


def test_lines_of_another_journal_are_not_believed(finished: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    suite(Other(), other).run()
    mine, theirs = (p.read_bytes().splitlines(keepends=True) for p in (finished, other))
    finished.write_bytes(b"".join([*mine[:2], *theirs[2:]]))
    assert len(read(finished)[0]) == 2


def rewritten(path: Path, change: Any) -> None:
    """The journal with its entries changed by somebody who makes the checksums anew."""
    head, *entries = read(path)[0]
    journal = Journal(path, head, resume=False)
    for entry in entries:
        if change(entry) is not False:
            journal.append(entry)
    journal.close()


def test_a_record_that_no_run_writes_is_refused(finished: Path) -> None:
    def fewer(entry: dict[str, Any]) -> None:
        if entry.get("unit") == 0:
            entry["record"]["cases"] = 1

    rewritten(finished, fewer)
    with pytest.raises(VyreError, match="does not say why"):
        suite(Named(), finished, resume=True).run()


def test_a_note_that_its_blocks_deny_is_made_again(finished: Path) -> None:
    honest = suite(Named(), finished, resume=True).run().results

    def failing(entry: dict[str, Any]) -> None:
        if entry.get("unit") == 0:
            entry["record"]["fails"] = [[0, 3, 1]]

    rewritten(finished, failing)
    found = suite(Named(), finished, resume=True).run().results
    assert not honest.failures
    assert found.failures[0].count == 3  # the note said that nothing failed


def test_a_device_that_changes_in_this_process_ends_the_run(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with pytest.raises(VyreError, match="device is 'second', not 'first'"):
        suite(Drifting(4), path).run()
    assert all("group" not in entry or entry["group"] == OPS[0] for entry in read(path)[0])
    with pytest.raises(VyreError, match="here it is 'second'"):
        suite(Other(), path, resume=True)


def test_a_device_that_changes_with_its_process_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARK, str(tmp_path / "died"))
    with Isolated(f"{__name__}:Fickle", timeout=60) as backend:
        assert conditions_of(backend) == Conditions("process", 60_000)
        assert backend.describe().device == "first"
        with pytest.raises(VyreError, match=r"the run began with: .*'second', not 'first'"):
            suite(backend, tmp_path / "journal").run()
        with pytest.raises(DeviceChanged):
            backend.require_same()
    assert [e for e in read(tmp_path / "journal")[0] if "record" in e or "group" in e] == []


def test_facts_are_told_apart_by_name() -> None:
    here = provenance(Named(), "cpu").backend
    assert differences(here, here) == []
    assert differences(here, replace(here, driver="new")) == [f"driver is 'new', not {here.driver!r}"]
    assert provenance(Named(), "cpu").digest == provenance(Named(), "cpu").digest
