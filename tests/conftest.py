"""Marks the fast tests. Tests compile anew: kernels kept on disk would hide what a compiler does today."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

os.environ.setdefault("VYRE_CACHE", "off")
# Who reads a failure of these tests looks for our frames.
os.environ.setdefault("VYRE_TRACEBACK", "full")
# A shell starts what runs in the background with interrupts ignored, and some tests send them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
# Folders whose tests need no device, no system package and no long proof; what is marked slow is not fast.
FAST = {"compose", "frontend", "ir", "ops", "project", "text", "validate", "wire"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        inside = item.path.is_relative_to(TESTS)
        if inside and item.path.relative_to(TESTS).parts[0] in FAST and "slow" not in item.keywords:
            item.add_marker(pytest.mark.fast)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files and the pins as they are now"
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether what is kept is to be written anew, not compared."""
    return bool(request.config.getoption("--update-golden"))
