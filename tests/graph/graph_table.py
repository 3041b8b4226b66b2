"""One small valid graph for every node, and for what its fields can say: what the forms are tried on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph import (
    Accumulator,
    Broadcast,
    Concat,
    Constant,
    Copy,
    Duplicates,
    ElementWise,
    Gather,
    Graph,
    Input,
    Iota,
    Joining,
    MatMul,
    MulStep,
    Pad,
    Pick,
    Recurrence,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Size,
    Slice,
    Transpose,
    ValueType,
    Windows,
)
from vyre.graph.join_rules import ARGUMENTS, BITWISE, NUMBER_WINS, accumulators
from vyre.graph.types import ELEMENTS
from vyre.ir import expr as e
from vyre.ir.operators import BinaryOp, ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.graph.nodes import GraphNode
    from vyre.graph.sizes import SizeLike

_T = DataType
N = Size("n")


def sizes(*values: SizeLike) -> tuple[Size, ...]:
    return tuple(value if isinstance(value, Size) else Size(value) for value in values)


def typed(element: DataType, *shape: SizeLike) -> Input:
    return Input(ValueType(element, shape))


X = typed(_T.F32, "n", 4)
_ADD = e.BinOp(BinaryOp.FAdd, e.Var("x0"), e.Var("x1"))


def over_x(node: GraphNode, **more: GraphNode) -> Graph:
    """A graph of `x`, of what else is given, and of the node as `y`."""
    return Graph({"x": X, **more, "y": node}, ["y"])


def _plain() -> Iterator[tuple[str, Graph]]:
    yield "Input", Graph({"x": X}, ["x"])
    floats = Constant(ValueType(_T.F32, (2,)), bytes.fromhex("0000803f000000c0"))
    yield "Constant", Graph({"k": floats}, ["k"])
    yield "Iota", over_x(Iota(ValueType(_T.U32, ("n", 4)), 1))
    half = e.Literal(_T.F32, 0x3F00_0000)
    yield "ElementWise", over_x(ElementWise(e.FMulAdd(e.Var("x0"), half, _ADD), ("x", "z"), _T.F32), z=X)
    yield "Transpose", over_x(Transpose("x", (1, 0)))
    yield "Slice", over_x(Slice("x", sizes(1, 0), sizes("n", 4), (1, 2)))
    yield "Broadcast", over_x(Broadcast("x", sizes(8, "n", 4)))
    yield "Reshape", over_x(Reshape("x", sizes(2, N * 2)))
    yield "Windows", over_x(Windows("x", 0, 3))
    yield "Copy", over_x(Copy("x"))
    yield "Pad", over_x(Pad("x", sizes(1, 0), sizes(N, 2), 0x3F80_0000))
    yield "Concat", over_x(Concat(("x", "x", "z"), 0), z=X)
    yield "Reduce", over_x(Reduce("x", (0, 1), Joining.Add, ReduceOrder.Strict, _T.F32, _T.F16))
    yield "Scan", over_x(Scan("x", 1, Joining.Mul, _T.F64, _T.F32, exclusive=True))
    yield "Recurrence", over_x(Recurrence("x", "x", 0, _T.BF16, "h"), h=typed(_T.F32, 4))
    left, mask = typed(_T.F16, 8, "n"), typed(_T.Bool, 8, "n")
    product = MatMul("a", "x", Accumulator.F32, MulStep.FMulFAdd, _T.F32, "m")
    yield "MatMul", over_x(product, a=left, m=mask)
    yield "Gather", over_x(Gather("x", "i", 0), i=typed(_T.I64, 2, 3))
    yield "Pick", over_x(Pick("x", "i", 1), i=typed(_T.U8, "n", 2))
    scatter = Scatter("x", "i", "u", 1, Duplicates.Add)
    yield "Scatter", over_x(scatter, i=typed(_T.I32, 3), u=typed(_T.F32, "n", 3))


NODE_GRAPHS: dict[str, Graph] = dict(_plain())
"""By the name of the node that each is about."""


def _variants() -> Iterator[tuple[str, Graph]]:
    for element in ELEMENTS:
        yield f"Input {element.name}", Graph({"x": typed(element)}, ["x", "x"])
    for joining in Joining:
        kind = _T.I16 if joining in BITWISE else _T.BF16
        wide = accumulators(kind)[0]
        out = _T.U32 if joining in ARGUMENTS else kind
        wide = wide if joining not in NUMBER_WINS else _T.F32
        order = ReduceOrder.TreeBinary
        yield (
            f"Reduce {joining.name}",
            Graph({"x": typed(kind, 3), "y": Reduce("x", (0,), joining, order, wide, out)}, ["y"]),
        )
    for accumulator in Accumulator:
        whole = accumulator in (Accumulator.I32, Accumulator.U32)
        out = DataType[accumulator.name] if accumulator is not Accumulator.Exact else _T.BF16
        node = MatMul("x", "x", accumulator, MulStep.FMulAdd, out)
        kind = _T.I8 if whole else _T.F32
        yield f"MatMul {accumulator.name}", Graph({"x": typed(kind, 2, 2), "y": node}, ["y"])
    for duplicates in Duplicates:
        node = Scatter("x", "i", "x", 0, duplicates)
        yield (
            f"Scatter {duplicates.name}",
            Graph({"x": typed(_T.U16, 5), "i": typed(_T.I8, 5), "y": node}, "y"),
        )
    yield "Windows strided", Graph({"x": typed(_T.F32, 9), "y": Windows("x", 0, 2, 3, 4)}, ["y"])
    yield "Recurrence plain", over_x(Recurrence("x", "x", 1, _T.F32))
    yield (
        "a polynomial",
        Graph({"x": typed(_T.F32, "b", "a"), "y": Reshape("x", sizes(Size("a") * "b"))}, "y"),
    )
    yield "nothing", Graph({}, [])


GRAPHS: dict[str, Graph] = {**NODE_GRAPHS, **dict(_variants())}
