"""A finished run is never lost to its report, and nothing a device calls itself breaks one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vyre.cli import main
from vyre.cli.certified import seconds_by_stage
from vyre.conform.certify.statement import read
from vyre.report import render

ROOT = Path(__file__).parent.parent.parent
FEW = ("--ops", "value.lane.u64.0", "--cases", "16", "--quick", "--in-process", "--stage", "ops")
ODD = """
from dataclasses import replace
from vyre.backends.reference.backend import ReferenceBackend
from vyre.errors import UnsupportedByBackend


class Odd(ReferenceBackend):
    name = "odd"

    def describe(self):
        odd = "GPU \\ud800 \\x1b[31m\\nsecond line"
        return replace(super().describe(), device=odd, driver=odd, toolchain=odd)


class Refusing(Odd):
    def compile(self, program):
        raise UnsupportedByBackend("everything", "odd", why="\\ud800 \\x1b[2J")


class Raising(Odd):
    def compile(self, program):
        raise ValueError("\\ud800 \\x1b[2J")
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd_backends.py").write_text(ODD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("vyre.conform.verify.cases.PER_CLASS", 2)
    monkeypatch.setattr("vyre.conform.verify.cases.SHAPED", 16)
    monkeypatch.setattr("vyre.conform.verify.cases.BOUNDARY_LIMIT", 1 << 11)
    monkeypatch.setattr("vyre.conform.suite.plan.QUICK_LARGEST", 0)


def vyre(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize("name", ["Odd", "Refusing", "Raising"])
def test_half_a_surrogate_pair_and_control_characters_end_nothing(name: str) -> None:
    options = ("--certificate", "c.json", "--junit", "junit.xml", "--results", "results.json")
    result = vyre("certify", "--backend-class", f"odd_backends:{name}", *FEW, *options)
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert "\x1b[31m" not in result.output
    document = read(Path("c.json").read_bytes())
    assert document.certificate.backend.device.isprintable()
    assert "D800" in document.certificate.backend.device
    assert render(document).encode()
    assert Path("junit.xml").read_bytes()
    assert json.loads(Path("results.json").read_bytes())
    checked = vyre("verify", "c.json")
    assert checked.exit_code == 0, checked.output
    again = vyre(
        "certify", "--backend-class", f"odd_backends:{name}", *FEW, "--resume", "--certificate", "d.json"
    )
    assert isinstance(again.exception, SystemExit | None), again.exception
    assert Path("d.json").read_bytes() == Path("c.json").read_bytes()


@pytest.mark.parametrize("option", ["--junit", "--results"])
def test_a_report_that_cannot_be_written_is_said_after_the_certificate_is(option: str) -> None:
    result = vyre("certify", "reference", *FEW, "--certificate", "c.json", option, "no/such/folder/file")
    assert result.exit_code == 1
    assert "The run is finished, and its certificate is c.json." in result.output
    assert "certificate  c.json" in result.output
    assert vyre("verify", "c.json").exit_code == 0


def test_a_summary_that_fails_does_not_hide_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("L9")

    monkeypatch.setattr("vyre.conform.certify.summary.summary", broken)
    result = vyre("certify", "reference", *FEW, "--certificate", "c.json")
    assert result.exit_code == 1
    assert "certificate  c.json" in result.output
    assert "The run is finished" in result.output
    assert vyre("verify", "c.json").exit_code == 0


def test_a_certificate_that_cannot_be_put_there_is_kept_with_its_journal() -> None:
    result = vyre("certify", "reference", *FEW, "--certificate", "no/such/folder/mine.json")
    assert result.exit_code == 1
    (kept,) = Path(".vyre/runs").glob("*/mine.json")
    assert f"its certificate is {kept}." in result.output
    assert vyre("verify", str(kept)).exit_code == 0


def test_endless_certificates_are_not_read_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.files.DOCUMENT_BYTES", 1 << 20)
    for command in (("verify",), ("report",), ("merge", "-o", "x")):
        result = vyre(*command, "/dev/zero")
        assert result.exit_code == 1
        assert "has more than 1048576 bytes" in result.output


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None, reason="this is not a checkout"
)
def test_what_make_certify_writes_is_ignored_by_git() -> None:
    """Every file that the commands of the target write by default, approximate certificates included."""
    command = next(
        line.strip() for line in (ROOT / "Makefile").read_text().splitlines() if "vyre certify" in line
    )
    file = command.split("--certificate ")[1].split()[0]
    made = vyre(
        "certify", "reference", *FEW, "--stage", "approximate", "--programs", "1", "--certificate", file
    )
    assert made.exit_code in (0, 1), made.output
    vyre("report", file)
    found = sorted(
        str(p) for p in Path().rglob("*") if p.is_file() and p.suffix in (".json", ".html", ".jsonl")
    )
    stem = Path(file).stem
    assert {f"{stem}.json", f"{stem}.html", f"{stem}-approximate.json"} <= set(found)
    run = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=ROOT, input="\n".join(found), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.stdout.split() == found


def test_the_seconds_of_stages_are_told_the_longest_first_and_ops_together() -> None:
    spent = {"value.a": 1.5, "shapes": 12.4, "value.b": 2.6, "races": 0.4}
    assert seconds_by_stage(spent, ("value.a", "value.b")) == ["shapes 12", "ops 4"]
