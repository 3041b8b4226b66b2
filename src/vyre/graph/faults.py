"""A broken rule of one value, on its way to the list of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.limits import MAX_RANK, MAX_SIZE_DEGREE, U32_MAX

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
            f"there is no axis {axis} of {of}.",
            f"use an axis from 0 to {of.rank - 1}." if of.rank else "a scalar has no axes: reshape it first.",
        )


def require_rank(shape: tuple[Size, ...]) -> None:
    if len(shape) > MAX_RANK:
        raise fault(
            "V060", f"{len(shape)} axes; {MAX_RANK} are allowed.", "merge axes by a reshape that has fewer."
        )


def require_shape(of: ValueType) -> None:
    """What no length of a dynamic dimension could make a size."""
    require_rank(of.shape)
    for size in of.shape:
        if (size.static or 0) < 0 or any(abs(factor) > U32_MAX for _, factor in size.terms):
            raise fault(
                "V060",
                f"the size {str(size)[:80]} of an axis is out of range.",
                f"use sizes from 0 to {U32_MAX}.",
            )
        if any(len(names) > MAX_SIZE_DEGREE for names, _ in size.terms):
            raise fault(
                "V060",
                f"a size with more than {MAX_SIZE_DEGREE} dynamic dimensions multiplied.",
                "keep them as axes of their own.",
            )
