"""The page about tensors: its first block runs and says what it promises."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "tensors.md"


def test_the_first_block_runs() -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(compile(found.group(1), str(PAGE), "exec"), names)
    layer, arrays = names["layer"], [names[n] for n in ("x", "w", "b")]
    assert layer(*arrays, backend="cpu").tobytes() == layer.evaluate(*arrays).tobytes()
    assert "softmax" not in layer.plan(*arrays).explain({"rows": 2})
