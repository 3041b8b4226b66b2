"""`vyre print|run|validate FILE.py:kernel`, where the file imports its neighbours."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from vyre.cli.app import main

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = """
import vyre
from vyre import In, Out, u32
from vyre_test_neighbour import FACTOR

@vyre.kernel
def scaled(a: In[u32], out: Out[u32]):
    i = vyre.invocation_id(0)
    out[i] = a[i] * FACTOR
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "vyre_test_neighbour.py").write_text("FACTOR = 7\n")
    (tmp_path / "kernels.py").write_text(KERNEL)
    return f"{tmp_path / 'kernels.py'}:scaled"


def test_printed_and_validated(file: str) -> None:
    before = list(sys.path)
    shown = CliRunner().invoke(main, ["print", file])
    assert shown.exit_code == 0, shown.output
    assert "* 7" in shown.output
    assert CliRunner().invoke(main, ["validate", file]).exit_code == 0
    assert sys.path == before


def test_run(file: str, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([1, 2, 3], np.uint32))
    out = tmp_path / "out.npy"
    words = ["run", file, "--input", f"a={tmp_path / 'a.npy'}", "--output", f"out={out}"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert np.load(out).tolist() == [7, 14, 21]
