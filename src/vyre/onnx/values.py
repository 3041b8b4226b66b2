"""What flows through an import: tensors of the graph, and arrays that are known on the host.

Shapes are computed by nodes of the model itself (`Shape`, `Gather`, `Concat`, …). They are folded here, on
arrays of numbers and of sizes such as `seq + 1`, so none of them reaches the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError
from vyre.graph.nodes import Constant
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.ir.limits import MAX_GRAPH_CONSTANT_BYTES
from vyre.tensor.defaults import element_of
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.tensor.builder import Builder

    Value = Tensor | "HostArray" | None


@dataclass(frozen=True, slots=True)
class HostArray:
    """An array of the host; of the dtype `object` where a dynamic size is in it."""

    array: NDArray[Any]

    @property
    def is_symbolic(self) -> bool:
        return self.array.dtype == object


def known(values: Any) -> HostArray:
    """Numbers and sizes as an array of int64, or of objects where a size is dynamic."""
    made = np.asarray(values, dtype=object)
    flat = [_plain(value) for value in made.reshape(-1)]
    if any(isinstance(value, Size) for value in flat):
        kept = np.empty(made.size, object)
        kept[:] = flat
        return HostArray(kept.reshape(made.shape))
    return HostArray(np.array(flat, np.int64).reshape(made.shape))


def held(value: Any) -> HostArray:
    """What NumPy computed: of one object without axes it gives the object itself."""
    symbolic = isinstance(value, (Size, int)) or value.dtype == object
    return known(value) if symbolic else HostArray(np.asarray(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Size):
        return value if value.static is None else value.static
    return int(value)


@dataclass(slots=True)
class OnnxNode:
    """One node on its way into the graph."""

    builder: Builder
    op: str
    name: str
    inputs: list[Any]
    attributes: dict[str, Any]
    opset: int
    outputs: int
    weights: dict[str, NDArray[Any]]
    """Large arrays that became inputs of the graph."""

    def refuse(self, what: str, fix: str = "export the model without it.") -> VyreError:
        return VyreError(f"{self.op} {self.name!r}: {what}.", fix=fix)

    def given(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] is not None

    def tensor(self, index: int) -> Tensor:
        """An input as a tensor of the graph."""
        if not self.given(index):
            raise self.refuse(f"input {index} is missing", "repair the model: the op needs that input.")
        return self.as_tensor(self.inputs[index])

    def as_tensor(self, value: Tensor | HostArray) -> Tensor:
        if isinstance(value, Tensor):
            return value
        if value.is_symbolic:
            raise self.refuse(
                "it computes with a dynamic size",
                "fix that size in the model, or export it with a static shape.",
            )
        return constant(self.builder, value.array, self.weights)

    def numbers(self, index: int) -> list[Any]:
        """An input that must be known on the host, flat: numbers or sizes."""
        value = self.inputs[index]
        if not isinstance(value, HostArray):
            raise self.refuse(
                f"input {index} is computed from data",
                "make it a constant of the model; shapes cannot depend on data.",
            )
        return [_whole(v) for v in value.array.reshape(-1)]

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)


def _whole(value: Any) -> Any:
    if isinstance(value, Size):
        return value
    return value.item() if hasattr(value, "item") else value


def constant(builder: Builder, array: NDArray[Any], weights: dict[str, NDArray[Any]]) -> Tensor:
    """A known array in the graph: a constant where it is small, else an input that the model brings along."""
    whole = np.asarray(array, order="C")
    element = element_of(whole.dtype)
    stored = whole.astype(np.uint32) if whole.dtype == np.bool_ else whole
    if whole.nbytes > min(MAX_GRAPH_CONSTANT_BYTES, 1024):
        name = builder.fresh("w")
        weights[name] = whole
        return Tensor(builder, builder.input(name, ValueType(element, whole.shape)))
    return Tensor(builder, builder.add(Constant(ValueType(element, whole.shape), stored.tobytes())))
