"""The page about tensors: its first blocks run and say what they promise."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tensors.md"


def test_the_first_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(blocks[0], str(PAGE), "exec"), names)
    capsys.readouterr()
    exec(compile(blocks[1], str(PAGE), "exec"), names)
    said = re.findall(r"^print\(.*\)  # (.*)$", blocks[1], re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said
    layer, arrays = names["layer"], [names[n] for n in ("x", "w", "b")]
    assert layer(*arrays, backend="cpu").tobytes() == layer.evaluate(*arrays).tobytes()
    assert "softmax" not in layer.plan(*arrays).explain({"rows": 2})
