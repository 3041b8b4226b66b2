"""Oracles that ask what they judge."""

from __future__ import annotations

from vyre.conform.registry.primitive.add import cpu_fn
from vyre.semantics.domain import CONCRETE


def add(a: int, b: int) -> int:
    return cpu_fn(CONCRETE, a, b)
