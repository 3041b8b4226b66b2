"""Fixtures of the tests on a scripted driver."""

from __future__ import annotations

import pytest

from tests.backends.cuda.scripted_arrays import load_libraries


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The stream that each library works on."""
    return load_libraries(monkeypatch)
