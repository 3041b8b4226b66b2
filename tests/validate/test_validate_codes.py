"""Every rule has a program or graph that breaks it and it alone, a near miss that passes, and a page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.validate.examples import example, near_miss
from vyre.errors import VyreError
from vyre.text import parse_graph
from vyre.validate import CODES, explain

ROOT = Path(__file__).parent.parent.parent
TOOL = ROOT / "tools" / "make_docs_validation.py"


def test_the_numbers_run_without_a_gap() -> None:
    assert list(CODES) == [f"V{n:03}" for n in range(1, 61)]


@pytest.mark.parametrize("code", list(CODES))
def test_the_example_breaks_this_rule_and_no_other(code: str) -> None:
    found = example(code).diagnostics()
    assert [d.code for d in found] == [code]
    (diagnostic,) = found
    graph = CODES[code].is_about_graphs
    assert re.match(r"[xy]$" if graph else r"(entry|buffers|workgroup_size|ops\[)", diagnostic.path)
    assert diagnostic.message.endswith(".")
    assert diagnostic.fix.endswith(".")
    assert f"{code}: " in str(diagnostic)
    assert "Fix: " in str(diagnostic)


@pytest.mark.parametrize("code", list(CODES))
def test_the_near_miss_passes(code: str) -> None:
    assert near_miss(code).diagnostics() == []


@pytest.mark.parametrize("code", [c for c, rule in CODES.items() if not rule.generated])
def test_example_and_near_miss_differ_little(code: str) -> None:
    rule = CODES[code]
    changed = set(rule.example.splitlines()) ^ set(rule.near_miss.splitlines())
    assert 1 <= len(changed) <= 8


@pytest.mark.parametrize("code", list(CODES))
def test_every_rule_has_a_page(code: str) -> None:
    rule = CODES[code]
    page = explain(code)
    assert page.startswith(f"{code}: {rule.title}\n")
    assert "Fix: " in page
    for line in (*rule.example.splitlines(), *rule.near_miss.splitlines()):
        assert line in page
    assert max(map(len, page.splitlines())) <= 100
    assert rule.deprecated is None


def test_the_rules_of_graphs_are_shown_on_graphs() -> None:
    assert [code for code, rule in CODES.items() if rule.is_about_graphs] == [
        f"V{n:03}" for n in range(51, 61)
    ]
    assert "This graph breaks the rule:\n\n    vyre graph 1\n" in explain("V057")
    assert "This program breaks the rule:\n\n    vyre 1\n" in explain("V001")


def test_the_examples_of_graphs_are_in_printed_form() -> None:
    for rule in CODES.values():
        if rule.is_about_graphs:
            for text in (rule.example, rule.near_miss):
                assert parse_graph(text).to_text() == text


def test_a_code_is_found_however_it_is_typed() -> None:
    assert explain("v23") == explain(" V023 ") == explain("V023")


@pytest.mark.parametrize("wrong", ["V999", "", "W010", "V", "barrier", "V0 10"])
def test_an_unknown_code_is_refused(wrong: str) -> None:
    with pytest.raises(VyreError, match="Fix:"):
        explain(wrong)


def test_an_unknown_code_names_its_neighbours() -> None:
    with pytest.raises(VyreError, match=r"did you mean .*V06"):
        explain("V065")


def test_the_documents_keep_their_actions() -> None:
    assert str(example("V023").diagnostics()[0]).endswith(
        "V023: cast to Bytes is unsupported in WGSL lowering. "
        "Fix: use buffer load/store directly for byte data."
    )
    assert example("V016").diagnostics()[0].fix == "register an Op with id acme.bits.twice before lowering."
    assert example("V027").diagnostics()[0].fix == "pass 2 arguments to primitive.math.add."
    assert example("V028").diagnostics()[0].fix == (
        "insert Cast { target: U32, value } or call an op with a Bool input."
    )
    assert example("V031").diagnostics()[0].fix == (
        "expose the required value as an argument or compose at Program level."
    )
    assert "Convert" in example("V012").diagnostics()[0].fix
    assert "signed.div" in example("V021").diagnostics()[0].fix


def run_tool(tool: Path, *arguments: str) -> int:
    return subprocess.run(
        [sys.executable, str(tool), *arguments], capture_output=True, check=False
    ).returncode


def test_the_docs_page_says_what_the_table_says() -> None:
    assert run_tool(TOOL) == 0


def test_a_drifted_docs_page_is_seen(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "docs").mkdir()
    tool = tmp_path / "tools" / TOOL.name
    tool.write_text(TOOL.read_text())
    assert run_tool(tool) == 1
    assert run_tool(tool, "--write") == 0
    assert run_tool(tool) == 0
    page = tmp_path / "docs" / "validation.md"
    page.write_text(page.read_text().replace("two buffers share a name", "two buffers share a binding", 1))
    assert run_tool(tool) == 1
