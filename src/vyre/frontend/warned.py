"""Warnings about kernels that are being decorated, and whether there were any: those are given every time."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from vyre.errors import KernelWarning

if TYPE_CHECKING:
    from vyre.errors import SourceLocation

_given = 0


def warn_at(place: SourceLocation, text: str) -> None:
    """A `KernelWarning` at the user's line."""
    note_warning()
    warnings.warn_explicit(text, KernelWarning, place.file, place.line)


def note_warning() -> None:
    global _given
    _given += 1


def warnings_given() -> int:
    """How many there were in this process. As long as it stays the same, nobody was warned."""
    return _given
