"""Graphs in bulk: a right backend passes, a wrong one is named with its seed, and an ended run goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lab.bulk import graphs

if TYPE_CHECKING:
    from pathlib import Path

WRONG = "tests.wrong.tensors:WrongStride"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("VYRE_CACHE", "POCL_KERNEL_CACHE", "PYOPENCL_NO_CACHE"):
        monkeypatch.setenv(name, "off")


def test_a_planted_fault_is_named_with_its_seed_and_a_small_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert graphs.main(["--backend", WRONG, "--count", "6"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("seed ")
    assert "vyre graph 1" in said
    assert "and the evaluator says" in said
    last = said.splitlines()[-1]
    assert last.startswith(f"{WRONG}: 6 graphs")
    assert "0 differ" not in last


def test_a_run_that_was_ended_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = tmp_path / "done"
    asked = ["--backend", "cpu", "--count", "12", "--done", str(done)]
    assert graphs.main(asked) == 0
    assert "12 of them now" in capsys.readouterr().out
    head, first, second = done.read_text().splitlines()
    assert json.loads(head) == {"backend": "cpu", "doubles": True}
    done.write_text(f"{head}\n{first}\n{second[:9]}")
    assert graphs.main(asked) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "cpu: 12 graphs (seeds 0 to 11), 48 runs" in last
    assert "2 of them now" in last
    assert done.read_text().splitlines() == [head, first, second]


def test_what_failed_before_is_told_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = tmp_path / "done"
    part = {"first": 0, "last": 1, "runs": 4, "failures": ["seed 0, fused: y[0] is 1"]}
    done.write_text(f"{json.dumps({'backend': 'cpu', 'doubles': True})}\n{json.dumps(part)}\n")
    assert graphs.main(["--backend", "cpu", "--count", "1", "--done", str(done)]) == 1
    assert capsys.readouterr().out.startswith("seed 0, fused: y[0] is 1\n")


def test_runs_of_another_backend_are_not_continued(tmp_path: Path) -> None:
    done = tmp_path / "done"
    done.write_text('{"backend": "cuda", "doubles": true}\n')
    with pytest.raises(SystemExit, match="Fix: name another file"):
        graphs.main(["--backend", "cpu", "--count", "1", "--done", str(done)])


def test_doubles_are_left_out_where_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert graphs.main(["--backend", "cpu", "--count", "1", "--no-doubles"]) == 0
    assert "1 graphs without doubles" in capsys.readouterr().out
