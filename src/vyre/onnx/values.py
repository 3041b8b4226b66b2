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
from vyre.ir.types import DataType
from vyre.tensor.comparing import astype
from vyre.tensor.create import full_like, of_size
from vyre.tensor.defaults import element_of
from vyre.tensor.shaping import reshape, stack
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from vyre.tensor.builder import Builder

    Value = Tensor | "HostArray" | None


MOST_HELD = 1 << 24
"""Elements of an array that nodes put together on the host."""
MOST_SIZES = 1 << 12
"""Elements of one in which a dynamic size is: shapes, and tables made of them."""


I32, I64 = np.dtype(np.int32), np.dtype(np.int64)


@dataclass(frozen=True, slots=True)
class HostArray:
    """An array of the host; of the dtype `object` where a dynamic size is in it."""

    array: NDArray[Any]
    kind: np.dtype[Any] = I64
    """The element type that the model gives sizes."""

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
    """What NumPy put together: of one object without axes it gives the object itself."""
    symbolic = isinstance(value, (Size, int)) or value.dtype == object
    return known(value) if symbolic else HostArray(np.asarray(value))


def computed(value: Any) -> HostArray | None:
    """What NumPy computed; None where a NaN is in it, whose bits differ from one machine to another."""
    made = held(value)
    exact = made.array.dtype.kind in "iubO" or not bool(np.isnan(made.array).any())
    return made if exact else None


def _plain(value: Any) -> Any:
    if isinstance(value, Size):
        return value if value.static is None else value.static
    if int(value) != value:
        raise ValueError(f"{value} is not a whole number beside a dynamic size")
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"a number of {int(value).bit_length()} bits is beyond int64")
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

    def as_tensor(self, value: Tensor | HostArray | tuple[Any, ...]) -> Tensor:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, tuple):
            raise self.refuse("a sequence is passed where a tensor is needed", "repair the model.")
        if value.is_symbolic:
            return counted(self.builder, value)
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

    def allowed(self, count: int, *, symbolic: bool = False) -> int:
        """A number of elements that are put together on the host, where it is not beyond all reason."""
        most = MOST_SIZES if symbolic else MOST_HELD
        if count > most:
            raise self.refuse(f"{count} elements on the host are too many; {most} are allowed")
        return count

    def axes(self, given: Iterable[int], rank: int) -> list[int]:
        """Axes counted from the start, each one there and named once."""
        axes = [int(a) for a in given]
        wrong = next((a for a in axes if not -rank <= a < rank), None)
        if wrong is not None:
            raise self.refuse(f"there is no axis {wrong} among {rank}", "repair or export the model again.")
        counted = [a % rank for a in axes]
        if len(set(counted)) < len(counted):
            raise self.refuse(f"the axes {axes} name one twice", "repair or export the model again.")
        return counted

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)


def _whole(value: Any) -> Any:
    if isinstance(value, Size):
        return value
    return value.item() if hasattr(value, "item") else value


def counted(builder: Builder, sizes: HostArray) -> Tensor:
    """Sizes, dynamic ones too, as a tensor of the graph, computed in I64."""
    like = Tensor(builder, builder.add(Constant(ValueType(DataType.I64), bytes(8))))

    def number(size: Any) -> Tensor:
        total = like
        for names, factor in Size(size).terms:
            term = full_like(like, (), factor)
            for name in names:
                term = term * of_size(like, Size(name), DataType.I64)
            total = total + term
        return total

    flat = [number(size) for size in sizes.array.reshape(-1)]
    shape = sizes.array.shape
    return astype(reshape(stack(flat), shape) if flat else full_like(like, shape, 0), sizes.kind)


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


def element_name(number: Any) -> str:
    """An element type of ONNX by its number, and by its name where it has one."""
    from onnx import TensorProto

    named = number in TensorProto.DataType.values()
    return f"{number} ({TensorProto.DataType.Name(number)})" if named else str(number)
