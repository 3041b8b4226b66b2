"""The helper modules of this folder are imported by name."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

pytest.importorskip("llvmlite", reason="llvmlite is not installed")
