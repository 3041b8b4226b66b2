"""The specification depends on the language's core and on nothing that runs it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import vyre

FOLDER = Path(vyre.__file__).parent / "conform" / "spec"


def outside(source: str) -> set[str]:
    """Modules of vyre that a source imports, beyond the core and the specification itself."""
    found = {n.module for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom) and n.module}
    own = ("vyre.ir", "vyre.errors", "vyre.semantics", "vyre.conform.spec")
    return {m for m in found if m.startswith("vyre") and not m.startswith(own)}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.name)
def test_the_specification_imports_only_the_core(path: Path) -> None:
    assert outside(path.read_text(encoding="utf-8")) == set()


def test_a_wrong_import_is_seen() -> None:
    assert outside("from vyre.reference import run\nfrom vyre.ir.expr import Var") == {"vyre.reference"}
