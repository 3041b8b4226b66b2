"""The same tests on SwiftShader, the adversary, in a process of its own: a loader binds its driver once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.webgpu.webgpu_stacks import SWIFTSHADER

HERE = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif(not SWIFTSHADER, reason="SwiftShader is missing: apt-get install chromium")
@pytest.mark.skipif(os.environ.get("VK_ICD_FILENAMES") == SWIFTSHADER, reason="this is SwiftShader already")
@pytest.mark.parametrize("name", ["test_webgpu_exact.py", "test_webgpu_runs.py"])
def test_swiftshader(name: str) -> None:
    environment = os.environ | {"VK_ICD_FILENAMES": SWIFTSHADER}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(HERE / name)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "skipped" not in ran.stdout
