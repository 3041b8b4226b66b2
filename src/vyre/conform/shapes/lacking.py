"""Levels that a device may lack: doubles, and ways into a backend that its protocol leaves open.

    MAY_LACK["payload"]                       the levels of a feature that a backend may refuse
    without(row, DOUBLES)                     the row with the first level of a feature in place of F64

A row that is refused for such a level is worth trying without it, or everything else in it would be lost too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.shapes.features import CHOSEN, ENTRANCES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.shapes.features import Level
    from vyre.conform.shapes.rows import Row

DOUBLES = "F64"
MAY_LACK: Mapping[str, tuple[str, ...]] = {
    "payload": (DOUBLES,),
    "element type": (DOUBLES,),
    "entrance": tuple(e for e in ENTRANCES if e != "run"),
}


def without(row: Mapping[str, Level], lacking: str) -> Row:
    """The row with the first level of each feature that has this one."""
    found = {n for n, levels in MAY_LACK.items() if row.get(n) == lacking and lacking in levels}
    return {**row, **{name: CHOSEN[name].levels[0] for name in found}}
