"""A block of a transformer as a graph: norm, attention with a causal mask, norm, a gated layer, residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph import (
    Accumulator,
    Broadcast,
    Constant,
    ElementWise,
    Graph,
    GraphNode,
    Input,
    Iota,
    Joining,
    MatMul,
    MulStep,
    Reduce,
    Reshape,
    Size,
    Transpose,
    ValueType,
)
from vyre.ir.expr import BinOp, Expr, Select, UnOp, Var, f32, fadd, fdiv, fmul, fsub
from vyre.ir.operators import BinaryOp, ReduceOrder, UnaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

T = DataType
X0, X1 = Var("x0"), Var("x1")
SEQ = Size("seq")


class Block:
    """Collects values under short names of its own."""

    def __init__(self, width: int, heads: int, layers: int = 1) -> None:
        self.values: dict[str, GraphNode] = {}
        self.width, self.heads = width, heads
        state = self.add(Input(ValueType(T.F32, (SEQ, width))), "x")
        for number in range(layers):
            state = self.layer(state, f"l{number}")
        self.output = state

    @property
    def graph(self) -> Graph:
        return Graph(self.values, [self.output])

    def add(self, node: GraphNode, name: str | None = None) -> str:
        name = name or f"v{len(self.values)}"
        self.values[name] = node
        return name

    def map(self, expr: Expr, *sources: str, element: DataType = T.F32) -> str:
        return self.add(ElementWise(expr, sources, element))

    def weight(self, name: str, *shape: int) -> str:
        return self.add(Input(ValueType(T.F32, shape)), name)

    def product(self, left: str, right: str, mask: str | None = None) -> str:
        return self.add(MatMul(left, right, Accumulator.F32, MulStep.FMulAdd, T.F32, mask))

    def reduced(self, source: str, joining: Joining, shape: Sequence[Size]) -> str:
        """The last axis joined, and spread over it again."""
        axis = len(shape) - 1
        made = self.add(Reduce(source, (axis,), joining, ReduceOrder.TreeBinary, T.F32, T.F32))
        return self.add(Reshape(made, (*shape[:-1], Size(1))))

    def spread(self, source: str, shape: Sequence[Size]) -> str:
        return self.add(Broadcast(source, tuple(shape)))

    def norm(self, x: str, gain: str) -> str:
        shape = (SEQ, Size(self.width))
        total = self.reduced(self.map(fmul(X0, X0), x), Joining.Add, shape)
        mean = self.map(fadd(fdiv(X0, f32(float(self.width))), f32(1e-5)), total)
        scale = self.spread(self.map(UnOp(UnaryOp.FSqrt, X0), mean), shape)
        return self.map(fmul(X0, X1), self.map(fdiv(X0, X1), x, scale), self.spread(gain, shape))

    def split(self, x: str) -> str:
        each = self.width // self.heads
        parted = self.add(Reshape(x, (SEQ, Size(self.heads), Size(each))))
        return self.add(Transpose(parted, (1, 0, 2)))

    def layer(self, x: str, name: str) -> str:
        width, heads = self.width, self.heads
        scores_shape = (Size(heads), SEQ, SEQ)
        normed = self.norm(x, self.weight(f"{name}_g1", width))
        q, k, v = (
            self.split(self.product(normed, self.weight(f"{name}_{part}", width, width))) for part in "qkv"
        )
        scores = self.product(q, self.add(Transpose(k, (0, 2, 1))))
        scale = f32((width // heads) ** -0.5)
        row, column = (self.add(Iota(ValueType(T.U32, scores_shape), axis)) for axis in (1, 2))
        mask = self.map(BinOp(BinaryOp.Ge, X0, X1).cast(T.Bool), row, column, element=T.Bool)
        hidden = self.add(Constant(ValueType(T.F32), b"\0\0\x80\xff"))
        low = self.spread(hidden, scores_shape)
        choose = Var("x2").cast(T.U32).ne(0)
        scaled = self.map(Select(choose, fmul(X0, scale), X1), scores, low, mask)
        top = self.spread(self.reduced(scaled, Joining.Max, scores_shape), scores_shape)
        weights = self.map(UnOp(UnaryOp.FExp, fsub(X0, X1)), scaled, top)
        total = self.spread(
            self.reduced(weights, Joining.Add, scores_shape), (Size(heads), SEQ, Size(width // heads))
        )
        mixed = self.map(fdiv(X0, X1), self.product(weights, v, mask), total)
        joined = self.add(Reshape(self.add(Transpose(mixed, (1, 0, 2))), (SEQ, Size(width))))
        x = self.map(fadd(X0, X1), self.product(joined, self.weight(f"{name}_o", width, width)), x)
        normed = self.norm(x, self.weight(f"{name}_g2", width))
        up = self.product(normed, self.weight(f"{name}_up", width, 2 * width))
        gate = self.map(fdiv(f32(1.0), fadd(f32(1.0), UnOp(UnaryOp.FExp, UnOp(UnaryOp.FNeg, X0)))), up)
        active = self.map(fmul(X0, X1), up, gate)
        down = self.product(active, self.weight(f"{name}_down", 2 * width, width))
        return self.map(fadd(X0, X1), down, x)
