"""Regular expressions over bytes, searched in all parts of a text at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from vyre.errors import boundary, whole
from vyre.library.matching import automata
from vyre.library.matching.listing import listed
from vyre.library.matching.syntax import parsed
from vyre.library.messages import words_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.library.matching.automata import Walk


class Regex:
    """An expression of the subset, made into automata when they are first needed.

    `flags` are `re.IGNORECASE`, `re.DOTALL` and `re.MULTILINE`. What the subset does not have, and an
    automaton that grows too large, raise `VyreError`.
    """

    @boundary
    def __init__(self, pattern: bytes, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = whole("flags", flags)
        self._steps = automata.Steps(parsed(pattern, self.flags))

    @cached_property
    def _spans(self) -> tuple[Walk, Walk]:
        return automata.spans(self._steps)

    @cached_property
    def _ends(self) -> Walk:
        return automata.ends(self._steps)

    @property
    def states(self) -> int:
        """Of the automaton that finds ends, the smallest one."""
        return self._ends.states

    @boundary
    def spans(self, data: Any, *, backend: str | Backend | None = None) -> NDArray[np.uint32]:
        """A row for each match that `re.finditer` finds, in order: where it begins, and where it ends."""
        given, backend = words_of(data, "data", backend)
        right, left = self._spans
        return listed(left, self._steps.classes, given, backend, after=right)[0]

    @boundary
    def ends(self, data: Any, *, backend: str | Backend | None = None) -> NDArray[np.uint32]:
        """Every place where some match ends, ascending, each once; overlapping and empty matches count."""
        given, backend = words_of(data, "data", backend)
        return listed(self._ends, self._steps.classes, given, backend, columns=1)[0].reshape(-1)
