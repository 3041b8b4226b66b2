"""Kernels as files: the front end reads source, so refusals are tested on real files."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import pytest

from vyre.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEADER = """\
import math
from typing import Literal
import numpy as np
import vyre
from vyre import In, InOut, Out, Shared, SharedAtomic, Uniform
from vyre import bf16, boolean, f16, f32, f64, i32, packed_bytes, u32, u64, u128, vec2, vec4
"""
MARK = "§"


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """Runs a module made of six lines of imports and the given text, and gives its names."""

    def run(text: str) -> dict[str, Any]:
        path = tmp_path / "user_kernel.py"
        path.write_text(HEADER + text, encoding="utf-8")
        return runpy.run_path(str(path))

    return run


@pytest.fixture
def refused(load: Callable[[str], dict[str, Any]]) -> Callable[[str], KernelError]:
    """Loads text with a mark at the place that must be blamed, and gives the error."""

    def run(marked: str) -> KernelError:
        before, _, after = marked.partition(MARK)
        line = (HEADER + before).count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        with pytest.raises(KernelError) as caught:
            load(before + after)
        place = caught.value.location
        assert (place.line, place.column) == (line, column)
        assert place.file.endswith("user_kernel.py")
        assert place.text == (HEADER + before + after).splitlines()[line - 1]
        assert f"user_kernel.py:{line}:{column}" in str(caught.value)
        assert "Fix: " in str(caught.value)
        return caught.value

    return run
