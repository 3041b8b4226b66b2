"""The golden rows replayed on the reference backend, once for all tests."""

from __future__ import annotations

import pytest

from vyre.conform.golden import Outcome, load_rows
from vyre.conform.golden.replay import replay_all


@pytest.fixture(scope="session")
def reference_outcomes() -> list[Outcome]:
    return replay_all(load_rows(), "reference")
