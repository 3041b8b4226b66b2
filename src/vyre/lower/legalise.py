"""Strict floats on integers: each float operation becomes a call of the soft op that defines it.

The calls stay calls: an emitter prints every soft op that is used as one helper function, and the target's
compiler inlines it. Float values are carried as their bits, so the casts around a call cost nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from vyre.compose.registry import Registry
from vyre.ir.expr import Call, Cast, Expr, FReduce, UnOp
from vyre.ir.operators import UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, rebuild, with_parts
from vyre.lower.blocks import rewrite_blocks
from vyre.lower.reductions import expand_reduction
from vyre.numeric.soft import lowering, soft_ops

if TYPE_CHECKING:
    from vyre.ir.node import Node
    from vyre.lower.names import NameSupply


@cache
def soft_registry() -> Registry:
    return Registry(soft_ops())


class Types(Protocol):
    """Answers for every expression of the program that is being legalised."""

    def type(self, root: Expr) -> DataType: ...
    def element(self, buffer: str) -> DataType | None: ...


def expand_reductions(entry: tuple[Node, ...], types: Types, supply: NameSupply) -> tuple[Node, ...]:
    """The same statements with every `FReduce` written out as a loop over float operations.

    Runs after `sequence_effects`, so that hoisting a fold before its statement moves it over no effect.
    """

    def statement(node: Node, _: None, out: list[Node]) -> tuple[Node, None]:
        exprs = tuple(_without_reductions(root, out, types, supply) for root in node.exprs)
        return with_parts(node, exprs, node.bodies), None

    return rewrite_blocks(entry, statement, None)


def _without_reductions(root: Expr, out: list[Node], types: Types, supply: NameSupply) -> Expr:
    if not any(isinstance(x, FReduce) for x in postorder(root)):
        return root
    done: dict[Expr, Expr] = {}
    for expr in postorder(root):
        value = rebuild(expr, tuple(done[c] for c in expr.children))
        if isinstance(value, FReduce):
            element = types.element(value.buffer)
            assert element is not None
            value = expand_reduction(value, element, out, supply)
        done[expr] = value
    return done[root]


def legalise(entry: tuple[Node, ...], types: Types) -> tuple[Node, ...]:
    """The same statements with float operations as calls of soft ops, over bits."""

    def statement(node: Node, _: None, out: list[Node]) -> tuple[Node, None]:
        return with_parts(node, tuple(_legal(root, types) for root in node.exprs), node.bodies), None

    return rewrite_blocks(entry, statement, None)


def _legal(root: Expr, types: Types) -> Expr:
    done: dict[Expr, Expr] = {}
    for expr in postorder(root):
        operands = tuple(done[c] for c in expr.children)
        kinds = [types.type(c) for c in expr.children]
        op_id = None if _keeps_bits(expr, kinds) else lowering(expr, kinds)
        if op_id is None:
            done[expr] = rebuild(expr, operands)
            continue
        call = Call(
            op_id, [_bits(x) if t is not DataType.U32 else x for x, t in zip(operands, kinds, strict=True)]
        )
        result = types.type(expr)
        done[expr] = call if result is DataType.U32 else Cast(result, call)
    return done[root]


def _keeps_bits(expr: Expr, operands: list[DataType]) -> bool:
    """Operations on the sign bit and casts from U32 are single instructions everywhere."""
    match expr:
        case UnOp(op=UnaryOp.FNeg | UnaryOp.FAbs):
            return True
        case Cast():
            return operands[0] is DataType.U32
        case _:
            return False


def _bits(value: Expr) -> Expr:
    """The bits of a value; a value that was just made from the result of a call is that result."""
    if isinstance(value, Cast) and isinstance(value.value, Call):
        return value.value
    return Cast(DataType.U32, value)
