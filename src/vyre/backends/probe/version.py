"""The version of what a device is asked about its floats: an answer holds for the same questions only."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from vyre.backends.verdicts import digest_of_files


@cache
def questions_version() -> str:
    return digest_of_files(Path(__file__).parent.glob("*.py"))
