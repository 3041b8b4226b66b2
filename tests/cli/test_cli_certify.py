"""`vyre certify`: what it prints, writes and exits with."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from click.testing import CliRunner

from vyre.cli import certify_, main
from vyre.conform.certify.adopters import junit, read_expected
from vyre.conform.records.results import Results
from vyre.errors import VyreError

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from vyre.certification import Certificate

FAULTY = """
from tests.wrong import DivisionByZero, Interpreted


class Faulty(Interpreted, DivisionByZero):
    name = "faulty"
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faulty_backend.py").write_text(FAULTY)
    monkeypatch.chdir(tmp_path)


def certify(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["certify", *arguments])


FEW = ("--ops", "value.lane.u64.0", "--ops", "cast.u32.i32", "--cases", "16", "--quick")
DIV = ("--backend-class", "faulty_backend:Faulty", "--ops", "primitive.math.div", "--cases", "16", "--quick")
SMALL = {"PER_CLASS": 2, "SHAPED": 16}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter is slow: few cases of every kind, and no exhaustive ones."""
    for name, value in SMALL.items():
        monkeypatch.setattr(f"vyre.conform.verify.cases.{name}", value)
    monkeypatch.setattr("vyre.conform.verify.cases.BOUNDARY_LIMIT", 1 << 11)
    monkeypatch.setattr("vyre.conform.suite.plan.QUICK_LARGEST", 0)


@pytest.mark.usefixtures("small")
def test_a_backend_that_is_right(tmp_path: Path) -> None:
    done = certify("reference", *FEW, "--in-process", "--results", "out.json", "--junit", "out.xml")
    assert done.exit_code == 0, done.output
    assert "cases that ran agree" in done.output
    results = Results.from_json((tmp_path / "out.json").read_bytes())
    assert [op.id for op in results.ops] == ["value.lane.u64.0", "cast.u32.i32"]
    (kept,) = tmp_path.glob(".vyre/runs/reference-*/results.json")
    assert kept.read_bytes() == (tmp_path / "out.json").read_bytes()
    assert "seconds" not in kept.read_text()
    assert json.loads(kept.with_name("annex.json").read_text())["seconds"] > 0
    root = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert {s.get("name") for s in root} == {"value.lane.u64.0", "cast.u32.i32"}
    assert {s.get("failures") for s in root} == {"0"}


def test_several_processes_need_the_backend_apart() -> None:
    done = certify("reference", *FEW, "--in-process", "--processes", "2")
    assert done.exit_code != 0
    assert "2 processes need a backend" in done.output


@pytest.mark.usefixtures("small")
def test_a_backend_that_is_wrong(tmp_path: Path) -> None:
    done = certify(*DIV, "--in-process", "--junit", "out.xml")
    assert done.exit_code == 1
    assert "FAILURES" in done.output
    bits = " ".join(["1" * 8] * 4)
    assert f"  input     0x0, 0x0\n  expected  0x0         {bits.replace('1', '0')}" in done.output
    assert f"  actual    0xFFFFFFFF  {bits}\n{'':24}{bits.replace('1', '^')}" in done.output
    smallest = "primitive.math.div/inputs/0x0,0x0"
    replay = f"vyre certify --backend-class faulty_backend:Faulty --seed 24301 --case {smallest}"
    assert replay in done.output
    again = certify(*replay.split()[2:], "--in-process")
    assert again.exit_code == 1
    assert "expected  0x0\n  actual    0xFFFFFFFF" in again.output
    assert "x0[i] / x1[i]" in again.output
    suite = ElementTree.parse(tmp_path / "out.xml").getroot()[0]
    (case,) = [c for c in suite if c.get("name") == "parity"]
    failure = case.find("failure")
    assert failure is not None
    assert "expected 0x0, actual 0xFFFFFFFF" in str(failure.get("message"))
    assert int(str(suite.get("failures"))) == len(suite.findall("testcase/failure")) >= 1
    assert int(str(suite.get("tests"))) == len(suite)


@pytest.mark.usefixtures("small")
def test_a_level_that_is_needed_and_denied_ends_in_1() -> None:
    done = certify("reference", *FEW, "--in-process", "--needs", "L1f", "--needs", "L2")
    assert done.exit_code == 1
    assert "not granted, and needed: L2, L1f" in done.output
    assert "cases that ran agree" in done.output


@pytest.mark.parametrize(("granted", "needed", "code"), [("L3", "L2", 0), ("L2", "L2", 0), ("L1", "L2", 1)])
def test_a_level_includes_those_below_it(granted: str, needed: str, code: int) -> None:
    made = SimpleNamespace(levels={"integer": granted}, approximate=None, ok=True)
    ended: object = 0
    try:
        certify_._end(cast("Certificate", made), [needed])
    except SystemExit as end:
        ended = end.code
    assert ended == code


@pytest.mark.usefixtures("small")
def test_expected_failures_are_excused_and_expected_passes_are_not(tmp_path: Path) -> None:
    file = tmp_path / "known.txt"
    file.write_text("# what we know\nprimitive.math.div: our divider answers all ones\n")
    done = certify(*DIV, "--in-process", "--expected-failures", "known.txt")
    assert done.exit_code == 0, done.output
    assert "failed as expected" in done.output
    assert "our divider answers all ones" in done.output
    file.write_text("primitive.math.div: known\ncast.u32.i32: long repaired\n")
    done = certify(*DIV, "--in-process", "--expected-failures", "known.txt", "--json")
    assert done.exit_code == 1
    results = Results.from_json(done.output)
    assert [e.pattern for e in results.unexpected_passes] == ["cast.u32.i32"]
    assert results.unexpected == ()
    assert 'skipped message="an expected failure"' in junit(results)


def test_an_expected_failure_needs_a_reason() -> None:
    assert read_expected("\n# x\n a/b/3:  known \n") == [("a/b/3", "known")]
    with pytest.raises(VyreError, match="gives no reason") as error:
        read_expected("a: b\nprimitive.math.div\n", file="known.txt")
    assert error.value.place == "known.txt:2"


def test_one_case_alone_in_a_process_of_its_own() -> None:
    done = certify("reference", "--case", "primitive.math.add/inputs/0xFFFFFFFF,2", "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.output)
    assert (report["status"], report["expected"], report["actual"]) == ("passed", "0x1", "0x1")
    assert "x0[i] + x1[i]" in report["program"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nosuch",), "no backend is called 'nosuch'"),
        (("reference", "--backend-class", "a:B"), "both named"),
        (("--backend-class", "nocolon"), "expected MODULE:CLASS"),
        (("--backend-class", "nomodule:B"), "no backend class at 'nomodule:B'"),
        (("reference", "--shard", "1-2", "--in-process"), "expected I/N"),
        (("reference", "--shard", "3/2", "--in-process"), "no shard 3 of 2"),
        (("reference", "--ops", "nothing.*", "--in-process"), "no op matches"),
        (("reference", "--stage", "nothing", "--in-process"), "no stage is called"),
        (("reference", "--expected-failures", "nofile"), "cannot read 'nofile'"),
        (("reference", "--case", "nothing", "--in-process"), "no case is called"),
        (("reference", "--needs", "L9"), "Unknown level 'L9'"),
        (
            ("reference", "--needs", "L1", "--case", "nothing"),
            "one case and the inputs of functions earn none",
        ),
    ],
)
def test_mistakes_are_explained(arguments: tuple[str, ...], message: str) -> None:
    done = certify(*arguments)
    assert done.exit_code == 1
    assert message in done.output
    assert "Fix:" in done.output
