"""The base of tensors: a name in a graph that is being written, and the type of that value."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

import numpy as np

from vyre.errors import VyreError, boundary
from vyre.tensor.builder import tracing

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.graph.nodes import GraphNode
    from vyre.graph.sizes import Size
    from vyre.graph.types import ValueType
    from vyre.ir.types import DataType
    from vyre.tensor.builder import Builder


class Value:
    """Has a type and no elements: those exist when the function that is traced is called with arrays."""

    __slots__ = ("_builder", "_name")

    def __init__(self, builder: Builder, name: str) -> None:
        self._builder = builder
        self._name = name

    @property
    def name(self) -> str:
        """Its name in the graph, which another graph may have for another value."""
        if tracing.get() not in (None, self._builder):
            raise traced_apart()
        return self._name

    @property
    def builder(self) -> Builder:
        return self._builder

    @property
    def type(self) -> ValueType:
        return self._builder.types[self._name]

    @property
    def element(self) -> DataType:
        return self.type.element

    @property
    def shape(self) -> tuple[int | Size, ...]:
        """Numbers, and polynomials such as `seq + 1` for dynamic dimensions."""
        return tuple(size if size.static is None else size.static for size in self.type.shape)

    @property
    def ndim(self) -> int:
        return self.type.rank

    @property
    def size(self) -> int | Size:
        """How many elements: a number, or a polynomial where a dimension is dynamic."""
        count = self.type.count
        return count if count.static is None else count.static

    def made(self, node: GraphNode) -> Self:
        """A value of the same graph."""
        return type(self)(self._builder, self._builder.add(node))

    def __repr__(self) -> str:
        return f"Tensor({self._name}: {self.type})"

    def axis(self, axis: int) -> int:
        """An axis counted from 0, of one that may be counted from the end."""
        if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise VyreError(f"{axis!r} is not an axis.", fix="count axes from 0, or from -1 backwards.")
        if not -self.ndim <= axis < self.ndim:
            raise VyreError(
                f"there is no axis {axis} in {self.type}.",
                fix=f"use an axis from {-self.ndim} to {self.ndim - 1}."
                if self.ndim
                else "a scalar has no axes.",
            )
        return int(axis) % self.ndim


def traced_apart() -> VyreError:
    return VyreError(
        "the tensors belong to two functions that are traced apart.",
        fix="pass the tensor as an argument instead of keeping it from another call.",
    )


_TENSORS = ("Tensor", "Tensor | None")
_NOT_GIVEN = object()

V = TypeVar("V", bound=Value)
P = ParamSpec("P")
R = TypeVar("R")


def operation(function: Callable[P, R]) -> Callable[P, R]:
    """Marks a function whose first argument is a tensor, and says so where something else is passed."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if args:
            require(args[0], function.__name__)
        return function(*args, **kwargs)

    return boundary(checked)


def network(function: Callable[P, R]) -> Callable[P, R]:
    """Marks a function of networks, and says so where a parameter annotated as a tensor gets something else.

    One annotated `Tensor | None` may be None.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    kinds = {n: function.__annotations__.get(n) for n in names}
    tensors = {n: (i, kind != "Tensor") for i, (n, kind) in enumerate(kinds.items()) if kind in _TENSORS}

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, (place, optional) in tensors.items():
            given = args[place] if place < len(args) else kwargs.get(name, _NOT_GIVEN)
            if given is not _NOT_GIVEN and not (given is None and optional):
                require(given, function.__name__)
        return function(*args, **kwargs)

    return boundary(checked)


def require(value: Any, what: str) -> None:
    if not isinstance(value, Value):
        raise VyreError(
            f"{what}() takes a tensor, not {type(value).__name__}.",
            fix="pass a tensor: an array is an argument of the function, or vyre.tensor.constant(array).",
        )
