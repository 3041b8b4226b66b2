"""The code of the kernel guide runs and prints what its comments say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

GUIDE = Path(__file__).parent.parent.parent / "docs" / "kernels.md"


def test_the_guide_prints_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(blocks)
    path = tmp_path / "guide.py"
    path.write_text(code, encoding="utf-8")
    runpy.run_path(str(path))
    said = re.findall(r"print\(.*\)  # (.*)", code)
    assert len(blocks) == 8
    assert code.count("print(") == len(said)
    assert capsys.readouterr().out.splitlines() == said
