"""Instructions called from Python kernels, like any op."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import In, Out, UnsupportedByBackend, ValidationError, default_registry, u32
from vyre.ops.intrinsics.subgroup import NAMES

SHUFFLE: Any = default_registry()["intrinsic.subgroup8.shuffle"]


def inclusive_scan(x: u32) -> u32:
    total = x
    lane = vyre.call("intrinsic.subgroup8.shuffle", 0, 0)
    for k in range(3):
        below = vyre.call("intrinsic.subgroup8.shuffle_up", total, 1 << k)
        total = total + below + lane
    return total


@vyre.kernel
def mixed(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    votes = vyre.call("intrinsic.subgroup8.ballot", a[i] & 1)
    out[i] = votes + 1000 * SHUFFLE(a[i], 3) + 1000000 * vyre.call("intrinsic.subgroup8.reduce_max", a[i])


@vyre.kernel
def scanned(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = inclusive_scan(a[i])


def test_a_kernel_calls_instructions_by_id_and_by_object() -> None:
    a = np.arange(64, dtype=np.uint32)
    expected = [0b10101010 + 1000 * (k // 8 * 8 + 3) + 1_000_000 * (k // 8 * 8 + 7) for k in range(64)]
    assert mixed(a, backend="reference").tolist() == expected


def test_a_function_made_of_instructions_is_an_op() -> None:
    got = scanned(np.ones(64, np.uint32), backend="reference")
    row = [1] * 8
    for k in range(3):
        row = [value + row[i - (1 << k) if i >= 1 << k else i] for i, value in enumerate(row)]
    assert got.tolist() == row * 8


def test_the_default_backend_refuses_and_names_the_op() -> None:
    with pytest.raises(UnsupportedByBackend, match=r"intrinsic\.subgroup8\.\w+ .* cpu"):
        mixed(np.arange(64, dtype=np.uint32), backend="cpu")


def test_a_divergent_call_is_told_at_its_line() -> None:
    def divergent(a: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        if a[i] > 3:
            out[i] = vyre.call("intrinsic.subgroup8.ballot", 1)

    with pytest.raises(ValidationError, match="V045") as caught:
        vyre.kernel(divergent)
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert "subgroup8.ballot" in location.text


GUIDE = Path(__file__).parent.parent.parent / "docs" / "intrinsics.md"


def test_the_guide_runs_and_names_every_instruction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    printed: list[str] = []
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        path = tmp_path / "guide.py"
        path.write_text(code, encoding="utf-8")
        runpy.run_path(str(path))
        printed.append(capsys.readouterr().out.strip())
    assert [line.split()[:2] for line in printed] == [["[28", "28"], ["[", "773."]]
    assert all(f"`{name}`" in text for name in NAMES)
