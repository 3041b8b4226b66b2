"""The rows that are tried: a covering array over all pairs of levels, and each feature's extremes alone.

    ROWS[0]["turns"]                      3
    pairs_of(ROWS[0])                     every pair of levels that the row has, of chosen features
    fitted(ROWS[0], limits)               the row with what a device does not take lowered to what it does
    parted(row)                           the rows that are run for it
    wanted()                              every pair that is possible, and `too_costly()` those left out

The rows are data (`rows.json`, made by `tools/make_shape_rows.py`), so that no library decides what a
certificate covers. A row names every chosen feature; what follows from them is measured on the case. Of
element types, which have the most levels, it may have several, and each makes pairs with every other level.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, cast

from vyre.conform.shapes.constraints import FURTHER, TOO_COSTLY, buffers_needed, further, number, why_not
from vyre.conform.shapes.features import CHOSEN, FEATURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import BackendLimits
    from vyre.conform.shapes.features import Feature, Level

Row = dict[str, "Level"]
Setting = tuple[str, "Level"]
Pair = tuple[Setting, Setting]

ELEMENT = "element type"
_DATA = Path(__file__).with_name("rows.json")


def load() -> tuple[Row, ...]:
    document = json.loads(_DATA.read_text())
    names = cast("list[str]", document["features"])
    return tuple(dict(zip(names, levels, strict=True)) for levels in document["rows"])


ROWS: tuple[Row, ...] = load()


def pairs_of(row: Mapping[str, Level]) -> frozenset[Pair]:
    """Pairs of settings, in the order of the table."""
    rows = (row, *({**row, ELEMENT: kind} for kind in further(row)))
    return frozenset(
        pair for one in rows for pair in combinations([(n, one[n]) for n in CHOSEN if n in one], 2)
    )


@cache
def wanted() -> frozenset[Pair]:
    """Every pair of levels that the rows must have: none is impossible or too costly by itself."""
    return frozenset(pair for pair, reason in _judged().items() if reason is None)


@cache
def too_costly() -> frozenset[Pair]:
    """Pairs that are possible and are not tried, for their cost."""
    return frozenset(pair for pair, reason in _judged().items() if reason == TOO_COSTLY)


@cache
def _judged() -> dict[Pair, str | None]:
    found: dict[Pair, str | None] = {}
    for a, b in combinations(CHOSEN.values(), 2):
        for first in a.levels:
            for second in b.levels:
                found[(a.name, first), (b.name, second)] = why_not({a.name: first, b.name: second})
    return found


def fitted(row: Mapping[str, Level], limits: BackendLimits) -> Row:
    """The row with each level beyond a declared limit lowered to the highest level within it."""
    found = dict(row)
    for feature in FEATURES.values():
        bound = _bound(feature, limits)
        if bound is not None and feature.name in found:
            found[feature.name] = _within(feature, found[feature.name], bound)
    most = limits.workgroup_invocations
    while most is not None and _size(found) > most:
        widest = max(("workgroup x", "workgroup y", "workgroup z"), key=lambda name: cast("int", found[name]))
        found[widest] = _within(FEATURES[widest], found[widest], cast("int", found[widest]) - 1)
    return found


def parted(row: Mapping[str, Level]) -> tuple[Row, ...]:
    """The row once, or as often as its element types need where a device has too few buffers for all."""
    kinds = (str(row[ELEMENT]), *further(row))
    left = number(row, "buffers") - buffers_needed({**row, FURTHER: ""})
    at_once = 1 + max(0, left) // 2
    return tuple(
        {**row, ELEMENT: kinds[first], FURTHER: " ".join(kinds[first + 1 : first + at_once])}
        for first in range(0, len(kinds), at_once)
    )


def _size(row: Mapping[str, Level]) -> int:
    return cast("int", row["workgroup x"]) * cast("int", row["workgroup y"]) * cast("int", row["workgroup z"])


def _bound(feature: Feature, limits: BackendLimits) -> int | None:
    if not feature.limit:
        return None
    found = cast("int | None", getattr(limits, feature.limit))
    return found // 16 if found is not None and feature.limit == "buffer_bytes" else found


def _within(feature: Feature, level: Level, bound: int) -> Level:
    lower = [n for n in feature.every if isinstance(n, int) and n <= bound]
    return level if isinstance(level, int) and level <= bound else max(lower, default=feature.levels[0])
