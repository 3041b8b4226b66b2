"""The page about certificates says what the table of levels says."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from vyre.conform.spec.levels import TABLE

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")


def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "make_docs_levels.py"))


def test_the_page_is_as_the_table_makes_it() -> None:
    assert tool()["page"](PAGE) == PAGE, "run tools/make_docs_levels.py --write"


def test_a_changed_number_is_seen_and_every_level_is_there() -> None:
    drifted = PAGE.replace("`programs` 256", "`programs` 1")
    assert drifted != PAGE
    assert tool()["page"](drifted) == PAGE
    assert all(f"| **{row.level}** {row.title} |" in PAGE for row in TABLE)
