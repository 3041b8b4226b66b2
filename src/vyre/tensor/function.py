"""`@vyre.tensor.function`: a plain function, traced once into a graph, planned once, called with arrays.

    @vyre.tensor.function(x=("seq", 64))
    def layer(x, w, b):
        return nn.gelu(x @ w + b)

    layer(x, w, b, backend="cuda")

A keyword of the decorator gives the shape of one parameter: numbers, and names for sizes that differ from
call to call. One graph and one plan serve all of those. Without it shapes are taken as they come, and
each new one is traced anew.
"""

from __future__ import annotations

import functools
import inspect
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from vyre.backends.chosen import default_name
from vyre.backends.registry import get
from vyre.errors import VyreError, boundary
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.planning import plan_graph, replayed, run_graph
from vyre.tensor.arguments import (
    Leaf,
    flattened,
    holds_value,
    key_of,
    leaves,
    noted,
    numbered,
    replaced,
)
from vyre.tensor.defaults import element_of
from vyre.tensor.into import named_outputs
from vyre.tensor.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.backends.capture import CapturedPlan
    from vyre.backends.protocol import Backend
    from vyre.graph.graph import Graph
    from vyre.planning import GraphPlan
    from vyre.planning.short import GraphCall
    from vyre.tensor.tensor import Tensor

_KEPT = 64
"""Calls that are remembered."""


@dataclass(frozen=True)
class TracedFunction:
    """A function for arguments of certain types: its graph, and the structure of its result."""

    graph: Graph
    result: Any

    @cached_property
    def plan(self) -> GraphPlan:
        """Made when it is first asked for, and kept."""
        return plan_graph(self.graph)


@dataclass(frozen=True, slots=True)
class ReadyCall:
    """A call like one that was made before: which array is which input, and what runs."""

    call: GraphCall
    order: tuple[int, ...]
    outputs: tuple[str, ...]
    result: Any

    def __call__(self, arrays: list[Any]) -> Any:
        """What the function gives back; None, with nothing done, where the arrays are not for this."""
        made = self.call([arrays[k] for k in self.order])
        if made is None:
            return None
        if self.result.__class__ is Leaf:
            return made[0]
        named = dict(zip(self.outputs, made, strict=True))
        return replaced(self.result, lambda leaf: named[leaf.name])


class TensorFunction:
    """What the decorator gives: called like the function, with `backend=` beside its own arguments."""

    def __init__(
        self, function: Callable[..., Any], shapes: Mapping[str, Sequence[int | str | None]]
    ) -> None:
        if not callable(function):  # pyright: ignore[reportUnnecessaryComparison]
            raise VyreError(f"{function!r} cannot be called.", fix="pass a function of tensors.")
        functools.update_wrapper(self, function)
        self._function = function
        self._name = getattr(function, "__name__", type(function).__name__)
        self._signature = _signature_of(function, self._name)
        self._shapes = {name: _declared(name, shape) for name, shape in shapes.items()}
        self._traced: dict[Any, TracedFunction] = {}
        self._ready: dict[Any, ReadyCall] = {}
        unknown = sorted(self._shapes.keys() - self._signature.parameters.keys())
        if unknown:
            raise VyreError(
                f"{self._name} has no parameter {unknown[0]!r}.",
                fix=f"name one of {', '.join(self._signature.parameters)}.",
            )

    @boundary
    def __call__(self, *args: Any, backend: str | Backend | None = None, **kwargs: Any) -> Any:
        key, arrays = self._key(args, kwargs, backend)
        known = None if key is None else self._ready.get(key)
        if known is not None:
            result = known(arrays)
            if result is not None:
                return result
        if holds_value((args, kwargs)):
            return self._function(*args, **kwargs)  # part of the function that is being traced
        structure, named = self._arguments(args, kwargs)
        found = self._trace(structure, named)
        inputs = {leaf.name: a for leaf, a in named.items()}
        made = run_graph(found.plan, inputs, backend=backend)
        if key is not None and known is None:
            self._remember(key, (args, kwargs), found, inputs)
        return replaced(found.result, lambda leaf: made[leaf.name])

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By the name of the function where that leads here, else with the function."""
        name = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(str(getattr(self, "__module__", "")))
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (TensorFunction, (self._function, self._shapes))

    @boundary
    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """What every backend must give, by the reference evaluator, element by element on exact numbers."""
        from vyre.tensor.evaluated import evaluated

        structure, arrays = self._arguments(args, kwargs)
        found = self._trace(structure, arrays)
        made = evaluated(found.graph, {leaf.name: a for leaf, a in arrays.items()})
        return replaced(found.result, lambda leaf: made[leaf.name])

    @boundary
    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph for arguments like these."""
        return self._trace(*self._arguments(args, kwargs)).graph

    @boundary
    def plan(self, *args: Any, **kwargs: Any) -> GraphPlan:
        """The plan for arguments like these: its kernels, what they move, and what was not fused."""
        return self._trace(*self._arguments(args, kwargs)).plan

    @boundary
    def replayed(
        self, *args: Any, into: Any, backend: str | Backend | None = None, **kwargs: Any
    ) -> CapturedPlan:
        """Calls the function on device buffers, and gives what does it again on what they hold then.

        `into` is what the function returns, with a device buffer for each array.
        """
        structure, arrays = self._arguments(args, kwargs)
        found = self._trace(structure, arrays)
        inputs = {leaf.name: array for leaf, array in arrays.items()}
        return replayed(found.plan, inputs, named_outputs(found.result, into), backend=backend)

    def _key(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], backend: str | Backend | None
    ) -> tuple[Any, list[Any]]:
        """All that a call depends on but the elements of its arrays, and these; None for the first where it
        cannot be told at a glance."""
        parts: list[Any] = [backend or default_name(), len(args), *kwargs]
        arrays: list[Any] = []
        try:
            for value in args:
                noted(value, parts, arrays)
            for value in kwargs.values():
                noted(value, parts, arrays)
            key = tuple(parts)
            hash(key)
        except (AttributeError, TypeError):
            return None, []
        return key, arrays

    def _remember(
        self,
        key: tuple[Any, ...],
        given: tuple[tuple[Any, ...], dict[str, Any]],
        found: TracedFunction,
        inputs: dict[str, Any],
    ) -> None:
        """Keeps the short way of a call, where its plan has one."""
        backend = get(key[0]) if isinstance(key[0], str) else key[0]
        call = found.plan.ready(backend, inputs)
        args, kwargs = numbered(given, count())
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        numbers = [int(name) for name in leaves(bound.arguments)]
        if call is None or len(numbers) != len(inputs):  # an array is a default of the function
            return
        where = dict(zip(inputs, numbers, strict=True))
        if len(self._ready) >= _KEPT:
            self._ready.clear()
        graph = found.graph
        order = tuple(where[name] for name in graph.inputs)
        self._ready[key] = ReadyCall(call, order, tuple(graph.outputs), found.result)

    def _arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[Leaf, Any]]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            name, fix = self._name, f"call {self._name}{self._signature}."
            if next(iter(self._signature.parameters), "") == "self":
                bound_one = f"self.{name} = vyre.tensor.function(self.{name})"
                fix = f"a decorated method is not bound to its object: write {bound_one} in __init__ instead."
            raise VyreError(f"{name}(): {error}.", fix=fix) from None
        bound.apply_defaults()
        return flattened(bound.arguments)

    def _trace(self, structure: dict[str, Any], arrays: dict[Leaf, Any]) -> TracedFunction:
        kinds = {leaf.name: self._kind(leaf, array) for leaf, array in arrays.items()}
        key = (key_of(structure), tuple(kinds.items()))
        found = self._traced.get(key)
        if found is None:
            found = self._traced[key] = self._new(structure, kinds)
        return found

    def _kind(self, leaf: Leaf, array: Any) -> ValueType:
        """The type of an argument: its own shape, with names where the decorator has them."""
        shape = tuple(int(n) for n in array.shape)
        declared = self._shapes.get(leaf.parameter)
        if declared is None:
            return ValueType(element_of(array.dtype), shape)
        fits = len(declared) == len(shape)
        if fits:
            fits = all(not isinstance(d, int) or d == n for d, n in zip(declared, shape, strict=True))
        if not fits:
            raise VyreError(
                f"{leaf.name} is {list(shape)}; {self._name} declares {list(declared)}.",
                fix="pass an array of that shape.",
            )
        return ValueType(
            element_of(array.dtype), (n if d is None else d for d, n in zip(declared, shape, strict=True))
        )

    def _new(self, structure: dict[str, Any], kinds: dict[str, ValueType]) -> TracedFunction:
        def call(tensors: Mapping[str, Tensor]) -> Any:
            bound = self._signature.bind_partial()
            bound.arguments.update(replaced(structure, lambda leaf: tensors[leaf.name]))
            return self._function(*bound.args, **bound.kwargs)

        return TracedFunction(*traced(self._name, kinds, call))


def _signature_of(function: Callable[..., Any], name: str) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError:  # some functions of C
        raise VyreError(
            f"{name} does not say what arguments it takes.", fix=f"wrap it: lambda x: {name}(x)."
        ) from None


def _declared(name: str, shape: Any) -> tuple[int | str | None, ...]:
    """A shape as it is declared: numbers, names of dynamic dimensions, and None for any size."""
    parts = cast("tuple[Any, ...]", shape if isinstance(shape, (tuple, list)) else (shape, ...))
    if not all(map(_is_size, parts)):
        raise VyreError(
            f"{shape!r} is not a shape of {name}.",
            fix='use a tuple of numbers and names, such as ("rows", 4).',
        )
    return tuple(part if part is None or isinstance(part, str) else int(part) for part in parts)


def _is_size(part: Any) -> bool:
    """Whether it is a number, None, or a name. Raises `VyreError` for a name that cannot be one of a size."""
    if isinstance(part, str):
        return bool(Size(part).names)
    if not isinstance(part, (int, np.integer)) or isinstance(part, bool):
        return part is None
    return bool(part >= 0)


@overload
def function(target: Callable[..., Any], /, **shapes: Sequence[int | str | None]) -> TensorFunction: ...
@overload
def function(**shapes: Sequence[int | str | None]) -> Callable[[Callable[..., Any]], TensorFunction]: ...
@boundary
def function(
    target: Callable[..., Any] | None = None, /, **shapes: Sequence[int | str | None]
) -> TensorFunction | Callable[[Callable[..., Any]], TensorFunction]:
    """Makes a plain function of tensors one of arrays, with one graph for all lengths of named dimensions."""
    if target is not None:
        return TensorFunction(target, shapes)
    return lambda made: TensorFunction(made, shapes)
