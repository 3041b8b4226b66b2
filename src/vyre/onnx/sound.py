"""What every graph of ONNX must be before it is imported: each name made once, inputs with shapes."""

from __future__ import annotations

from typing import Any

from vyre.errors import VyreError

_FIX = "repair or export the model again."


def require_sound(graph: Any) -> None:
    """Raises `VyreError`, which names what is made twice, lacks a shape, or is asked for and never made."""
    inputs = [entry.name for entry in graph.input]
    sparse = [tensor.values.name for tensor in graph.sparse_initializer]
    weights = [*(tensor.name for tensor in graph.initializer), *sparse]
    computed = [name for node in graph.node for name in node.output if name]
    for names, what in ((inputs, "input"), (weights, "weight"), (computed, "value")):
        twice = _repeated(names)
        if twice is not None:
            raise VyreError(f"the {what} {twice!r} is there twice.", fix=_FIX)
    both = next((name for name in computed if name in {*inputs, *weights}), None)
    if both is not None:
        raise VyreError(f"the value {both!r} has the name of an input or a weight.", fix=_FIX)
    if not graph.output:
        raise VyreError("the model has no output.", fix=_FIX)
    there = {*inputs, *weights, *computed}
    missing = next((entry.name for entry in graph.output if entry.name not in there), None)
    if missing is not None:
        raise VyreError(f"nothing computes the output {missing!r}.", fix=_FIX)
    if graph.sparse_initializer:
        name = graph.sparse_initializer[0].values.name
        raise VyreError(f"the weight {name!r} is sparse.", fix="export the model with dense weights.")
    for tensor in graph.initializer:
        if any(size < 0 for size in tensor.dims):
            raise VyreError(f"the weight {tensor.name!r} has the shape {list(tensor.dims)}.", fix=_FIX)
    for entry in graph.input:
        if entry.name not in weights:
            _require_tensor(entry)


def _repeated(names: list[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _require_tensor(entry: Any) -> None:
    if not entry.type.HasField("tensor_type"):
        raise VyreError(
            f"the input {entry.name!r} is not a tensor.", fix="export the model with tensors alone."
        )
    if not entry.type.tensor_type.HasField("shape"):
        raise VyreError(
            f"the input {entry.name!r} has no shape.",
            fix="export the model with shapes; a dynamic axis has a name instead of a number.",
        )
