"""The table of digests: every operation has a program, the reference agrees, and a wrong backend is seen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vyre.backends import get
from vyre.conform.oracle.floats.operands import operands
from vyre.conform.oracle.floats.operations import OPERANDS, OUT, WORKGROUP, Operation, operations
from vyre.validate import check

ROOT = Path(__file__).parents[3]
DIGESTS = ROOT / "lab" / "floats" / "table_digests.json"
CASES = 24


def test_all_of_them_are_there() -> None:
    names = [o.name for o in operations()]
    assert len(names) == len(set(names)) == 163
    for name in (
        "FMulAdd BF16",
        "FPow F16",
        "FATan2 F32",
        "Cast F32 F16",
        "Convert BF16 U32 Ceil",
        "Convert I32 F16",
    ):
        assert name in names


@pytest.mark.parametrize("operation", operations(), ids=lambda o: o.name)
def test_the_reference_agrees_with_the_oracle(operation: Operation) -> None:
    program = operation.program()
    check(program)
    whole = operands(operation.source, operation.arity, 1 << 15)
    x = [np.ascontiguousarray(v[:: (1 << 15) // CASES][:CASES]) for v in whole]
    out = np.zeros(CASES, np.uint32)
    views = {name: v.view(np.uint8).data.toreadonly() for name, v in zip(OPERANDS, x, strict=False)}
    grid = (-(-CASES // WORKGROUP[0]), 1, 1)
    get("reference").compile(program).run({**views, OUT: out.view(np.uint8).data}, grid)
    assert out.tolist() == operation.expected(*x).tolist()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lab.floats.table", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def test_the_committed_digests_are_those_of_the_oracle(tmp_path: Path) -> None:
    made = tmp_path / "oracle.json"
    assert run("oracle", str(made), "--only", "FMulAdd BF16").returncode == 0
    (name, row), *_ = json.loads(made.read_text())["operations"].items()
    assert row == json.loads(DIGESTS.read_text())["operations"][name]


def test_a_backend_is_compared_and_shown(tmp_path: Path) -> None:
    out = tmp_path / "cpu.json"
    found = run("run", str(DIGESTS), "cpu", "--only", "FRound BF16", "--out", str(out))
    assert found.returncode == 0, found.stderr
    wrong = json.loads(DIGESTS.read_text())
    wrong["operations"]["FRound BF16"]["results"] = "0" * 64
    false = tmp_path / "false.json"
    false.write_text(json.dumps(wrong))
    caught = run("run", str(false), "cpu", "--only", "FRound BF16")
    assert caught.returncode == 1
    assert "different" in caught.stdout
    table = run("table", str(DIGESTS), str(out)).stdout
    assert "| FRound BF16 |" in table
    assert "| equal |" in table
