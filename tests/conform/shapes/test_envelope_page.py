"""The page about the envelope says what the tables say."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from vyre.conform.shapes.features import CHOSEN

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "envelope.md").read_text(encoding="utf-8")


def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "make_docs_envelope.py"))


def test_the_page_is_as_the_tables_make_it() -> None:
    assert tool()["page"](PAGE) == PAGE, "run tools/make_docs_envelope.py --write"


def test_a_changed_number_is_seen_and_every_feature_is_there() -> None:
    drifted = PAGE.replace("134,217,728", "1")
    assert drifted != PAGE
    assert tool()["page"](drifted) == PAGE
    assert all(f"| {name}" in PAGE for name in CHOSEN)
