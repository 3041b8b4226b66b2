"""Levels that a device may lack: doubles, and ways into a backend that its protocol leaves open.

    MAY_LACK["payload"]                       the levels of a feature that a backend may refuse
    without(row, [("payload", "F64")])        the row with the first level of the feature in its place

A row that is refused for such a level is worth trying without it, or everything else in it would be lost too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.shapes.features import CHOSEN, ENTRANCES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre.conform.shapes.features import Level
    from vyre.conform.shapes.rows import Row

DOUBLES = "F64"
MAY_LACK: Mapping[str, tuple[str, ...]] = {
    "payload": (DOUBLES,),
    "element type": (DOUBLES,),
    "entrance": tuple(e for e in ENTRANCES if e != "run"),
}


def may_lack(row: Mapping[str, Level]) -> list[tuple[str, str]]:
    """The levels of a row that a device may lack."""
    return [(name, level) for name, levels in MAY_LACK.items() for level in levels if row.get(name) == level]


def without(row: Mapping[str, Level], lacking: Iterable[tuple[str, str]]) -> Row:
    return {**row, **{name: CHOSEN[name].levels[0] for name, level in lacking if row.get(name) == level}}
