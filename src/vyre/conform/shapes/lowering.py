"""A failing row along its features: each is lowered to the smallest value at which the case still fails.

    found = lowered(row, fails)
    found.sentence                "wrong from workgroup x 33 on"

Levels are tried from the lowest up; between the last that passes and the first that fails, numbers are
bisected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.shapes.constraints import FURTHER, further, why_not
from vyre.conform.shapes.features import CHOSEN
from vyre.conform.shapes.rows import ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.shapes.features import Level

    Row = Mapping[str, Level]

QUESTIONS = 90
"""How often a failing row is run at most, to find what its failure depends on."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The row at the end, and the features that could not be brought to their lowest level."""

    row: dict[str, Level]
    depends: tuple[tuple[str, Level], ...]

    @property
    def sentence(self) -> str:
        if not self.depends:
            return "wrong at the lowest level of every feature"
        parts = [
            f"from {name} {level:,} on" if isinstance(level, int) else f"with {name} {level}"
            for name, level in self.depends
        ]
        return "wrong " + " and ".join(parts)


def lowered(row: Row, fails: Callable[[Row], bool], *, questions: int = QUESTIONS) -> Lowered:
    """The row brought as low as it still fails; `fails` is asked about possible rows only."""
    search = _Search(dict(row), fails, questions)
    search.one_type()
    for name in CHOSEN:
        search.lower(name)
    for name in CHOSEN:
        search.bisect(name)
    depends = [(n, search.row[n]) for n in CHOSEN if n in search.fixed]
    return Lowered(search.row, tuple(depends))


class _Search:
    def __init__(self, row: dict[str, Level], fails: Callable[[Row], bool], questions: int) -> None:
        self.row, self.fixed = row, set[str]()
        self._fails, self._left = fails, questions
        self._passing: dict[str, int] = {}

    def ask(self, name: str, level: Level) -> bool:
        """Whether the row also fails with this level, which it then keeps."""
        return self._take(_repaired({**self.row, name: level}))

    def one_type(self) -> None:
        """Of several element types keeps the first with which alone the row fails."""
        kinds = further(self.row)
        any(kinds and self._take({**self.row, ELEMENT: k, FURTHER: ""}) for k in (self.row[ELEMENT], *kinds))

    def _take(self, candidate: dict[str, Level] | None) -> bool:
        if candidate is None or self._left <= 0:
            return False
        self._left -= 1
        if not self._fails(candidate):
            return False
        self.row = candidate
        return True

    def lower(self, name: str) -> None:
        current = self.row[name]
        for level in CHOSEN[name].every:
            if level == current:
                break
            if self.ask(name, level):
                break
            if isinstance(level, int):
                self._passing[name] = level
        if self.row[name] != CHOSEN[name].levels[0]:
            self.fixed.add(name)

    def bisect(self, name: str) -> None:
        """Between the last level that passed and the first that failed."""
        if name not in self.fixed or name not in self._passing:
            return
        low, high = self._passing[name], self.row[name]
        if name in _FIXED_LEVELS or not isinstance(high, int):
            return
        while high - low > 1 and self._left > 0:
            middle = (low + high) // 2
            if self.ask(name, middle):
                high = middle
            else:
                low = middle


_FIXED_LEVELS = {"uniform bytes", "workgroup bytes", "contention", "expression depth", "variables"}
"""Numbers of which not every one can be had exactly."""

_NEEDS: tuple[tuple[str, Level, tuple[tuple[str, Level], ...]], ...] = (
    ("loop depth", 0, (("turns", 0), ("loop bounds", "none"), ("loop start", 0), ("float loop", "none"))),
    ("turns", 0, (("float loop", "none"),)),
    ("loop bounds", "none", (("loop depth", 0), ("turns", 0), ("loop start", 0), ("float loop", "none"))),
    ("atomic", "none", (("atomic memory", "none"), ("contention", 0))),
    ("atomic memory", "none", (("atomic", "none"), ("contention", 0))),
    ("contention", 0, (("atomic", "none"), ("atomic memory", "none"))),
    ("reduction", "none", (("reduction length", 0),)),
    ("barriers", 0, (("barrier nesting", 0),)),
    ("branch nesting", 0, (("branches", "uniform"), ("return", "none"), ("barrier nesting", 0))),
    ("branch nesting", 1, (("branches", "uniform"), ("barrier nesting", 0))),
    ("float chain", 0, (("float loop", "none"), ("payload", "integers"))),
)
"""What goes with a level where it cannot stand alone."""


def _repaired(row: dict[str, Level]) -> dict[str, Level] | None:
    """The row, or the row with what its lowered levels need; None where that is not possible either."""
    if why_not(row) is None:
        return row
    for name, level, others in _NEEDS:
        if row[name] == level:
            changed = {**row, **dict(others)}
            if why_not(changed) is None:
                return changed
    return None
