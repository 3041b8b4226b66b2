"""Levels that a device may lack without losing a level: doubles, and ways into a backend that
its protocol leaves open.

MAY_LACK["payload"]                       the levels of a feature that a backend may refuse
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.process.entrances import ENTRANCES

if TYPE_CHECKING:
    from collections.abc import Mapping

DOUBLES = "F64"
MAY_LACK: Mapping[str, tuple[str, ...]] = {
    "payload": (DOUBLES,),
    "element type": (DOUBLES,),
    "entrance": tuple(e for e in ENTRANCES if e != "run"),
}
