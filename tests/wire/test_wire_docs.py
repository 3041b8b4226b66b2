"""The page about the format says what the code does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from vyre.graph.fields import MAX_LISTED
from vyre.wire import GRAPH_MAGIC, MAGIC, MAX_STRING_BYTES, encode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "wire-form.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [text for name, text in fenced if name == language]


def make_docs() -> Any:
    spec = importlib.util.spec_from_file_location("make_docs_wire", ROOT / "tools" / "make_docs_wire.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_is_written_as_the_page_shows_it() -> None:
    scope: dict[str, Any] = {}
    exec(blocks("python")[0], scope)
    dump = next(block for block in blocks("") if block.startswith("89 56"))
    rows = (re.match(r"(?:[0-9a-f]{2} ?)+", line) for line in dump.splitlines())
    shown = bytes.fromhex(" ".join(row[0] for row in rows if row))
    assert encode(scope["program"]) == shown


def test_the_tag_tables_are_up_to_date() -> None:
    assert make_docs().page(PAGE) == PAGE


def test_a_table_that_drifted_is_noticed() -> None:
    drifted = PAGE.replace("| 8 | Barrier |", "| 9 | Barrier |")
    assert drifted != PAGE
    assert make_docs().page(drifted) != drifted


def test_the_page_names_the_magic_and_the_limit() -> None:
    assert MAGIC.hex(" ") in PAGE
    assert GRAPH_MAGIC.hex(" ") in PAGE
    assert f"at most {MAX_LISTED} entries" in PAGE
    assert f"{MAX_STRING_BYTES:,} bytes" in PAGE
