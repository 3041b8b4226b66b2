"""Tests compile anew: kernels kept on disk would hide what a compiler does today."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("VYRE_CACHE", "off")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files and the pins as they are now"
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether what is kept is to be written anew, not compared."""
    return bool(request.config.getoption("--update-golden"))
