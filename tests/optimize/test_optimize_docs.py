"""The page of rules says what the table says."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "optimizer.md"


@pytest.fixture
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "make_docs_optimizer.py"))


def test_the_page_is_what_the_table_says(tool: dict[str, Any]) -> None:
    assert PAGE.read_text(encoding="utf-8") == tool["page"](), "run tools/make_docs_optimizer.py --write"


def test_a_drifted_page_is_noticed_and_rewritten(
    tool: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "optimizer.md"
    copy.write_text(PAGE.read_text(encoding="utf-8").replace("add-zero", "add-nothing"), encoding="utf-8")
    monkeypatch.setitem(tool["main"].__globals__, "PAGE", copy)
    monkeypatch.setattr(sys, "argv", ["make_docs_optimizer.py"])
    assert tool["main"]() == 1
    monkeypatch.setattr(sys, "argv", ["make_docs_optimizer.py", "--write"])
    assert tool["main"]() == 0
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
