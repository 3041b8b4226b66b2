"""`load`: a model of the ONNX format, read, checked, and put into one graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.foreign import host_array, host_or_device
from vyre.errors import VyreError, boundary
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.nn.stored import load_weights
from vyre.onnx.nodes import Importing, initializer, require_known
from vyre.onnx.sound import require_sound
from vyre.onnx.table import FIRST_OPSET, LAST_OPSET
from vyre.onnx.values import HostArray, counted, element_name
from vyre.planning import plan_graph, run_graph
from vyre.tensor.builder import Builder
from vyre.tensor.defaults import element_of
from vyre.tensor.evaluated import evaluated
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
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
        if inputs is not None and not isinstance(inputs, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            first = next(iter(self.inputs), "x")
            raise VyreError(
                f"inputs are passed by their names, not as {type(inputs).__name__}.",
                fix=f"pass a dict, {{{first!r}: array}}.",
            )
        twice = next((name for name in named if name in (inputs or {})), None)
        if twice is not None:
            raise VyreError(
                f"the input {twice!r} is passed twice.", fix="pass it in the dict or by its name."
            )
        given = {**(inputs or {}), **named}
        missing, extra = sorted(self.inputs.keys() - given.keys()), sorted(given.keys() - self.inputs.keys())
        if missing or extra:
            what = f"the input {missing[0]!r} is missing" if missing else f"there is no input {extra[0]!r}"
            shown = ", ".join(f"{name}: {kind}" for name, kind in self.inputs.items())
            raise VyreError(f"{what}.", fix=f"pass {shown}.")
        arrays = {name: host_or_device(f"the input {name!r}", value) for name, value in given.items()}
        return {**self.weights, **{self._names[name]: array for name, array in arrays.items()}}

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
    if not isinstance(path, (str, Path)) and not hasattr(path, "opset_import"):
        raise VyreError(
            f"a model is a path or an onnx.ModelProto, not {type(path).__name__}.",
            fix="pass a path; bytes are read by vyre.onnx.load(onnx.load_from_string(data)).",
        )
    for what, given in (("sizes", sizes), ("fixed", fixed), ("weights", weights)):
        if given is not None and not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            found = type(given).__name__
            raise VyreError(f"{what}= is {found}, not a dict.", fix=f"pass {what}={{name: …}}.")
    proto = _read(Path(path)) if isinstance(path, (str, Path)) else path
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
    except Exception as error:  # the parser and the reader of external data raise many kinds
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise VyreError(
            f"{path} is not a sound ONNX model: {first.rstrip('.')}.", fix="export the model again."
        ) from None
    return proto


def _imported(
    proto: Any, sizes: dict[str, int | str], fixed: Mapping[str, Any], replaced: Mapping[str, Any]
) -> OnnxModel:
    opset = _opset(proto)
    graph = _inlined(proto).graph
    require_sound(graph)
    require_known(graph.node)
    _require_named(graph, sizes, fixed)
    builder = Builder()
    weights: dict[str, NDArray[Any]] = {}
    values: dict[str, Any] = {"": None}
    for entry in graph.input:
        if entry.name in fixed:
            values[entry.name] = _held(entry, fixed[entry.name])
    for tensor in graph.initializer:
        values[tensor.name] = initializer(tensor)
    for name, array in replaced.items():
        values[name] = _replaced(name, values.get(name), host_array(f"the weight {name!r}", array))
    names: dict[str, str] = {}
    for entry in graph.input:
        if entry.name not in values:
            values[entry.name] = _input(builder, entry, sizes)
            names[entry.name] = values[entry.name].name
    Importing(builder, opset, weights).run(graph.node, values)
    missing = next((entry.name for entry in graph.output if entry.name not in values), None)
    if missing is not None:
        raise VyreError(
            f"no node gives the output {missing!r}: the op that names it has fewer outputs.",
            fix="repair or export the model again.",
        )
    outputs = {entry.name: values[entry.name] for entry in graph.output}
    return _model(builder, outputs, weights, names)


def _inlined(proto: Any) -> Any:
    """The model without functions of its own: the nodes that they stand for are in their place."""
    if not proto.functions:
        return proto
    from onnx import inliner

    try:
        return inliner.inline_local_functions(proto)
    except Exception as error:  # what is not formed as a function
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise VyreError(
            f"the functions of the model cannot be put in: {first.rstrip('.')}.",
            fix="export the model again.",
        ) from None


def _require_named(graph: Any, sizes: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
    """Raises `VyreError` for a size or an input that the model does not have."""
    inputs = [entry.name for entry in graph.input]
    wrong = next((name for name in fixed if name not in inputs), None)
    if wrong is not None:
        raise VyreError(f"the model has no input {wrong!r}.", fix=f"name one of {', '.join(inputs)}.")
    dims = [
        (dim.dim_param, _size_name(entry, place))
        for entry in graph.input
        for place, dim in enumerate(entry.type.tensor_type.shape.dim)
        if not dim.HasField("dim_value")
    ]
    for name, size in sizes.items():
        if not isinstance(size, (int, str, np.integer)):
            found = type(size).__name__
            raise VyreError(f"sizes[{name!r}] is {found}.", fix="pass a number, or the name of another size.")
    wrong = next((name for name in sizes if not any(name in pair for pair in dims)), None)
    if wrong is not None:
        there = ", ".join(dict.fromkeys(repr(given or name) for given, name in dims))
        raise VyreError(
            f"the model has no dynamic size {wrong!r}.",
            fix=f"name one of {there}." if there else "leave sizes= out: all sizes are numbers.",
        )


def _size_name(entry: Any, place: int) -> str:
    return _identifier(entry.type.tensor_type.shape.dim[place].dim_param or f"{entry.name}_{place}")


def _opset(proto: Any) -> int:
    versions = {o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")}
    if len(versions) > 1:
        shown = " and ".join(map(str, sorted(versions)))
        raise VyreError(f"the model uses opset {shown} at once.", fix="repair or export the model again.")
    found = next(iter(versions), None)
    if found is None or not FIRST_OPSET <= found <= LAST_OPSET:
        raise VyreError(
            f"the model uses opset {found}; {FIRST_OPSET} to {LAST_OPSET} can be imported.",
            fix="convert it with onnx.version_converter.",
        )
    return int(found)


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


def _held(entry: Any, value: Any) -> HostArray:
    """The value that an input is fixed to; a Python number or list takes the element type of the input."""
    from onnx import helper

    kind = entry.type.tensor_type
    array = host_array(f"the input {entry.name!r}", value)
    try:
        wanted = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    except KeyError:
        wanted = array.dtype
    if not hasattr(value, "dtype") and np.can_cast(array.dtype, wanted, "same_kind"):
        array = array.astype(wanted)
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
    fits = len(sizes) == array.ndim and all(n in (None, m) for n, m in zip(sizes, array.shape, strict=True))
    if array.dtype != wanted or not fits:
        shown = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param for dim in kind.shape.dim]
        raise VyreError(
            f"the input {entry.name!r} is {wanted}{shown}, and it is fixed to "
            f"{array.dtype}{list(array.shape)}.",
            fix="pass an array of that type and shape.",
        )
    return HostArray(array)


def _input(builder: Builder, entry: Any, sizes: Mapping[str, int | str]) -> Tensor:
    from onnx import helper

    kind = entry.type.tensor_type
    shape: list[Size] = []
    for place, dim in enumerate(kind.shape.dim):
        if dim.HasField("dim_value"):
            shape.append(Size(dim.dim_value))
        else:
            name = _size_name(entry, place)
            shape.append(Size(sizes.get(dim.dim_param, sizes.get(name, name))))
    try:
        element = element_of(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    except (KeyError, VyreError):
        raise VyreError(
            f"the input {entry.name!r} has the element type {element_name(kind.elem_type)} of ONNX.",
            fix="use f32, f16, bf16, f64, integers of at most 32 bits, int64 or bool.",
        ) from None
    own = _identifier(entry.name)
    own = builder.fresh(f"{own}_") if own in builder.types else own
    return Tensor(builder, builder.input(own, ValueType(element, shape)))


def _identifier(name: str) -> str:
    kept = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    return kept if kept.isidentifier() else f"_{kept}"


def _model(
    builder: Builder, outputs: Mapping[str, Any], weights: Mapping[str, Any], names: Mapping[str, str]
) -> OnnxModel:
    """Outputs that were known on the host are given back as they are."""
    named: dict[str, Any] = {}
    wanted: dict[str, None] = {}
    for name, value in outputs.items():
        if isinstance(value, tuple):
            raise VyreError(
                f"the output {name!r} is a sequence.", fix="export the model with tensors as outputs."
            )
        if isinstance(value, HostArray) and value.is_symbolic:
            value = counted(builder, value)
        if isinstance(value, HostArray):
            named[name] = value
            continue
        named[name] = value.name
        wanted[value.name] = None
    return OnnxModel(builder.graph(wanted), weights, names, named)
