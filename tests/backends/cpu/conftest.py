"""Without llvmlite the tests of this folder are skipped."""

import pytest


@pytest.fixture(autouse=True)
def needs_llvmlite() -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
