"""`@vyre.op`: decorated functions that are ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from vyre.errors import VyreError, boundary, hide_own_frames
from vyre.frontend.calls import Linker, OpFunction
from vyre.frontend.functions import takes_buffers, translate_op
from vyre.frontend.kernel import outer_names
from vyre.frontend.values import BeyondOps

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


class TypedOp(OpFunction, Generic[P, R]):
    """An `OpFunction` that keeps its signature for type checkers."""

    @boundary
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        raise VyreError(
            f"{self.__name__} is an op and runs only inside @vyre.kernel or another op.",
            fix="call it in a kernel.",
        )


@overload
def op(function: Callable[P, R], /) -> TypedOp[P, R]: ...
@overload
def op(*, id: str | None = None) -> Callable[[Callable[P, R]], TypedOp[P, R]]: ...
def op(function: Any = None, /, *, id: str | None = None) -> Any:
    """Makes an op of a function with scalar parameters and one `return`; its id is `local.<name>` or `id`."""
    outer = outer_names()

    @boundary
    def decorate(decorated: Any) -> TypedOp[..., Any]:
        if takes_buffers(decorated, outer):
            return TypedOp(decorated, None, ())
        linker = Linker(translate_op)
        name = id or f"local.{getattr(decorated, '__name__', 'op').lower()}"
        try:
            built = translate_op(decorated, name, linker, outer)
        except BeyondOps:
            return TypedOp(decorated, None, ())
        return TypedOp(decorated, built, linker.ops.values())

    try:
        return decorate(function) if function is not None else decorate
    except VyreError as error:
        hide_own_frames(error)
        raise
