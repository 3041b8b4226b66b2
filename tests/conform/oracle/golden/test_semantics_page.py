"""docs/semantics.md says what the data says."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]


@pytest.fixture
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "make_docs_semantics.py"))


def test_the_page_has_not_drifted(tool: dict[str, Any]) -> None:
    assert (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8") == tool["page"]()


def test_drift_is_noticed(
    tool: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = tmp_path / "semantics.md"
    page.write_text(tool["page"]().replace("`0xFFFFFFFE`", "`0xFFFFFFFD`", 1), encoding="utf-8")
    monkeypatch.setitem(tool["main"].__globals__, "PAGE", page)
    monkeypatch.setattr(sys, "argv", ["make_docs_semantics.py"])
    assert tool["main"]() == 1
    assert "run with --write" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["make_docs_semantics.py", "--write"])
    assert tool["main"]() == 0
    assert page.read_text(encoding="utf-8") == tool["page"]()
