"""`load`: a model of the ONNX format, read, checked, and put into one graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError, boundary
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.nn.stored import load_weights
from vyre.onnx.sound import require_sound
from vyre.onnx.table import FIRST_OPSET, HANDLERS, LAST_OPSET
from vyre.onnx.values import HostArray, OnnxNode, counted
from vyre.planning import plan_graph, run_graph
from vyre.tensor.builder import Builder
from vyre.tensor.defaults import element_of
from vyre.tensor.evaluated import evaluated
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.graph.graph import Graph

LARGEST = 4 << 30
"""Bytes of a file that is read."""
_INDICES = (6, 7)
"""Element types whose initializers may be shapes: they stay on the host until a node computes with them."""


class OnnxModel:
    """A model as a function of arrays. `graph` is what it became, `weights` what it brought along."""

    def __init__(
        self,
        graph: Graph,
        weights: Mapping[str, NDArray[Any]],
        names: Mapping[str, str],
        outputs: Mapping[str, Any],
    ) -> None:
        self.graph = graph
        self.weights = weights
        self._names = names
        self._outputs = outputs
        self.inputs = {name: graph.inputs[own] for name, own in names.items()}
        self._plan: Any = None

    @boundary
    def __call__(
        self,
        inputs: Mapping[str, Any] | None = None,
        /,
        *,
        backend: str | Backend | None = None,
        **named: Any,
    ) -> dict[str, NDArray[Any]]:
        """The outputs by name, for arrays by name."""
        if self._plan is None:
            self._plan = plan_graph(self.graph)
        return self._named(run_graph(self._plan, self._given(inputs, named), backend=backend))

    @boundary
    def evaluate(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> dict[str, NDArray[Any]]:
        """The same by the reference evaluator, element by element on exact numbers."""
        return self._named(evaluated(self.graph, self._given(inputs, named)))

    def _given(self, inputs: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
        given = {**(inputs or {}), **named}
        missing, extra = sorted(self.inputs.keys() - given.keys()), sorted(given.keys() - self.inputs.keys())
        if missing or extra:
            what = f"the input {missing[0]!r} is missing" if missing else f"there is no input {extra[0]!r}"
            shown = ", ".join(f"{name}: {kind}" for name, kind in self.inputs.items())
            raise VyreError(f"{what}.", fix=f"pass {shown}.")
        return {**self.weights, **{self._names[name]: value for name, value in given.items()}}

    def _named(self, made: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {
            name: made[value] if isinstance(value, str) else value.array
            for name, value in self._outputs.items()
        }


@boundary
def load(
    path: str | Path | Any,
    *,
    sizes: Mapping[str, int | str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | str | Path | None = None,
) -> OnnxModel:
    """Reads a model from a file, or takes a loaded `onnx.ModelProto`.

    `sizes` fixes dynamic dimensions by their names, or says by another name that two are one
    (`{"mask_0": "batch"}`), and `fixed` inputs, such as a shape that a model takes as one. `weights` replaces
    initializers by their names: arrays, or the path of a .safetensors file. Raises `VyreError`, which names
    the op, for what cannot be imported.
    """
    if isinstance(weights, (str, Path)):
        weights = load_weights(weights)
    proto = path if hasattr(path, "graph") else _read(Path(path))
    return _imported(proto, dict(sizes or {}), fixed or {}, weights or {})


def _read(path: Path) -> Any:
    try:
        import onnx  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise VyreError("the package onnx is not installed.", fix="pip install 'vyre[onnx]'.") from None
    if not path.is_file():
        raise VyreError(f"{path} is not a file.", fix="pass the path of an .onnx file.")
    if path.stat().st_size > LARGEST:
        raise VyreError(f"{path} is larger than {LARGEST} bytes.", fix="keep weights in external files.")
    try:
        proto: Any = onnx.load(str(path))  # pyright: ignore[reportUnknownMemberType]
        onnx.checker.check_model(proto, full_check=False)  # pyright: ignore[reportUnknownMemberType]
    except Exception as error:  # the parser and the checker raise many kinds
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise VyreError(
            f"{path} is not a sound ONNX model: {first.rstrip('.')}.", fix="export the model again."
        ) from None
    return proto


def _imported(
    proto: Any, sizes: dict[str, int | str], fixed: Mapping[str, Any], replaced: Mapping[str, Any]
) -> OnnxModel:
    from onnx import numpy_helper

    opset = _opset(proto)
    graph = proto.graph
    unknown = sorted({node.op_type for node in graph.node if node.op_type not in HANDLERS})
    foreign = sorted(
        {f"{node.domain}.{node.op_type}" for node in graph.node if node.domain not in ("", "ai.onnx")}
    )
    if unknown or foreign:
        raise VyreError(
            f"the op {', '.join(foreign or unknown)} cannot be imported.",
            fix="export the model without it; vyre.onnx.OPS lists what can be imported.",
        )
    require_sound(graph)
    builder = Builder()
    weights: dict[str, NDArray[Any]] = {}
    values: dict[str, Any] = {
        "": None,
        **{name: HostArray(np.asarray(value)) for name, value in fixed.items()},
    }
    for tensor in graph.initializer:
        values[tensor.name] = _initializer(tensor, numpy_helper)
    for name, array in replaced.items():
        values[name] = _replaced(name, values.get(name), np.asarray(array))
    names: dict[str, str] = {}
    for entry in graph.input:
        if entry.name not in values:
            values[entry.name] = _input(builder, entry, sizes)
            names[entry.name] = values[entry.name].name
    for position, node in enumerate(graph.node):
        context = _context(builder, node, position, values, opset, weights)
        made = _handled(context)
        several: list[Any] = made if isinstance(made, list) else [made]  # pyright: ignore[reportUnknownVariableType]
        values |= {name: value for name, value in zip(node.output, several, strict=False) if name}
    outputs = {entry.name: values[entry.name] for entry in graph.output}
    return _model(builder, outputs, weights, names)


def _handled(context: OnnxNode) -> Any:
    """What the node became. A node that is not formed as its op says is named, whatever Python said of it."""
    try:
        with np.errstate(all="ignore"):
            made = HANDLERS[context.op](context)
        if isinstance(made, HostArray) and all(made is not given for given in context.inputs):
            context.allowed(made.array.size)
        return made
    except VyreError as error:
        if error.message.startswith(f"{context.op} {context.name!r}: "):
            raise
        raise context.refuse(error.message.rstrip("."), error.fix + _one(context)) from None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        what = f"its inputs or attributes cannot be used ({type(error).__name__}: {error})"
        raise context.refuse(what, "export the model again.") from error


def _one(context: OnnxNode) -> str:
    """What to do where two dynamic sizes do not fit that the model's author knows to be one."""
    shapes = [given.type.shape[::-1] for given in context.inputs if isinstance(given, Tensor)]
    if len(shapes) != 2:
        return ""
    for one, other in zip(*shapes, strict=False):
        names = str(other), str(one)
        if one != other and all(name.isidentifier() for name in names):
            return f" If two sizes are one, say so: vyre.onnx.load(…, sizes={{{names[0]!r}: {names[1]!r}}})."
    return ""


def _opset(proto: Any) -> int:
    found = next((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), None)
    if found is None or not FIRST_OPSET <= found <= LAST_OPSET:
        raise VyreError(
            f"the model uses opset {found}; {FIRST_OPSET} to {LAST_OPSET} can be imported.",
            fix="convert it with onnx.version_converter.",
        )
    return int(found)


def _initializer(tensor: Any, helper: Any) -> HostArray:
    try:
        return HostArray(np.asarray(helper.to_array(tensor)))
    except Exception as error:  # sizes that do not agree with the bytes
        raise VyreError(
            f"the weight {tensor.name!r} cannot be read: {str(error).rstrip('.')}.",
            fix="export the model again.",
        ) from None


def _replaced(name: str, old: Any, new: NDArray[Any]) -> HostArray:
    if not isinstance(old, HostArray):
        raise VyreError(f"the model has no weight {name!r}.", fix="name initializers of the model.")
    if (old.array.shape, old.array.dtype) != (new.shape, new.dtype):
        raise VyreError(
            f"the weight {name!r} is {new.dtype}{list(new.shape)}, in the model "
            f"{old.array.dtype}{list(old.array.shape)}.",
            fix="pass weights of the same model.",
        )
    return HostArray(new)


def _input(builder: Builder, entry: Any, sizes: Mapping[str, int | str]) -> Tensor:
    from onnx import helper

    kind = entry.type.tensor_type
    shape: list[Size] = []
    for place, dim in enumerate(kind.shape.dim):
        if dim.HasField("dim_value"):
            shape.append(Size(dim.dim_value))
        else:
            name = _identifier(dim.dim_param or f"{entry.name}_{place}")
            shape.append(Size(sizes.get(dim.dim_param, sizes.get(name, name))))
    try:
        element = element_of(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    except (KeyError, VyreError):
        raise VyreError(
            f"the input {entry.name!r} has the element type {kind.elem_type} of ONNX.",
            fix="use f32, f16, bf16, f64, integers of at most 32 bits, int64 or bool.",
        ) from None
    own = _identifier(entry.name)
    own = builder.fresh(f"{own}_") if own in builder.types else own
    return Tensor(builder, builder.input(own, ValueType(element, shape)))


def _identifier(name: str) -> str:
    kept = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    return kept if kept.isidentifier() else f"_{kept}"


def _context(
    builder: Builder, node: Any, position: int, values: Mapping[str, Any], opset: int, weights: dict[str, Any]
) -> OnnxNode:
    from onnx import numpy_helper

    missing = [name for name in node.input if name not in values]
    if missing:
        raise VyreError(
            f"{node.op_type} at node {position} reads {missing[0]!r}, which nothing computes.",
            fix="repair or export the model again.",
        )
    attributes = {a.name: _attribute(a, numpy_helper) for a in node.attribute}
    inputs = [values[name] for name in node.input]
    while inputs and inputs[-1] is None:
        inputs.pop()
    name = node.name or f"node {position}"
    return OnnxNode(builder, node.op_type, name, inputs, attributes, opset, len(node.output), weights)


def _attribute(attribute: Any, helper: Any) -> Any:
    from onnx import helper as onnx_helper

    value = onnx_helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode()
    if hasattr(value, "raw_data"):
        return np.asarray(helper.to_array(value))
    return value


def _model(
    builder: Builder, outputs: Mapping[str, Any], weights: Mapping[str, Any], names: Mapping[str, str]
) -> OnnxModel:
    """Outputs that were known on the host are given back as they are."""
    named: dict[str, Any] = {}
    wanted: dict[str, None] = {}
    for name, value in outputs.items():
        if isinstance(value, HostArray) and value.is_symbolic:
            value = counted(builder, value.array)
        if isinstance(value, HostArray):
            named[name] = value
            continue
        named[name] = value.name
        wanted[value.name] = None
    return OnnxModel(builder.graph(wanted), weights, names, named)
