"""A definition that asks what it judges."""

from __future__ import annotations

from typing import Any


def add(d: Any, a: Any, b: Any) -> Any:
    from vyre.numeric.soft import soft_ops

    soft_ops()
    return d.add(a, b)
