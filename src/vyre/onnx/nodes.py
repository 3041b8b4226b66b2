"""Nodes one after another, each put into the graph; of an `If` whose condition is known, the branch taken."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError
from vyre.onnx.folding import settled
from vyre.onnx.sound import require_formed, require_text
from vyre.onnx.table import HANDLERS
from vyre.onnx.types import named, required
from vyre.onnx.values import HostArray, OnnxNode
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.tensor.builder import Builder

_OWN = ("", "ai.onnx")
"""The names of the default operator set."""


@dataclass(frozen=True, slots=True)
class Importing:
    """What all nodes of a model share."""

    builder: Builder
    opset: int
    weights: dict[str, Any]

    def run(self, nodes: Sequence[Any], values: dict[str, Any]) -> None:
        """Adds what each node makes to the values."""
        require_known(nodes)
        for position, node in enumerate(nodes):
            require_formed(node, _name(node, position), self.opset)
            context = self._context(node, position, values)
            made = self._branch(context, values) if node.op_type == "If" else _handled(context)
            several: list[Any] = made if isinstance(made, list) else [made]  # pyright: ignore[reportUnknownVariableType]
            values |= {name: value for name, value in zip(node.output, several, strict=False) if name}

    def _branch(self, context: OnnxNode, values: dict[str, Any]) -> list[Any]:
        condition = context.inputs[0] if context.given(0) else None
        if not isinstance(condition, HostArray) or condition.is_symbolic or condition.array.size != 1:
            raise context.refuse(
                "the condition is not known while the model is loaded",
                "export both sides and a Where, or fix what the condition depends on: sizes= and fixed= "
                "of vyre.onnx.load.",
            )
        name = "then_branch" if condition.array.reshape(-1)[0] else "else_branch"
        graph = context.attribute(name)
        if not hasattr(graph, "node"):
            raise context.refuse(f"there is no {name}", "repair or export the model again.")
        require_text(graph)
        inner = {**values, **{tensor.name: initializer(tensor) for tensor in graph.initializer}}
        self.run(graph.node, inner)
        missing = next((entry.name for entry in graph.output if entry.name not in inner), None)
        if missing is not None:
            raise context.refuse(f"nothing computes {missing!r} of {name}", "repair the model.")
        if len(graph.output) != context.outputs:
            what = f"{name} has {len(graph.output)} outputs and the node {context.outputs}"
            raise context.refuse(what, "repair or export the model again.")
        return [inner[entry.name] for entry in graph.output]

    def _context(self, node: Any, position: int, values: dict[str, Any]) -> OnnxNode:
        missing = [name for name in node.input if name not in values]
        if missing:
            raise VyreError(
                f"{node.op_type} at node {position} reads {missing[0]!r}, which nothing computes.",
                fix="repair or export the model again.",
            )
        attributes = {a.name: _attribute(a, node.op_type, _name(node, position)) for a in node.attribute}
        inputs = [values[name] for name in node.input]
        while inputs and inputs[-1] is None:
            inputs.pop()
        return OnnxNode(
            self.builder,
            node.op_type,
            _name(node, position),
            inputs,
            attributes,
            self.opset,
            len(node.output),
            self.weights,
        )


def _name(node: Any, position: int) -> str:
    return node.name or f"node {position}"


def require_known(nodes: Sequence[Any]) -> None:
    """Raises `VyreError`, which names all ops that cannot be imported and the first node of them."""
    found: dict[str, str] = {}
    for position, node in enumerate(nodes):
        if node.domain in _OWN and (node.op_type in HANDLERS or node.op_type == "If"):
            continue
        op = node.op_type if node.domain in _OWN else f"{node.domain}.{node.op_type}"
        found.setdefault(op, _name(node, position))
    if found:
        first = next(iter(found))
        raise VyreError(
            f"the op {', '.join(sorted(found))} cannot be imported ({first} is {found[first]!r}).",
            fix="export the model without it; vyre.onnx.OPS lists what can be imported.",
        )


def initializer(tensor: Any) -> HostArray:
    from onnx import TensorProto, numpy_helper

    try:
        return HostArray(np.asarray(numpy_helper.to_array(tensor)))
    except Exception as error:  # sizes that do not agree with the bytes
        outside = tensor.data_location == TensorProto.EXTERNAL
        raise VyreError(
            f"the weight {tensor.name!r} cannot be read: {str(error).rstrip('.')}.",
            fix="pass the path of the model, beside which the data is read."
            if outside
            else "export the model again.",
        ) from None


def _attribute(attribute: Any, op: str, node: str) -> Any:
    from onnx import helper, numpy_helper

    try:
        value = helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            return value.decode()
        if hasattr(value, "raw_data"):
            return np.asarray(numpy_helper.to_array(value))
    except Exception as error:  # a tensor whose sizes lie, text that is none, a reference out of a function
        raise VyreError(
            f"{op} {node!r}: the attribute {attribute.name!r} cannot be read: "
            f"{str(error).splitlines()[0].rstrip('.')}.",
            fix="repair or export the model again.",
        ) from None
    return value


def _handled(context: OnnxNode) -> Any:
    """What the node became. A node that is not formed as its op says is named, whatever Python said of it."""
    from onnx import defs

    schema = defs.get_schema(context.op, context.opset)
    try:
        with np.errstate(all="ignore"):
            made = settled(context, HANDLERS[context.op])
        made = named(required(context, schema), schema, made)
        if isinstance(made, HostArray) and all(made is not given for given in context.inputs):
            context.allowed(made.array.size, symbolic=made.is_symbolic)
        return made
    except VyreError as error:
        start = f"{context.op} {context.name!r}: "
        what = error.message.removeprefix(start).rstrip(".")
        raise context.refuse(what, error.fix + (_one(context) or _fixed(context, what, error.fix))) from None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        what = f"its inputs or attributes cannot be used ({type(error).__name__}: {error})"
        raise context.refuse(what, "export the model again.") from error


def _one(context: OnnxNode) -> str:
    """What to do where two dynamic sizes do not fit that the model's author knows to be one."""
    shapes = [given.type.shape[::-1] for given in context.inputs if isinstance(given, Tensor)]
    if len(shapes) != 2:
        return ""
    left, right = shapes
    if context.op == "MatMul" and min(len(left), len(right)) > 1:  # columns meet rows, and the rest its own
        left, right = (left[0], *left[2:]), right[1:]
    for one, other in zip(left, right, strict=False):
        names = str(other), str(one)
        if one != other and all(name.isidentifier() for name in names):
            return f" If two sizes are one, say so: vyre.onnx.load(…, sizes={{{names[0]!r}: {names[1]!r}}})."
    return ""


def _fixed(context: OnnxNode, what: str, fix: str) -> str:
    """How dynamic sizes that are in the way are made numbers."""
    if "vyre.onnx.load" in fix:
        return ""
    there = {
        name
        for given in context.inputs
        if isinstance(given, Tensor)
        for size in given.type.shape
        for name in size.names
    }
    words = set(re.findall(r"\w+", what))
    named = sorted(there & words) or (sorted(there) if "dynamic" in words else [])
    if not named:
        return ""
    shown = ", ".join(f"{name!r}: …" for name in named)
    return f" A dynamic size is made a number by vyre.onnx.load(…, sizes={{{shown}}})."
