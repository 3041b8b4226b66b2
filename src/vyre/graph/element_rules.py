"""The rule of `ElementWise`: one shape, and an expression that only computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.registry import default_registry
from vyre.graph.faults import fault, shown
from vyre.graph.types import ELEMENTS, ValueType
from vyre.ir import expr as e
from vyre.ir.limits import MAX_EXPR_DEPTH, MAX_GRAPH_EXPRESSION
from vyre.ir.op import Category
from vyre.ir.typing import type_of
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.graph.nodes import ElementWise
    from vyre.ir.signature import OpSignature
    from vyre.ir.types import DataType

_PURE = (
    e.Var,
    e.LitU32,
    e.LitI32,
    e.LitBool,
    e.Literal,
    e.BinOp,
    e.UnOp,
    e.Cast,
    e.Convert,
    e.Select,
    e.FMulAdd,
    e.Lane,
    e.MakeVec,
    e.Call,
)


class _Operands:
    """What the type rules ask about: `x0`, `x1`, … and the ops that are called."""

    def __init__(self, operands: Mapping[str, DataType]) -> None:
        self._operands = operands

    def variable(self, name: str) -> DataType | None:
        return self._operands.get(name)

    def element(self, buffer: str) -> DataType | None:
        del buffer
        return None

    def signature(self, op_id: str) -> OpSignature | None:
        op = default_registry().get(op_id)
        return op.signature if op is not None and op.category is Category.A else None


def expression_type(node: ElementWise, of: list[ValueType]) -> ValueType:
    """The shape of the operands with the element that is declared."""
    shapes = {kind.shape for kind in of}
    if not of:
        raise fault(
            "V052",
            "an elementwise value without operands.",
            "compute on at least one tensor, or use a constant.",
        )
    if len(shapes) > 1:
        first, second = of[0], next(kind for kind in of if kind.shape != of[0].shape)
        raise fault(
            "V052",
            f"the shapes {shown(first.shape)} and {shown(second.shape)} differ.",
            "broadcast one of them to the shape of the other first.",
        )
    if node.element not in ELEMENTS:
        raise fault(
            "V053",
            f"a tensor cannot hold {node.element.value}.",
            f"declare one of {', '.join(t.value for t in ELEMENTS)}.",
        )
    made = value_type(node, {f"x{i}": kind.element.loaded for i, kind in enumerate(of)})
    if made not in node.element.stored:
        raise fault(
            "V053",
            f"the expression gives {made.value} and the element is {node.element.value}.",
            f"declare the element {made.value}, or cast the result.",
        )
    return ValueType(node.element, of[0].shape)


def value_type(node: ElementWise, operands: Mapping[str, DataType]) -> DataType:
    """The type of the expression, each part of which is looked at once."""
    if node.expr.size > MAX_GRAPH_EXPRESSION or node.expr.depth > MAX_EXPR_DEPTH:
        raise fault(
            "V060",
            f"the expression has {node.expr.size} nodes in {node.expr.depth} levels; "
            f"{MAX_GRAPH_EXPRESSION} in {MAX_EXPR_DEPTH} are allowed.",
            "split it into several values.",
        )
    env = _Operands(operands)
    types: dict[e.Expr, DataType] = {}
    for part in postorder(node.expr):
        if not isinstance(part, _PURE):
            raise fault(
                "V058",
                f"{type(part).__name__} is not an operation on single elements.",
                "use x0, x1, …, literals, operators, casts, Select, FMulAdd and Category A ops.",
            )
        _require_known(part, operands, env)
        below = tuple(types[child] for child in part.children)
        found = type_of(part, below, env)
        if found is None:
            raise fault("V053", _mismatch(part, below), "cast the operands, or use another operation.")
        types[part] = found
    return types[node.expr]


def _require_known(part: e.Expr, operands: Mapping[str, DataType], env: _Operands) -> None:
    match part:
        case e.Var(name=name) if name not in operands:
            raise fault(
                "V058",
                f"{name[:40]!r} is not one of the operands {', '.join(operands)}.",
                "name operands by their place: x0 is the first.",
            )
        case e.Call(op_id=op_id) if env.signature(op_id) is None:
            raise fault(
                "V058",
                f"{op_id[:80]} is not a registered op of Category A.",
                "register it first, or use an op of Category A.",
            )
        case _:
            pass


def _mismatch(part: e.Expr, below: tuple[DataType, ...]) -> str:
    given = ", ".join(t.value for t in below)
    match part:
        case e.BinOp(op=op) | e.UnOp(op=op):
            return f"{op.value} does not take {given}."
        case e.Call(op_id=op_id):
            return f"{op_id} does not take ({given})."
        case _:
            return f"{type(part).__name__} does not take {given}."
