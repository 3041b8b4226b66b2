"""The page about the library names every function, and its code prints what its comments say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.library import decoding, graphs, hashing, matching, strings, tables

if TYPE_CHECKING:
    import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")


def test_the_page_prints_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    path = tmp_path / "library.py"
    path.write_text(code, encoding="utf-8")
    runpy.run_path(str(path))
    said = re.findall(r"^(?:print\(.*)?\)  # (.*)", code, re.MULTILINE)
    assert code.count("print(") == len(said)
    assert capsys.readouterr().out.splitlines() == said


def test_every_function_is_on_the_page() -> None:
    for part in (hashing, decoding, matching, strings, graphs, tables):
        for name in part.__all__:
            assert f"`{name}" in PAGE
