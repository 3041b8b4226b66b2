"""Oracles that ask what they judge."""

from __future__ import annotations

from vyre.semantics.domain import CONCRETE
from vyre.semantics.operators import add as cpu_fn


def add(a: int, b: int) -> int:
    return cpu_fn(CONCRETE, a, b)
