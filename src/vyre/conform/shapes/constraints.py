"""Which levels can stand in one case, and what a case may cost.

    why_not({"loop depth": 0, "turns": 3})        "without a loop there are no turns"
    cost(row)                                     turns of all invocations, about

A row may be partial: only what it has is judged. A pair that is impossible is not part of any claim; one that
is left out for its cost is listed as not claimed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.shapes.features import NONE
from vyre.ir.limits import MAX_WORKGROUP_INVOCATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.shapes.features import Level

    Row = Mapping[str, Level]

MAX_INVOCATIONS = 1 << 20
"""Over all runs of a case."""

MAX_TURNS = 1 << 26
"""Turns of the innermost loop, over all invocations and runs of a case."""

TOO_COSTLY = "too costly"
_SIZE = ("workgroup x", "workgroup y", "workgroup z")
_GRID = ("workgroups x", "workgroups y", "workgroups z")
_RUNS: Mapping[str, int] = {"again": 3, "interleaved": 2, "threads": 2}
_OWN_FLOATS = ("F32 arithmetic", "F16", "BF16", "F64")
_NATURAL = 4
"""Buffers of every case: what is read, what is written, and one pair of the element type."""

FURTHER = "further types"
"""Where a row names element types that it has besides the one of the feature, with a pair of buffers each."""


def number(row: Row, name: str) -> int:
    level = row[name]
    assert isinstance(level, int)
    return level


def product(row: Row, *names: str) -> int:
    """Of those that the row has."""
    total = 1
    for name in names:
        total *= number(row, name) if name in row else 1
    return total


def size(row: Row) -> int:
    return product(row, *_SIZE)


def invocations(row: Row) -> int:
    return product(row, *_SIZE, *_GRID)


def runs(row: Row) -> int:
    """How often the case is run: by its entrance as often as its pattern asks, and by `run` besides."""
    return _RUNS.get(str(row.get("dispatch")), 1) + (row.get("entrance", "run") != "run")


def cost(row: Row) -> int:
    """Turns that all invocations of a run take together, loops around the innermost included."""
    around = 2 if row.get("loop depth", 1) not in (0, 1) else 1
    return invocations(row) * max(1, number(row, "turns") if "turns" in row else 1) * around


def further(row: Row) -> tuple[str, ...]:
    """The element types of a row besides the first."""
    return tuple(str(row.get(FURTHER, "")).split())


def bins(row: Row) -> int:
    """Atomic locations of a workgroup."""
    return max(1, size(row) // max(1, number(row, "contention")))


def buffers_needed(row: Row) -> int:
    """By what the row has so far."""
    return (
        _NATURAL
        + 2 * len(further(row))
        + (
            row.get("uniform bytes", 0) != 0
            or row.get("access") == "Uniform"
            or row.get("loop bounds") == "uniform"
        )
        + (row.get("atomic memory") == "storage")
        + (row.get("reduction", NONE) != NONE)
        + (row.get("loop bounds") in ("loaded", "divergent"))
        + (row.get("access") == "ReadWrite")
        + swaps_in_storage(row)
    )


def swaps_in_storage(row: Row) -> bool:
    """Whether the tile is too small for exchanges, which then go through a buffer, by what the row has."""
    if any(
        name not in row for name in ("barriers", "atomic memory", "contention", "workgroup bytes", *_SIZE)
    ):
        return False
    own = bins(row) if row["atomic memory"] == "workgroup" else 0
    return exchange_barriers(row) > 0 and number(row, "workgroup bytes") // 4 - own < size(row)


def exchange_barriers(row: Row) -> int:
    """Barriers that atomics of a workgroup leave for exchanges."""
    return number(row, "barriers") - (2 if row["atomic memory"] == "workgroup" else 0)


def loops_around(row: Row) -> int:
    """Loops that can stand around barriers: an exchange that is repeated needs two."""
    possible = row["turns"] != 0 and exchange_barriers(row) >= 2
    return min(2, number(row, "loop depth")) if possible else 0


def _barrier_room(row: Row) -> bool:
    if row["barrier nesting"] and exchange_barriers(row) < 1:
        return False
    loops = loops_around(row)
    return number(row, "barrier nesting") <= number(row, "branch nesting") + number(row, "scopes") + loops


def _tile_bytes(row: Row) -> int:
    own = 4 * bins(row) if row["atomic memory"] == "workgroup" else 0
    tile = 4 * size(row) if row["access"] in ("Workgroup", "WorkgroupAtomic") else 0
    return own + tile


def _contended(row: Row) -> bool:
    if row["atomic"] == NONE:
        return row["contention"] == 0
    ways = size(row) if row["atomic memory"] == "workgroup" else invocations(row)
    return 1 <= number(row, "contention") <= ways


_RULES: tuple[tuple[str, tuple[str, ...], Callable[[Row], object]], ...] = (
    ("a workgroup has at most 1,024 invocations", (), lambda r: size(r) <= MAX_WORKGROUP_INVOCATIONS),
    (TOO_COSTLY, (), lambda r: invocations(r) * runs(r) <= MAX_INVOCATIONS),
    (TOO_COSTLY, (), lambda r: cost(r) * runs(r) <= MAX_TURNS),
    (
        "without a loop there are no turns",
        ("loop depth", "turns"),
        lambda r: r["loop depth"] or not r["turns"],
    ),
    (
        "without a loop there are no turns",
        ("loop bounds", "turns"),
        lambda r: r["loop bounds"] != NONE or not r["turns"],
    ),
    (
        "without a loop there is no start",
        ("loop bounds", "loop start"),
        lambda r: r["loop bounds"] != NONE or not r["loop start"],
    ),
    (
        "without a loop nothing accumulates",
        ("loop bounds", "float loop"),
        lambda r: r["loop bounds"] != NONE or r["float loop"] == NONE,
    ),
    (
        "without a loop nothing accumulates",
        ("loop depth", "float loop"),
        lambda r: r["loop depth"] or r["float loop"] == NONE,
    ),
    (
        "without a loop none returns",
        ("loop bounds", "return"),
        lambda r: r["loop bounds"] != NONE or r["return"] != "in loop",
    ),
    (
        "without a loop none returns",
        ("loop depth", "return"),
        lambda r: r["loop depth"] or r["return"] != "in loop",
    ),
    (
        "without a loop none is left",
        ("loop bounds", "break"),
        lambda r: r["loop bounds"] != NONE or r["break"] == NONE,
    ),
    (
        "a break leaves a loop, a nested one that in another",
        ("loop depth", "break"),
        lambda r: number(r, "loop depth") >= {NONE: 0, "nested": 2}.get(str(r["break"]), 1),
    ),
    (
        "invocations leave a divergent loop apart",
        ("loop bounds", "break"),
        lambda r: r["loop bounds"] != "divergent" or r["break"] != "uniform",
    ),
    ("without a turn none is left", ("turns", "break"), lambda r: r["turns"] or r["break"] == NONE),
    (
        "a break needs a branch",
        ("break", "branch nesting"),
        lambda r: r["break"] == NONE or r["branch nesting"],
    ),
    (
        "without atomics nothing contends",
        ("atomic memory", "contention"),
        lambda r: (r["atomic memory"] == NONE) == (r["contention"] == 0),
    ),
    (
        "without a loop there are no bounds",
        ("loop depth", "loop bounds"),
        lambda r: (r["loop depth"] == 0) == (r["loop bounds"] == NONE),
    ),
    (
        "without a loop there is no start",
        ("loop depth", "loop start"),
        lambda r: r["loop depth"] or not r["loop start"],
    ),
    (
        "without a turn nothing accumulates",
        ("turns", "float loop"),
        lambda r: r["turns"] or r["float loop"] == NONE,
    ),
    ("without a turn nothing returns", ("turns", "return"), lambda r: r["turns"] or r["return"] != "in loop"),
    (
        "a bound in a uniform needs one",
        ("loop bounds", "uniform bytes"),
        lambda r: r["loop bounds"] != "uniform" or r["uniform bytes"],
    ),
    (
        "a value in a uniform needs one",
        ("access", "uniform bytes"),
        lambda r: r["access"] != "Uniform" or r["uniform bytes"],
    ),
    (
        "a value in private memory needs some",
        ("access", "private bytes"),
        lambda r: r["access"] != "Private" or r["private bytes"],
    ),
    (
        "a value in a table needs one",
        ("access", "table bytes"),
        lambda r: r["access"] != "Constant" or r["table bytes"],
    ),
    (
        "workgroup memory must hold the values",
        ("access", "atomic memory", "contention", *_SIZE, "workgroup bytes"),
        lambda r: _tile_bytes(r) <= number(r, "workgroup bytes"),
    ),
    (
        "a value in workgroup memory needs some",
        ("access", "workgroup bytes"),
        lambda r: r["access"] not in ("Workgroup", "WorkgroupAtomic") or r["workgroup bytes"],
    ),
    (
        "atomics of a workgroup need memory",
        ("atomic memory", "workgroup bytes"),
        lambda r: r["atomic memory"] != "workgroup" or r["workgroup bytes"],
    ),
    (
        "no barrier is nested where none is",
        ("barriers", "barrier nesting"),
        lambda r: r["barriers"] or not r["barrier nesting"],
    ),
    (
        "nothing is around the barriers",
        ("barrier nesting", "branch nesting", "scopes", "loop depth", "turns", "barriers", "atomic memory"),
        _barrier_room,
    ),
    (
        "atomics of a workgroup need two barriers",
        ("barriers", "atomic memory"),
        lambda r: r["atomic memory"] != "workgroup" or number(r, "barriers") >= 2,
    ),
    (
        "atomics are somewhere",
        ("atomic", "atomic memory"),
        lambda r: (r["atomic"] == NONE) == (r["atomic memory"] == NONE),
    ),
    (
        "without atomics nothing contends",
        ("atomic", "contention"),
        lambda r: (r["atomic"] == NONE) == (r["contention"] == 0),
    ),
    ("there are fewer invocations", ("atomic", "atomic memory", "contention", *_SIZE, *_GRID), _contended),
    (
        "without a reduction it has no length",
        ("reduction", "reduction length"),
        lambda r: r["reduction"] != NONE or not r["reduction length"],
    ),
    (
        "the payload rounds",
        ("payload", "float chain"),
        lambda r: r["payload"] not in _OWN_FLOATS or r["float chain"],
    ),
    ("the loop rounds", ("float loop", "float chain"), lambda r: r["float loop"] == NONE or r["float chain"]),
    (
        "a return needs a branch",
        ("return", "branch nesting"),
        lambda r: r["return"] == NONE or r["branch nesting"],
    ),
    (
        "the branch on the last turn diverges",
        ("branch nesting", "loop bounds"),
        lambda r: r["branch nesting"] != 1 or r["loop bounds"] != "divergent",
    ),
    (
        "branches in a divergent loop diverge",
        ("branches", "loop bounds", "branch nesting"),
        lambda r: not r["branch nesting"] or r["branches"] != "uniform" or r["loop bounds"] != "divergent",
    ),
    (
        "branches have conditions of one kind",
        ("branch nesting", "branches"),
        lambda r: number(r, "branch nesting") >= 2 or r["branches"] == "uniform",
    ),
    ("more buffers are needed", ("buffers",), lambda r: buffers_needed(r) <= number(r, "buffers")),
    (
        "more buffers are needed",
        ("buffers", "reduction length"),
        lambda r: "reduction" in r or not r["reduction length"] or buffers_needed(r) < number(r, "buffers"),
    ),
)


def why_not(row: Row) -> str | None:
    """Why these levels cannot stand together; None where they can."""
    for reason, names, holds in _RULES:
        if all(name in row for name in names) and not holds(row):
            return reason
    return None
