"""A broken rule of one value, on its way to the list of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.graph.sizes import Size
    from vyre.graph.types import ValueType


class Fault(Exception):
    """Raised by a rule, and caught where the graph is walked."""

    def __init__(self, code: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix


def fault(code: str, message: str, fix: str) -> Fault:
    return Fault(code, message, fix)


def shown(shape: tuple[Size, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def require_axis(axis: int, of: ValueType) -> None:
    """Axes are counted from 0; the face of tensors takes negative ones and counts for the user."""
    if not 0 <= axis < of.rank:
        raise fault(
            "V054",
            f"axis {axis} of {of}, which has {of.rank} axes.",
            f"use an axis from 0 to {of.rank - 1}." if of.rank else "a scalar has no axes: reshape it first.",
        )
