"""The page about fast kernels: its block runs, and what it says of the program and the text is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "fast-kernels.md"


def test_the_block_shows_the_program_and_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(compile(found.group(1), str(PAGE), "exec"), names)
    shown = capsys.readouterr().out
    assert "buffer a0: readonly Vec4U32" in shown
    assert shown.count(":= fma(") == 512, "a step of k by eight, 8 x 8 sums, written out"
    assert "const uint4* __restrict__ b_a0" in shown
