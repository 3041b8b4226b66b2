"""One `ElementWise` node from an expression and its operands: broadcasting, types, numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.graph.nodes import Constant, ElementWise, Joining, Reduce
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.ir.expr import Call, Cast, Convert, Var, u64
from vyre.ir.operators import BinaryOp, ReduceOrder, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import transform
from vyre.tensor.mixed import mixed
from vyre.tensor.scalars import literal
from vyre.tensor.shaping import broadcast_to, common_shape
from vyre.tensor.value import V, Value, traced_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.expr import Expr

_T = DataType
_B, _U = BinaryOp, UnaryOp
A, B, C = Var("a"), Var("b"), Var("c")
"""The operands of an expression, in their order."""


def apply(expr: Expr, operands: Sequence[V | float | bool], *, gives: DataType | None = None) -> V:
    """One ElementWise node: `expr` over A, B and C, which are tensors or numbers.

    Tensors are broadcast and must have one element type. `gives` is the element of the result; else the type
    that the elements are loaded as.
    """
    tensors = [x for x in operands if isinstance(x, Value)]
    whole = first(tensors)
    kind = whole.element.loaded
    if any(isinstance(x, Size) for x in operands):
        operands = [counted(whole, x, kind) if isinstance(x, Size) else x for x in operands]
        tensors = [x for x in operands if isinstance(x, Value)]
    for other in tensors[1:]:
        if other.element.loaded is not kind:
            raise mixed(whole.element, other.element, f", shapes {whole.type} and {other.type}")
    return node(expr, operands, tensors, kind, gives)


def first(tensors: Sequence[V]) -> V:
    if not tensors:
        raise VyreError("no operand is a tensor.", fix="pass a tensor, or compute with Python's own numbers.")
    for other in tensors[1:]:
        if other.builder is not tensors[0].builder:
            raise traced_apart()
    return tensors[0]


def counted(x: V, size: Size, kind: DataType) -> V:
    """A dimension as a scalar of the graph of `x`, rounded to nearest.

    A dynamic one is counted, as the sum of as many ones, so that one graph serves every length, 0 too.
    """
    one = x.made(Constant(ValueType(_T.U32), (1).to_bytes(4, "little")))
    ones = broadcast_to(one, (size,))
    total = x.made(Reduce(ones.name, (0,), Joining.Add, ReduceOrder.TreeBinary, _T.U32, _T.U32))
    if kind is _T.U32:
        return total
    wanted = kind.loaded
    number = Convert(wanted, RoundMode.Nearest, A) if wanted.is_float else Cast(wanted, A)
    return node(number, (total,), [total], _T.U32, _T.I64 if kind is _T.U64 else kind)


def node(
    expr: Expr,
    operands: Sequence[V | float | bool],
    tensors: Sequence[V],
    kind: DataType,
    gives: DataType | None,
) -> V:
    shape = common_shape([x.type.shape for x in tensors])
    spread = {id(x): broadcast_to(x, shape) for x in tensors}
    names: list[str] = []
    parts: list[Expr] = []
    for operand in operands:
        if not isinstance(operand, Value):
            parts.append(literal(operand, kind))
            continue
        name = spread[id(operand)].name
        if name not in names:
            names.append(name)
        parts.append(Var(f"x{names.index(name)}"))
    given: dict[Expr, Expr] = dict(zip((A, B, C), parts, strict=False))
    return tensors[0].made(
        ElementWise(transform(expr, lambda e: given.get(e, e)), tuple(names), gives or kind)
    )


WIDE = {
    _B.FAdd: "wide.u64.add",
    _B.FSub: "wide.u64.sub",
    _B.FMul: "wide.u64.mul",
    _B.FMin: "wide.u64.min",
    _B.FMax: "wide.u64.max",
    _B.FEq: "wide.u64.eq",
    _B.FNe: "wide.u64.ne",
    _B.FLt: "wide.u64.lt",
    _B.FLe: "wide.u64.le",
    _B.FGt: "wide.u64.gt",
    _B.FGe: "wide.u64.ge",
}
"""What I64, which is for indices, has: the ops of U64 by the float operation of the same name."""


def signed_order(op: str, a: Expr, b: Expr) -> Expr:
    """An op of U64 on numbers with a sign: flipping the highest bit maps their order onto that of U64."""
    flip = u64(1 << 63)

    def flipped(x: Expr) -> Expr:
        return Call("wide.u64.xor", (x, flip))

    name = op.rpartition(".")[2]
    if name in ("min", "max"):
        return flipped(Call(op, (flipped(a), flipped(b))))
    return Call(op, (flipped(a), flipped(b)) if name in ("lt", "le", "gt", "ge") else (a, b))


def kind_of(*operands: Value | float | bool) -> DataType:
    return first([x for x in operands if isinstance(x, Value)]).element.loaded


LONG_FIX = "cast the tensor to i32 first, where its numbers fit."
FLOAT_FIX = "cast the tensor to f32, f16 or bf16 first; each rounds what it does not hold."
WHOLE_FIX = "use astype(vyre.f32) first, which rounds numbers beyond 2^24."


def refused(name: str, kind: DataType, fix: str) -> VyreError:
    """I64 is loaded as U64, which users never see."""
    element = _T.I64 if kind is _T.U64 else kind
    return VyreError(f"{name} does not take {element.value}.", fix=fix)
