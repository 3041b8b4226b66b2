"""Makes the rows of shapes: `python tools/make_shape_rows.py --write`.

The rows of `src/vyre/conform/shapes/rows.json` are a covering array over all pairs of levels of the chosen
features, followed by levels that are tried without all others. Most features constrain each other, and
generators that filter their rows do not end on so many constraints; so each row is grown here under the
constraints. Run it again after a change of the table, and say in the changelog that the envelope changed.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.conform.shapes.constraints import FURTHER, TOO_COSTLY, buffers_needed, invocations, number, why_not
from vyre.conform.shapes.features import CHOSEN, NONE
from vyre.conform.shapes.rows import ELEMENT, pairs_of, wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.shapes.features import Level
    from vyre.conform.shapes.rows import Setting

CANDIDATES = 12
TRIES = 400
FEW, MANY = 1, 1 << 17
"""Further element types of a row that has many invocations: each has a buffer for all of them."""

COLUMNS = (*CHOSEN, FURTHER)
TARGET = Path(__file__).parent.parent / "src" / "vyre" / "conform" / "shapes" / "rows.json"

BASE: Mapping[str, Level] = {
    "loop depth": 1, "turns": 3, "loop bounds": "literal", "loop start": 0,
    "workgroup x": 16, "workgroup y": 1, "workgroup z": 1,
    "workgroups x": 17, "workgroups y": 1, "workgroups z": 1,
    "buffers": 8, "buffer length": 31, "element type": "U32", "access": "ReadOnly",
    "workgroup bytes": 516, "uniform bytes": 20, "private bytes": 68, "table bytes": 20,
    "branch nesting": 2, "branches": "divergent", "scopes": 0,
    "barriers": 2, "barrier nesting": 0, "variables": 33, "expression depth": 12, "literal": "1",
    "loads after stores": 1, "float chain": 2, "float loop": "FAdd", "reduction": "Strict Add",
    "reduction length": 3, "atomic": "Add", "atomic memory": "storage", "contention": 5, "return": NONE,
    "break": "divergent", "output": "exact", "dispatch": "once", "entrance": "run",
    "payload": "F32 arithmetic",
}  # fmt: skip
"""A small case that has something of everything; extremes are tried in it."""

KEPT: tuple[Mapping[str, Level], ...] = (
    {"workgroups x": 1, "workgroups z": 65_535, "loop bounds": "computed", "loop depth": 5, "buffers": 9,
     "workgroup bytes": 4, "branch nesting": 3, "branches": "uniform", "barriers": 1, "barrier nesting": 2,
     "entrance": "bind again", "private bytes": 0, "break": NONE},
    {"workgroups y": 3, "workgroups z": 9, "loop bounds": "length", "loop start": 7, "buffers": 9,
     "workgroup bytes": 12, "branch nesting": 12, "branches": "uniform", "barriers": 2, "barrier nesting": 2,
     "entrance": "run_limited", "dispatch": "threads"},
)  # fmt: skip
"""Exchanges through storage in workgroups of one vector, which no pair asks for."""

LARGE: tuple[Mapping[str, Level], ...] = tuple(
    {"buffer length": (1 << 24) + 3, "workgroups x": 3, "output": "long", **more}
    for more in (
        {"literal": "0", "element type": "F32"},
        {"entrance": "bind", "literal": "2^31"},
        {"entrance": "copy", "literal": "-1", "break": "uniform"},
    )
)
"""Buffers of more than 64 MiB that are read and written, by several ways in."""

FILLERS = ("literal", "loads after stores", "float chain")
SIZES = ("workgroup x", "workgroup y", "workgroup z")
GRID = ("workgroups x", "workgroups y", "workgroups z")
"""Features that hardly depend on others, whose extremes are tried in rows for those of others."""

LONG = ("turns", "buffer length", "contention")
"""Features whose extremes leave no room for many invocations."""

BINDING = {
    "buffers", "reduction", "access", "atomic memory", "atomic", "contention", "workgroup bytes",
    "uniform bytes", "loop bounds", "loop depth", "turns",
}  # fmt: skip
"""Features that leave little choice to others, which are mostly chosen first."""

PLAIN: Mapping[str, tuple[Level, ...]] = {
    "loop depth": (1, 2, 3), "turns": (2, 3, 17), "workgroups x": (1, 2, 3, 17), "workgroups y": (1, 2, 3),
    "workgroups z": (1, 2, 3), "buffers": (9, 17), "buffer length": (1, 2, 3, 31, 257),
    "workgroup bytes": (0, 4, 12, 516), "private bytes": (0, 4, 68), "branch nesting": (1, 2, 3),
    "barriers": (0, 1), "variables": (16,), "expression depth": (12,), "loads after stores": (0, 1, 2),
    "float chain": (1, 2), "reduction": (NONE,), "reduction length": (1, 2, 3), "atomic": (NONE, "Add"),
    "dispatch": ("once",), "entrance": ("run",), "payload": ("integers", "convert"),
}  # fmt: skip
"""Levels that are cheap to compile and to run: they fill what no pair asks for."""

FOLLOWS: Mapping[str, Mapping[str, Level]] = {
    "loop depth=0": {"turns": 0, "loop bounds": NONE, "float loop": NONE, "break": NONE},
    "turns=0": {"float loop": NONE, "break": NONE},
    "float chain=0": {"float loop": NONE, "payload": "integers"},
    "barriers=0": {"barrier nesting": 0},
    "atomic=none": {"atomic memory": NONE, "contention": 0},
    "contention=0": {"atomic": NONE, "atomic memory": NONE},
    "reduction=none": {"reduction length": 0},
    "branch nesting=0": {"branches": "uniform"},
    "buffers=4": {"uniform bytes": 0, "atomic": NONE, "atomic memory": NONE, "contention": 0,
                  "reduction": NONE, "reduction length": 0},
    "buffers=6": {"uniform bytes": 0},
    "buffers=255": {"private bytes": 0, "table bytes": 0},
    "barrier nesting": {"branch nesting": 12},
    "contention=257": {"workgroup x": 33},
    "contention=65537": {"workgroup x": 256, "workgroups x": 1025},
    "workgroup bytes=0": {},
}  # fmt: skip
"""What else changes with a level."""


NOTHING: Mapping[str, Level] = {}


def covering() -> list[list[Level]]:
    """Rows for all pairs that are wanted: each begins with one that is missing and takes level by level what
    brings most others with it. Ties are broken by chance, whose seed is fixed."""
    chance = random.Random("vyre shapes")
    missing: dict[Setting, set[Setting]] = {}
    for a, b in wanted():
        missing.setdefault(a, set()).add(b)
        missing.setdefault(b, set()).add(a)
    rows: list[list[Level]] = []
    hopeless = 0
    while any(missing.values()):
        first = max(missing, key=lambda s: (len(missing[s]), str(s)))
        second = min(missing[first], key=lambda s: (-len(missing[s]), str(s)))
        made: list[dict[str, Level]] = []
        for _ in range(TRIES):
            row = _grown(dict((first, second)), missing, chance)
            made += [row] if row is not None else []
            if len(made) == CANDIDATES:
                break
        if not made:
            hopeless += 1
            print("fits into no row:", first, second)
            missing[first].discard(second)
            missing[second].discard(first)
            continue
        best = max(made, key=lambda row: _gain(row, missing))
        for a, b in pairs_of(best):
            missing.get(a, set()).discard(b)
            missing.get(b, set()).discard(a)
        rows.append([best[name] for name in COLUMNS])
    print(f"{hopeless} pairs fit into no row")
    return rows


def _gain(row: Mapping[str, Level], missing: Mapping[Setting, set[Setting]]) -> int:
    return sum(b in missing.get(a, ()) for a, b in pairs_of(row))


def _grown(
    row: dict[str, Level], missing: Mapping[Setting, set[Setting]], chance: random.Random
) -> dict[str, Level] | None:
    names = [name for name in CHOSEN if name not in row]
    names.sort(key=lambda name: (name not in BINDING or chance.random() < 0.2, chance.random()))
    for name in names:
        have = set(row.items())
        ranked = sorted(
            CHOSEN[name].levels,
            key=lambda level: (
                -len(missing.get((name, level), set()) & have),
                not missing.get((name, level)),
                level not in PLAIN.get(name, CHOSEN[name].levels),
                chance.random(),
            ),
        )
        fitting = next((o for o in ranked if why_not({**row, name: o}) is None), None)
        if fitting is None:
            return None
        row[name] = fitting
    return {**row, FURTHER: " ".join(_types(row, missing))}


def _types(row: Mapping[str, Level], missing: Mapping[Setting, set[Setting]]) -> list[str]:
    """The element types besides that of the row for which there are buffers, those first that are missed
    most with its levels."""
    room = (number(row, "buffers") - buffers_needed(row)) // 2
    have = {(name, level) for name, level in row.items() if name != ELEMENT}
    others = [str(level) for level in CHOSEN[ELEMENT].levels if level != row[ELEMENT]]
    worth = {kind: len(missing.get((ELEMENT, kind), set()) & have) for kind in others}
    ranked = sorted(filter(worth.__getitem__, others), key=lambda kind: (-worth[kind], kind))
    return ranked[: min(room, FEW) if invocations(row) > MANY else room]


def alone() -> list[list[Level]]:
    """The levels that are not tried with all others, each in a small case; what depends on nothing else and
    the sizes of grids are tried in the rows of others."""
    fillers = iter([{name: level} for name in FILLERS for level in CHOSEN[name].alone])
    sizes = [_grid(name, level) for name in (*SIZES, *GRID) for level in CHOSEN[name].alone]
    found: list[Mapping[str, Level]] = [{**BASE, **more} for more in (NOTHING, *KEPT, *LARGE)]
    for name, feature in CHOSEN.items():
        for level in feature.alone if name not in (*FILLERS, *SIZES, *GRID) else ():
            if any(row[name] == level for row in found):
                continue
            follows = {**FOLLOWS.get(name, {}), **FOLLOWS.get(f"{name}={level}", {})}
            row = {**BASE, **next(fillers, NOTHING), **follows, name: level}
            fitting = next((s for s in sizes if name not in LONG and _possible({**row, **s})), NOTHING)
            sizes = [s for s in sizes if s is not fitting]
            found.append({**row, **fitting})
    found += [{**BASE, **next(fillers, NOTHING), **size} for size in sizes]
    found += [{**BASE, **more} for more in fillers]
    for row in found:
        if not _possible(row):
            raise SystemExit(f"{dict(row)}: {why_not(row)}")
    return [[{**row, FURTHER: ""}[name] for name in COLUMNS] for row in found]


def _grid(name: str, level: Level) -> Mapping[str, Level]:
    """This level, and the others of its kind at 1."""
    return {**dict.fromkeys(SIZES if name in SIZES else GRID, 1), name: level}


def _possible(row: Mapping[str, Level]) -> bool:
    return why_not(row) in (None, TOO_COSTLY)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    rows = covering()
    pairwise = len(rows)
    rows += [row for row in alone() if row not in rows]
    print(f"{pairwise} rows for the pairs, {len(rows) - pairwise} alone")
    if parser.parse_args().write:
        lines = ",\n".join(json.dumps(row) for row in rows)
        TARGET.write_text(f'{{"features": {json.dumps(COLUMNS)},\n"rows": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
