"""What a certificate says of levels: all of a track, each granted or denied for reasons.

Two sets of rules grant them: today's (`certify/level.py`, with the table) and those of schema 1
(`certify/schema1_levels.py`). What they give has one shape, which depends on neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from vyre.conform.records.documents import Among

TRACKS = ("integer", "float", "approximate")
NAMES = ("L1", "L2", "L3", "L4", "L1f", "L2f", "L3f", "L4f", "L1a")


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a track: granted, or denied for these reasons."""

    level: Annotated[str, Among(*NAMES)]
    granted: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrackLevels:
    """All levels of a track, lowest first; `highest` is the best one granted, or nothing."""

    track: Annotated[str, Among(*TRACKS)]
    highest: str
    levels: tuple[Level, ...]
