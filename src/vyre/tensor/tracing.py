"""A plain function as a graph: called once, with tensors that have types and no elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.tensor.arguments import Leaf, is_array, sequence_like
from vyre.tensor.builder import Builder, tracing
from vyre.tensor.misused import explained
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.graph.graph import Graph
    from vyre.graph.types import ValueType


def traced(
    name: str, inputs: Mapping[str, ValueType], call: Callable[[Mapping[str, Tensor]], Any]
) -> tuple[Graph, Any]:
    """The graph of a call on inputs of these types, and its result with leaves for tensors."""
    builder = Builder()
    tensors = {key: Tensor(builder, builder.input(key, kind)) for key, kind in inputs.items()}
    token = tracing.set(builder)
    try:
        result = call(tensors)
    except TypeError as error:
        wrong = explained(error)
        if wrong is None:
            raise
        raise wrong.with_traceback(error.__traceback__) from None
    else:
        outputs: dict[str, None] = {}
        shown = _leaves(name, result, outputs)
    finally:
        tracing.reset(token)
    if not outputs:
        raise VyreError(f"{name} returns no tensor.", fix="return what it computes.")
    return builder.graph(outputs), shown


def _leaves(name: str, value: Any, outputs: dict[str, None]) -> Any:
    if isinstance(value, Tensor):
        outputs[value.name] = None
        return Leaf(value.name)
    if isinstance(value, dict):
        return {key: _leaves(name, part, outputs) for key, part in value.items()}  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return sequence_like(value, [_leaves(name, part, outputs) for part in value])  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    if is_array(value):
        raise VyreError(
            f"{name} returns an array that it did not compute from its arguments.",
            fix="return tensors; an array of its own is vyre.tensor.constant(array).",
        )
    return value
