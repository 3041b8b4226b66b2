"""What every graph of ONNX must be before it is imported: each name made once, inputs with shapes, nodes as
the schema of their op says. A file and a model in memory are held to the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIX = "repair or export the model again."
_DATA = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
"""Where a tensor may hold its elements."""


def require_sound(graph: Any) -> None:
    """Raises `VyreError`, which names what is made twice, lacks a shape, or is asked for and never made."""
    require_text(graph)
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
        held = [field for field in _DATA if len(getattr(tensor, field))]
        if len(held) > 1:
            what = f"the weight {tensor.name!r} holds its elements twice, in {held[0]} and {held[1]}"
            raise VyreError(f"{what}.", fix=_FIX)
    for entry in graph.input:
        if entry.name not in weights:
            _require_tensor(entry)


def require_text(graph: Any) -> None:
    """Raises `VyreError` for a name that is not UTF-8, which protobuf hands on as bytes."""
    wrong = next((name for name in _names(graph) if not isinstance(name, str)), None)
    if wrong is not None:
        raise VyreError(f"the name {wrong!r} is not text.", fix=_FIX)


def _names(graph: Any) -> Iterator[Any]:
    for entry in graph.input:
        yield entry.name
        yield from (dim.dim_param for dim in entry.type.tensor_type.shape.dim)
    yield from (entry.name for entry in graph.output)
    yield from (tensor.name for tensor in graph.initializer)
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)


def require_formed(node: Any, name: str, opset: int) -> None:
    """Raises `VyreError` where inputs, outputs or attributes are not those of the op in this opset.

    An `If` is left to its import: what its branches read from outside is not known to the checker. So is an
    op that a later version gave another meaning, which the checker calls deprecated and exporters wrote.
    """
    from onnx import NodeProto, checker, defs

    if node.op_type == "If":
        return
    if node.domain:  # the checker knows one name of the default operator set
        node = NodeProto.FromString(node.SerializeToString())
        node.domain = ""
    context = type(checker.DEFAULT_CONTEXT)()
    context.ir_version, context.opset_imports = 10, {"": opset}
    try:
        if not defs.get_schema(node.op_type, opset).deprecated:
            checker.check_node(node, context)
    except Exception as error:  # of the table of ops, of the checker, or of a message that cannot be written
        first = str(error).splitlines()[0].rstrip(".")
        raise VyreError(f"{node.op_type} {name!r}: {first}.", fix=_FIX) from None


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
