"""`vyre doctor`: what works was run, what hangs or dies is named, the status is the default's."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from vyre.backends import chosen
from vyre.cli import doctor_
from vyre.cli.app import main
from vyre.cli.examination import EXTRAS, Found, tried


def test_long_lines_are_folded_beside_their_name_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    device = "a device with a name of many words, " * 5 + "and its driver"
    assert doctor_._folded(device) == [device]  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(doctor_.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    folded = doctor_._folded(device)  # pyright: ignore[reportPrivateUsage]
    assert len(folded) > 3
    assert " ".join(folded) == device
    assert max(map(len, folded)) <= 60 - 17


def test_a_backend_that_works_has_run_a_kernel() -> None:
    found = tried("cpu")
    assert found.works, found
    assert "LLVM" in found.what


def test_every_extra_is_asked_for() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    extras = set(tomllib.loads(text)["project"]["optional-dependencies"])
    assert set(EXTRAS) == extras - {"cpu", "wgpu", "dawn", "cuda", "opencl", "all"}


def test_one_that_hangs_costs_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.cli.examination._TRIAL", "import time; time.sleep(60)")
    found = tried("cpu", patience=0.5)
    assert not found.works
    assert "did not end within 0.5 s" in found.what
    assert found.fix


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        ("import os; os.kill(os.getpid(), 11)", "signal 11"),
        ("raise RuntimeError('the driver is gone')", "RuntimeError: the driver is gone"),
        ("pass", "it said nothing"),
    ],
)
def test_one_that_dies_is_named(monkeypatch: pytest.MonkeyPatch, trial: str, said: str) -> None:
    monkeypatch.setattr("vyre.cli.examination._TRIAL", trial)
    found = tried("cpu")
    assert not found.works
    assert said in found.what


def test_wrong_bits_are_no_health(monkeypatch: pytest.MonkeyPatch) -> None:
    from vyre.cli import examination

    def wrong(_name: str) -> bool:
        return False

    monkeypatch.setattr(examination, "_hamming", wrong)
    said = examination.trial("cpu")
    assert not said["works"]
    assert "wrong bits" in said["what"]
    assert "vyre certify cpu" in said["fix"]


@pytest.mark.parametrize("works", [True, False])
def test_the_status_is_the_default_s(monkeypatch: pytest.MonkeyPatch, works: bool) -> None:
    fix = "" if works else "pip install it"

    def found(name: str) -> Found:
        return Found(name, works, "a device", fix)

    monkeypatch.setattr("vyre.cli.examination.tried", found)
    monkeypatch.setattr(chosen, "_everywhere", ["cpu"])
    shown = CliRunner().invoke(main, ["doctor"])
    assert shown.exit_code == (not works)
    assert ("Fix: pip install it" in shown.output) is not works
    assert "(the default)" in shown.output
    facts = json.loads(CliRunner().invoke(main, ["doctor", "--json"]).output)
    assert facts["healthy"] is works
    assert {row["name"] for row in facts["software devices"]} == {"lavapipe", "SwiftShader", "PoCL"}
