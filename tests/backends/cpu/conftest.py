"""The helper modules of this folder are imported by name; without llvmlite its tests are skipped."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def needs_llvmlite() -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
