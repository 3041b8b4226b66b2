"""The list that diagnostics are gathered in, with its bound and the "did you mean" helper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import Diagnostic
from vyre.validate.paths import locate

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from vyre.errors import SourceLocation

MAX_DIAGNOSTICS = 1_000
"""A hostile program can break a rule at every node; beyond this many the list says nothing new."""

_MAX_COMPARISONS = 2_000


class Report:
    """Diagnostics in the order of discovery, each with its source location where one is known."""

    def __init__(self, locations: Mapping[str, SourceLocation]) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.site: SourceLocation | None = None
        self._locations = locations
        self._longest = max(map(len, locations), default=-1)
        self._comparisons = 0

    @property
    def full(self) -> bool:
        return len(self.diagnostics) >= MAX_DIAGNOSTICS

    def add(self, code: str, message: str, fix: str, path: str) -> None:
        """`site`, the place of a call, stands in for the location of nodes inside an op."""
        if not self.full:
            self.diagnostics.append(Diagnostic(code, message, fix, path, self.locate(path)))

    def locate(self, path: str) -> SourceLocation | None:
        return self.site or locate(path, self._locations, self._longest)

    def suggest(self, wrong: str, candidates: Collection[str]) -> str:
        """` Did you mean x?`, or nothing; bounded, because comparing names is slow."""
        if self._comparisons + len(candidates) > _MAX_COMPARISONS:
            return ""
        if not all(isinstance(name, str) for name in (wrong, *candidates)):  # pyright: ignore[reportUnnecessaryIsInstance]
            return ""
        self._comparisons += len(candidates)
        from difflib import get_close_matches

        close = get_close_matches(wrong, candidates, n=1)
        return f" Did you mean {close[0]}?" if close else ""
