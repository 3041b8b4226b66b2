"""Uniform random words."""

from __future__ import annotations

from typing import Any

from vyre.conform.generate.counter import low_of, word
from vyre.conform.generate.stream import CaseStream


def stream(masks: tuple[int, ...], *, seed: int) -> CaseStream:
    """Every operand word uniform and on its own."""

    def make(d: Any, low: Any, high: Any) -> tuple[Any, ...]:
        return tuple(word(d, low, high, seed=seed, stream=j) for j in range(len(masks)))

    def undo(d: Any, position: int, found: Any, high: Any) -> Any:
        return low_of(d, found, high, seed=seed, stream=position)

    return CaseStream("random", masks, seed, make=make, undo=undo)
