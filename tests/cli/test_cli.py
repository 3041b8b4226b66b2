"""The command line as a person and as a program meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner, Result

from vyre.cli import main
from vyre.ir import Program

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
vyre 1
workgroup 64 1 1
buffer a: readonly U32 @0
buffer out: readwrite U32 @1
entry {
  let i = invocation.x
  if i < len(out) { out[i] = popcount(a[i]) }
}
"""
BAD = GOOD.replace("out[i] = popcount(a[i])", "out[j] = popcount(b[i])")


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.vyre"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.vyre"
    path.write_text(BAD)
    return path


@pytest.mark.parametrize("command", ["validate", "print", "run", "explain", "ops", "backends", "certify"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: vyre {command}" in result.output
    assert "--json" in result.output


def test_validate_accepts_a_valid_program(good: Path) -> None:
    result = run("validate", good)
    assert result.exit_code == 0
    assert "valid" in result.output


def test_validate_prints_all_errors_and_fails(bad: Path) -> None:
    result = run("validate", bad)
    assert result.exit_code == 1
    assert "V004" in result.output
    assert "V006" in result.output
    assert result.output.count("Fix:") == 2


def test_validate_as_json(bad: Path) -> None:
    record = json.loads(run("validate", bad, "--json").output)
    assert not record["valid"]
    assert {d["code"] for d in record["diagnostics"]} == {"V004", "V006"}


def test_print_converts_to_wire_and_back(good: Path, tmp_path: Path) -> None:
    wire = tmp_path / "good.bin"
    assert run("print", good, "--wire", wire).exit_code == 0
    assert Program.from_wire(wire.read_bytes()) == Program.from_text(GOOD)
    assert run("print", wire).output == run("print", good).output
    record = json.loads(run("print", wire, "--json").output)
    assert record["nodes"] == Program.from_text(GOOD).size


def test_run_reads_and_writes_arrays(good: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([1, 3, 7, 0xFFFFFFFF], np.uint32))
    np.save(tmp_path / "out.npy", np.zeros(4, np.uint32))
    result = run(
        "run", good, "--input", f"a={tmp_path}/a.npy", "--input", f"out={tmp_path}/out.npy",
        "--output", f"out={tmp_path}/result.npy",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "1 2 3 32" in result.output
    assert np.load(tmp_path / "result.npy").tolist() == [1, 2, 3, 32]


def test_run_as_json_names_a_digest(good: Path, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(8))
    np.save(tmp_path / "out.npy", np.zeros(2, np.uint32))
    result = run(
        "run", good, "--input", f"a={tmp_path}/a.bin", "--input", f"out={tmp_path}/out.npy", "--json"
    )
    assert result.exit_code == 0, result.output
    (record,) = json.loads(result.output)["buffers"]
    assert record["first"] == [0, 0]
    assert len(record["sha256"]) == 64


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--input", "a"], "NAME=FILE"),
        (["--input", "a=missing.npy"], "cannot read"),
        (["--workgroups", "one"], "not a grid"),
        (["--backend", "referense"], "reference"),
    ],
)
def test_run_explains_what_is_wrong(good: Path, args: list[str], says: str) -> None:
    result = run("run", good, *args)
    assert result.exit_code == 1
    assert says in result.output
    assert "Fix:" in result.output


def test_a_file_that_is_no_program_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "noise"
    path.write_bytes(b"\xff\xfe\x00garbage")
    result = run("print", path)
    assert result.exit_code == 1
    assert "neither a wire form" in result.output
    path.write_text("vyre 1\nworkgroup 64 1 1\nentry { out[ = 1 }\n")
    result = run("validate", path)
    assert result.exit_code == 1
    assert "noise:3:" in result.output


def test_a_kernel_in_a_python_file(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import vyre\nfrom vyre import In, Out, u32\n\n@vyre.kernel\n"
        "def twice(a: In[u32], out: Out[u32]):\n"
        "    i = vyre.invocation_id(0)\n    out[i] = a[i] * 2\n"
    )
    assert run("validate", f"{path}:twice").exit_code == 0
    assert "a[i] * 2" in run("print", f"{path}:twice").output
    missing = run("print", f"{path}:thrice")
    assert missing.exit_code == 1
    assert "twice" in missing.output
    assert run("print", path).exit_code == 1


def test_explain_shows_a_page_and_a_list() -> None:
    assert "Bytes" in run("explain", "V023").output
    assert len(run("explain").output.splitlines()) >= 42
    unknown = run("explain", "V999")
    assert unknown.exit_code == 1
    assert "Fix:" in unknown.output


def test_ops_lists_and_shows() -> None:
    listing = run("ops", "primitive.bitwise")
    assert "primitive.bitwise.xor" in listing.output
    assert "a ^ b" in run("ops", "primitive.bitwise.xor").output
    assert len(json.loads(run("ops", "--json").output)) > 50
    assert run("ops", "nothing.here").exit_code == 1


def test_backends_names_the_default() -> None:
    assert "* " in run("backends").output
    records = json.loads(run("backends", "--json").output)
    assert [r["name"] for r in records if r["default"]]
    assert all(r["available"] or r["install"] for r in records)


def test_an_error_is_json_when_json_was_asked(tmp_path: Path) -> None:
    result = run("print", tmp_path / "none", "--json")
    assert result.exit_code == 1
    assert json.loads(result.output)["fix"]
