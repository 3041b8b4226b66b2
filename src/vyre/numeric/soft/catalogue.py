"""The list of all soft-float ops."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.numeric.soft import arithmetic
from vyre.numeric.soft.layout import LAYOUTS

if TYPE_CHECKING:
    from vyre.compose.op import Op


@cache
def _all() -> tuple[Op, ...]:
    return tuple(
        make(fmt)
        for fmt in LAYOUTS.values()
        for make in (arithmetic.add, arithmetic.sub, arithmetic.mul)
    )


def soft_ops() -> list[Op]:
    """Every soft-float op, format by format; ids are `soft.<format>.<operation>`."""
    return list(_all())
