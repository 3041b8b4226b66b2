"""`vyre lower`, `vyre export` and `vyre diff` as a person and as a program meets them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from vyre.backends.protocol import BackendInfo, Executable
from vyre.backends.reference.backend import ReferenceBackend
from vyre.cli import main
from vyre.ir import Program
from vyre.lower.languages import LANGUAGES
from vyre.wire import byte_digest

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
vyre 1
workgroup 64 1 1
buffer a: readonly U32 @0
buffer half: uniform F16[3] @1
buffer out: readwrite U32 @2
buffer tile: workgroup BF16[5]
entry {
  let i = invocation.x
  if i < len(out) { out[i] = popcount(a[i]) + 1 }
}
"""


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.vyre"
    path.write_text(GOOD)
    return path


@pytest.mark.parametrize("command", ["lower", "export", "diff"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: vyre {command}" in result.output
    assert "--json" in result.output
    assert command in run("--help").output


MARKS = {
    "llvm": "@llvm.ctpop.i32",
    "wgsl": "@compute @workgroup_size(64, 1, 1)",
    "cuda": "__launch_bounds__(64)",
    "opencl": "reqd_work_group_size(64, 1, 1)",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_lower_prints_source(good: Path, language: str) -> None:
    result = run("lower", good, "--to", language)
    assert result.exit_code == 0
    assert MARKS[language] in result.output
    assert "vyre_main" in result.output


def test_helpers_that_are_not_used_are_not_printed(good: Path) -> None:
    text = run("lower", good, "--to", "cuda").output
    assert "popcount_u32" in text
    assert "clz_u32" not in text
    assert len(text.splitlines()) < 40


def test_lower_writes_a_file(good: Path, tmp_path: Path) -> None:
    out = tmp_path / "k.cl"
    result = run("lower", good, "--to", "opencl", "--output", out)
    assert result.exit_code == 0
    assert "OpenCL C" in result.output
    assert out.read_text() == run("lower", good, "--to", "opencl").output


def test_lower_as_json_carries_the_manifest(good: Path) -> None:
    record = json.loads(run("lower", good, "--to", "cuda", "--json").output)
    assert "vyre_main" in record["text"]
    assert record["manifest"]["language"] == "cuda"


def test_an_unknown_language_is_explained(good: Path) -> None:
    result = run("lower", good, "--to", "wgls")
    assert result.exit_code == 1
    assert "did you mean 'wgsl'?" in result.output


def test_an_invalid_program_is_not_lowered(tmp_path: Path) -> None:
    bad = tmp_path / "bad.vyre"
    bad.write_text(GOOD.replace("a[i]", "b[i]"))
    for command in ("lower", "export"):
        extra = ["--output-dir", str(tmp_path / "out")] if command == "export" else []
        result = run(command, bad, "--to", "wgsl", *extra)
        assert result.exit_code == 1
        assert "V004" in result.output
    assert not (tmp_path / "out").exists()


def test_what_has_no_exact_lowering_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "f.vyre"
    file.write_text("vyre 1\nworkgroup 1 1 1\nbuffer f: readwrite F64 @0\nentry {\n  f[0] = fsqrt(f[0])\n}\n")
    result = run("lower", file, "--to", "wgsl")
    assert result.exit_code == 1
    assert "FSqrt on F64 is not supported by the backend wgpu" in result.output


@pytest.mark.parametrize("language", LANGUAGES)
def test_export_writes_source_and_manifest(good: Path, tmp_path: Path, language: str) -> None:
    folder = tmp_path / "deep" / "er"
    result = run("export", good, "--to", language, "--output-dir", folder)
    assert result.exit_code == 0
    record = json.loads((folder / "manifest.json").read_text())
    source = (folder / record["source"]).read_text()
    assert source == run("lower", good, "--to", language).output
    assert record["format"] == "vyre-kernel-1"
    assert record["entry"] == "vyre_main"
    assert record["entry"] in source
    assert record["workgroup_size"] == [64, 1, 1]
    assert record["program"]["byte_digest"] == byte_digest(Program.from_text(GOOD))
    assert [b["name"] for b in record["buffers"]] == ["a", "half", "out"]
    assert [b["position"] for b in record["buffers"]] == [0, 1, 2]
    half = record["buffers"][1]
    assert (half["access"], half["element"], half["stride"], half["count"]) == ("Uniform", "F16", 2, 3)
    assert half["size_multiple"] == (4 if language == "wgsl" else 1)
    lengths = [w for w in record["hidden"]["words"] if "buffer" in w]
    assert [w["buffer"] for w in lengths] == ["a", "out"]
    assert record["limits"]["storage_buffers"] == 3
    assert record["limits"]["invocations_per_workgroup"] == 64
    assert record["limits"]["workgroup_bytes"] == (32 if language == "wgsl" else 10)


def test_export_passes_the_hidden_words_as_its_language_needs(good: Path, tmp_path: Path) -> None:
    hidden: dict[str, Any] = {}
    for language in LANGUAGES:
        out = run("export", good, "--to", language, "--output-dir", tmp_path / language, "--json").output
        hidden[language] = json.loads(out)["hidden"]
    assert hidden["wgsl"]["passed_as"] == "uniform"
    assert (hidden["wgsl"]["group"], hidden["wgsl"]["binding"], hidden["wgsl"]["bytes"]) == (0, 3, 32)
    assert hidden["cuda"]["first_argument"] == hidden["opencl"]["first_argument"] == 3
    names = [w["name"] for w in hidden["cuda"]["words"]]
    assert names == ["base_x", "base_y", "base_z", "len_a", "len_out"]
    assert hidden["llvm"]["words"][0]["name"] == "grid_x"


def test_export_into_a_file_is_explained(good: Path) -> None:
    result = run("export", good, "--to", "wgsl", "--output-dir", good)
    assert result.exit_code == 1
    assert "cannot make" in result.output


class OffByOne:
    """The reference, but every stored popcount is one too many."""

    name = "off"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a wrong interpreter")

    def compile(self, program: Program) -> Executable:
        text = program.to_text().replace("popcount(a[i])", "(popcount(a[i]) + 1)")
        return ReferenceBackend().compile(Program.from_text(text))


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    from vyre.backends import get

    known = {"off": OffByOne()}
    monkeypatch.setattr("vyre.backends.get", lambda name: known.get(name) or get(name))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]


def test_diff_of_a_backend_with_itself_finds_nothing(good: Path) -> None:
    result = run("diff", good, "reference", "reference", "--seed", "3")
    assert result.exit_code == 0
    assert "agree on every byte" in result.output


@pytest.mark.usefixtures("wrong")
def test_diff_shows_the_first_value_that_differs(good: Path, tmp_path: Path) -> None:
    array = tmp_path / "a.npy"
    np.save(array, np.array([0xFFFFFFFF, 1, 2], np.uint32))
    result = run("diff", good, "reference", "off", "--input", f"a={array}", "--length", "3")
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0] == "out[0] differs:"
    assert lines[1].split() == ["reference", "0x00000021", "33"]
    assert lines[2].split() == ["off", "0x00000022", "34"]
    assert "  entry[1].then[0]: out[i] = popcount(a[i]) + 1" in lines
    assert "first value that differs, in invocation (0, 0, 0):" in lines


@pytest.mark.usefixtures("wrong")
def test_diff_as_json(good: Path) -> None:
    result = run("diff", good, "reference", "off", "--json")
    assert result.exit_code == 1
    record = json.loads(result.output)
    assert not record["equal"]
    assert record["divergence"]["buffer"] == "out"
    assert record["divergence"]["intermediate"]["path"] == "entry[1].then[0]"
    equal = json.loads(run("diff", good, "reference", "reference", "--json").output)
    assert equal == {"equal": True, "divergence": None}


def test_diff_with_an_unknown_backend_is_explained(good: Path) -> None:
    result = run("diff", good, "reference", "nowhere")
    assert result.exit_code == 1
    assert "no backend is called 'nowhere'" in result.output


def test_diff_refuses_wrong_options(good: Path) -> None:
    assert "is not a grid" in run("diff", good, "reference", "reference", "--workgroups", "x").output
    assert "is not a length" in run("diff", good, "reference", "reference", "--length", "-1").output
    assert "no buffer 'b'" in run("diff", good, "reference", "reference", "--input", f"b={good}").output
