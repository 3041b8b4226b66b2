"""What semantics is compared with takes nothing from it but tables of plain numbers."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from vyre.conform.spec.independence import APART, PLAIN_TABLES, sharing

if TYPE_CHECKING:
    from pathlib import Path


def modules(room: str) -> list[str]:
    """The room and every module in it."""
    path = getattr(import_module(room), "__path__", None)
    inside = [] if path is None else [m.name for m in pkgutil.walk_packages(path, f"{room}.")]
    return [room, *inside]


@pytest.mark.parametrize("room", APART)
def test_what_judges_semantics_does_not_read_it(room: str) -> None:
    assert [v.way for name in modules(room) for v in sharing(name)] == []


@pytest.mark.parametrize("table", PLAIN_TABLES)
def test_the_tables_that_all_may_share_reach_no_meaning(table: str) -> None:
    assert sharing(table, ("vyre.semantics", "vyre.reference", "vyre.numeric", "vyre.conform")) == []


def test_a_shared_definition_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "borrowing_judge.py").write_text(
        "def answer(a, b):\n    from vyre.semantics.operators import add\n    return add"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = sharing("borrowing_judge")
    assert any("borrowing_judge -> vyre.semantics.operators" in v.way for v in found)
    sys.modules.pop("borrowing_judge", None)
