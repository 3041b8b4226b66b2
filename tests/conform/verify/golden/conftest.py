"""The golden rows replayed on the reference backend, once for all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vyre.conform.oracle.golden import load_rows
from vyre.conform.verify.golden.replay import replay_all

if TYPE_CHECKING:
    from vyre.conform.verify.golden.outcome import Outcome


@pytest.fixture(scope="session")
def reference_outcomes() -> list[Outcome]:
    return replay_all(load_rows(), "reference")
