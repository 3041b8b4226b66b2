"""Functions that exist inside kernels only."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from vyre.errors import VyreError, boundary

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def kernel_only(function: Callable[P, R]) -> Callable[P, R]:
    """Marks a function of the kernel language by its name; a call on the host raises."""
    name = function.__name__

    @boundary
    @wraps(function)
    def refuse(*args: P.args, **kwargs: P.kwargs) -> R:
        raise VyreError(
            f"vyre.{name} works only inside @vyre.kernel or @vyre.op.",
            fix="call it in a decorated function; on the host use NumPy.",
        )

    refuse.__vyre_builtin__ = name  # pyright: ignore[reportFunctionMemberAccess]
    return refuse
