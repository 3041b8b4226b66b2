"""`vyre print`, `validate` and `explain` on graphs of tensors; other commands say that they take programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from vyre.cli import main
from vyre.wire import GRAPH_MAGIC

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = """vyre graph 1
x = input F32[n, 4]
y = transpose(x) axes [1, 0]
output y
"""


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.vyre"
    path.write_text(f"// a comment first\n{GRAPH}")
    return path


def test_print_converts_a_graph_to_wire_and_back(graph: Path, tmp_path: Path) -> None:
    assert run("print", graph).output == GRAPH
    wire = tmp_path / "graph.bin"
    assert run("print", graph, "--wire", wire).exit_code == 0
    assert wire.read_bytes().startswith(GRAPH_MAGIC)
    assert run("print", wire).output == GRAPH
    record = json.loads(run("print", wire, "--json").output)
    assert (record["text"], record["values"]) == (GRAPH, 2)
    assert len(record["byte_digest"]) == 64


def test_validate_says_what_a_graph_holds_or_breaks(graph: Path) -> None:
    result = run("validate", graph)
    assert (result.exit_code, result.output) == (0, f"{graph}: valid, 2 values, 1 input, 1 output.\n")
    graph.write_text(GRAPH.replace("[1, 0]", "[1, 2]"))
    result = run("validate", graph)
    assert result.exit_code == 1
    assert result.output.startswith("y: V054: [1, 2] does not order the 2 axes of F32[n, 4]. Fix: ")
    assert "`vyre explain V054` says more." in result.output
    record = json.loads(run("validate", graph, "--json").output)
    assert (record["valid"], record["diagnostics"][0]["code"]) == (False, "V054")
    assert "This graph breaks the rule:" in run("explain", "V054").output


def test_a_broken_text_names_its_line(graph: Path) -> None:
    graph.write_text(GRAPH.replace("transpose", "transpse"))
    result = run("validate", graph)
    assert result.exit_code == 1
    assert f"{graph}:3:5: " in result.output
    assert "did you mean transpose?" in result.output


@pytest.mark.parametrize("words", [["lower", "--to", "wgsl"], ["check"], ["print", "--inline"]])
def test_commands_for_programs_say_so(words: list[str], graph: Path) -> None:
    result = run(words[0], graph, *words[1:])
    assert result.exit_code == 1
    assert "holds a graph of tensors" in result.output
    assert "Fix: " in result.output
