"""The page about engines says what is so."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from vyre.conform.registry.engine import ENGINES
from vyre.conform.spec.invariant import EngineInvariant

PAGE = (Path(__file__).parent.parent.parent / "docs" / "engines.md").read_text(encoding="utf-8")


def test_the_example_prints_what_its_comments_say() -> None:
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    code = found[1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "docs/engines.md", "exec"), {})
    assert printed.getvalue().splitlines() == re.findall(r"\)  # (.*)", code)


def test_all_engines_and_invariants_are_on_the_page() -> None:
    for spec in ENGINES:
        assert spec.id in PAGE
    for invariant in EngineInvariant:
        assert f"| {invariant.name} |" in PAGE
