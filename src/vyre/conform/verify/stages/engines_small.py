"""A failing case of an engine made small: fewer elements first, then plainer ones.

smaller(case, fails)        the smallest case found of which `fails` says that it fails
shown(case)                 its inputs in a few words each
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.spec.engine import EngineCase

QUESTIONS = 80
"""How often a failing case is run to make it smaller."""
_SHOWN = 8


class _Search:
    """Asks about inputs, each once, until there are no questions left."""

    def __init__(self, case: EngineCase, fails: Callable[[EngineCase], bool]) -> None:
        self.best = case
        self._fails = fails
        self._left = QUESTIONS

    @property
    def inputs(self) -> Mapping[str, Any]:
        return self.best.inputs

    @property
    def length(self) -> int:
        return len(self.inputs[self.best.elements[0]])

    def fails(self, changed: Mapping[str, Any]) -> bool:
        """Whether the case fails with these arrays; if so it is the best one now."""
        if not self._left or self.best.on is None:
            return False
        tried = self.best.on({**self.inputs, **changed})
        if tried is None:
            return False
        self._left -= 1
        if self._fails(tried):
            self.best = tried
            return True
        return False

    def cut(self, low: int, high: int) -> bool:
        return self.fails({name: self.inputs[name][low:high].copy() for name in self.best.elements})


def smaller(case: EngineCase, fails: Callable[[EngineCase], bool]) -> EngineCase:
    """The same question of the shortest and plainest inputs found that still fail, or the case as it is."""
    if case.on is None or not case.inputs:
        return case
    search = _Search(case, fails)
    _shorten(search, lambda count: search.cut(0, count))
    _shorten(search, lambda count: search.cut(search.length - count, search.length))
    for name in case.elements:
        _plain(search, name)
    _shorten(search, lambda count: search.cut(0, count))  # what is plain may need fewer
    return search.best


def _shorten(search: _Search, cut: Callable[[int], bool]) -> None:
    """To the first length of 0, 1, 2, 4, … that fails, and from there down to the one that does not."""
    passing, count = -1, 0
    while count < search.length and not cut(count):
        passing, count = count, max(1, 2 * count)
    while search.length - passing > 1:
        middle = (passing + search.length) // 2
        if not cut(middle):
            passing = middle


def _plain(search: _Search, name: str) -> None:
    """All elements 0, all 1, or counting; else one by one, as far as the questions go."""
    array = search.inputs[name]
    count = len(array)
    plain = (np.zeros(count, array.dtype), np.ones(count, array.dtype), np.arange(count).astype(array.dtype))
    if not count or any(np.array_equal(array, one) for one in plain):
        return
    if any(search.fails({name: one}) for one in plain):
        return
    for at in range(min(count, _SHOWN)):
        for value in (0, 1):
            now = search.inputs[name]
            changed = now.copy()
            changed[at] = value
            if changed.tobytes() == now.tobytes() or search.fails({name: changed}):
                break


def shown(case: EngineCase) -> tuple[str, ...]:
    """Every input: how many elements, and the first of them."""
    return tuple(f"{name}: {_contents(array)}" for name, array in case.inputs.items())


def _contents(array: Any) -> str:
    first = ", ".join(str(value) for value in array[:_SHOWN].tolist())
    rest = ", …" if len(array) > _SHOWN else ""
    return (
        f"{len(array):,} {'element' if len(array) == 1 else 'elements'}{', ' if first else ''}{first}{rest}"
    )
