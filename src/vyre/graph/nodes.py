"""The nodes of a graph: what a value is computed from, and how.

Operands are names of values that were defined before. Views change where elements are found and none of their
bits. Every float node says its order and where it rounds, so that its bytes follow from the graph alone
(decisions 27 to 31).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from vyre.ir.closed import ClosedEnum

if TYPE_CHECKING:
    from vyre.graph.sizes import Size
    from vyre.graph.types import ValueType
    from vyre.ir.expr import Expr
    from vyre.ir.operators import ReduceOrder
    from vyre.ir.types import DataType

Bits = int
"""The bits of one element, unsigned."""


class Joining(ClosedEnum):
    """How `Reduce` and `Scan` join elements.

    `FMin` and `FMax` are those of the language, where a number beats NaN. For `Min`, `Max`, `ArgMin` and
    `ArgMax` NaN is the greatest, -0 equals +0, and among equals the first wins; they move bits untouched.
    """

    Add = "add"
    Mul = "mul"
    FMin = "fmin"
    FMax = "fmax"
    Min = "min"
    Max = "max"
    ArgMin = "argmin"
    ArgMax = "argmax"
    And = "and"
    Or = "or"
    Xor = "xor"


class Accumulator(ClosedEnum):
    """In what a product of matrices is summed (decisions 28 and 29); integers wrap."""

    F32 = "F32"
    F64 = "F64"
    I32 = "I32"
    U32 = "U32"
    Exact = "Exact"


class MulStep(ClosedEnum):
    """One step of a product of matrices: rounded once, or after the product and after the sum."""

    FMulAdd = "fma"
    FMulFAdd = "mul_add"


class Duplicates(ClosedEnum):
    """What `Scatter` does with equal indices: the last stays, or all are folded in their order."""

    Last = "last"
    Add = "add"
    Mul = "mul"
    Min = "min"
    Max = "max"


@dataclass(frozen=True, slots=True)
class GraphNode:
    """The base of all nodes."""

    is_view: ClassVar[bool] = False

    @property
    def operands(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Input(GraphNode):
    """A value that the caller gives; every dynamic dimension is a plain name in one of them."""

    type: ValueType


@dataclass(frozen=True, slots=True)
class Constant(GraphNode):
    """Elements in row-major order, as they lie in a buffer; the shape is static."""

    type: ValueType
    data: bytes


@dataclass(frozen=True, slots=True)
class Iota(GraphNode):
    """Each element is its own coordinate along one axis; U32 or I32."""

    type: ValueType
    axis: int


@dataclass(frozen=True, slots=True)
class ElementWise(GraphNode):
    """An expression over `x0`, `x1`, … at every place; a narrow element keeps the low bits.

    Operands have one shape. `expr` loads nothing and stores nothing: variables `x0` …, literals, operators,
    casts, `Select`, `FMulAdd`, lanes and calls of Category A ops. An operand of a narrow or I64 element is
    seen as the type that it is loaded as.
    """

    expr: Expr
    sources: tuple[str, ...]
    element: DataType

    @property
    def operands(self) -> tuple[str, ...]:
        return self.sources


@dataclass(frozen=True, slots=True)
class UnaryNode(GraphNode):
    """The base of nodes with one operand."""

    source: str

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.source,)


@dataclass(frozen=True, slots=True)
class Transpose(UnaryNode):
    """Axis i of the result is axis `axes[i]` of the operand."""

    is_view: ClassVar[bool] = True
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slice(UnaryNode):
    """From `starts` to before `stops` by `steps`, one of each for every axis; steps are at least 1."""

    is_view: ClassVar[bool] = True
    starts: tuple[Size, ...]
    stops: tuple[Size, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Broadcast(UnaryNode):
    """New axes in front, and axes of static size 1 made longer. A dynamic size never broadcasts."""

    is_view: ClassVar[bool] = True
    shape: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Reshape(UnaryNode):
    """The same elements in row-major order under another shape; a copy where strides forbid a view."""

    is_view: ClassVar[bool] = True
    shape: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Windows(UnaryNode):
    """Windows along one axis, which becomes their number; a last axis of `size` is added.

    Element j of window i is element `i * stride + j * dilation` along the axis.
    """

    is_view: ClassVar[bool] = True
    axis: int
    size: int
    stride: int = 1
    dilation: int = 1


@dataclass(frozen=True, slots=True)
class Copy(UnaryNode):
    """The same elements, in memory of their own, in row-major order."""


@dataclass(frozen=True, slots=True)
class Pad(UnaryNode):
    """`before` and `after` elements of the bits `value` around every axis; for Bool any bits but 0 are 1."""

    before: tuple[Size, ...]
    after: tuple[Size, ...]
    value: Bits = 0


@dataclass(frozen=True, slots=True)
class Concat(GraphNode):
    """One after another along an axis."""

    sources: tuple[str, ...]
    axis: int

    @property
    def operands(self) -> tuple[str, ...]:
        return self.sources


@dataclass(frozen=True, slots=True)
class Reduce(UnaryNode):
    """Axes joined away, their elements in row-major order of the axes.

    Elements widen to `accumulator`, are joined there in `order`, and are rounded once to `element`. The order
    shows in floats under add and mul alone. Nothing joined gives 0 (add, or, xor), 1 (mul), all bits (and),
    +Inf (fmin, min), -Inf (fmax, max), the greatest and the least integer of the element (min, max), and
    index 0. `ArgMin` and `ArgMax` count in U32 along the joined elements.
    """

    axes: tuple[int, ...]
    joining: Joining
    order: ReduceOrder
    accumulator: DataType
    element: DataType


@dataclass(frozen=True, slots=True)
class Scan(UnaryNode):
    """Element i is the `TreeBinary` reduction of elements 0 to i along the axis, or of those before i."""

    axis: int
    joining: Joining
    accumulator: DataType
    element: DataType
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Recurrence(GraphNode):
    """h[i] = FMulAdd(factor[i], h[i - 1], term[i]) along the axis, from `initial` or +0, kept in F32.

    `initial` has the shape without the axis. Each h[i] is rounded to `element` for the result alone.
    """

    factor: str
    term: str
    axis: int
    element: DataType
    initial: str | None = None

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.factor, self.term, *(() if self.initial is None else (self.initial,)))


@dataclass(frozen=True, slots=True)
class MatMul(GraphNode):
    """The last two axes multiplied, [m, k] by [k, n]; axes before them are equal on both sides.

    k ascends from an accumulator of +0 and the sum is rounded once to `element`. Where `mask`, of the shape
    [..., m, k] and Bool, is 0 the step is left out: what lies there does not show, not even NaN.
    """

    left: str
    right: str
    accumulator: Accumulator
    step: MulStep
    element: DataType
    mask: str | None = None

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.left, self.right, *(() if self.mask is None else (self.mask,)))


@dataclass(frozen=True, slots=True)
class Gather(GraphNode):
    """The axis of `source` replaced by the axes of `indices`; an index out of range gives zeros."""

    source: str
    indices: str
    axis: int

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.source, self.indices)


@dataclass(frozen=True, slots=True)
class Pick(GraphNode):
    """`indices` has the rank of `source`: each index says where along the axis its element comes from.

    Shapes agree on the other axes; an index out of range gives zero.
    """

    source: str
    indices: str
    axis: int

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.source, self.indices)


@dataclass(frozen=True, slots=True)
class Scatter(GraphNode):
    """`source` with `updates` written where `indices`, of one axis, say along `axis`.

    `updates` has the shape of `source` with the axis as long as `indices`. Indices out of range are left
    out. Duplicates are taken in the order of the indices, after the element of `source`; floats are added and
    multiplied in F32, or in F64, and rounded once. `Min` and `Max` are those of `Joining`. An element that no
    index names keeps its bits.
    """

    source: str
    indices: str
    updates: str
    axis: int
    duplicates: Duplicates

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.source, self.indices, self.updates)


NODES: tuple[type[GraphNode], ...] = (
    Input,
    Constant,
    Iota,
    ElementWise,
    Transpose,
    Slice,
    Broadcast,
    Reshape,
    Windows,
    Copy,
    Pad,
    Concat,
    Reduce,
    Scan,
    Recurrence,
    MatMul,
    Gather,
    Pick,
    Scatter,
)
"""Every node. A form that does not know one of them is incomplete, and a test says so."""
