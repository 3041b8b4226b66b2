"""Wrong definitions of functions, planted where the lowering finds the right ones."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vyre.ir.expr import Expr, Literal, LitU32
from vyre.ir.walk import expressions, postorder, rebuild, with_parts
from vyre.lower import prepare
from vyre.numeric import evidence, registry
from vyre.numeric.doubles import double_op
from vyre.numeric.functions import function_op

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from vyre.ir.node import Node
    from vyre.ir.op import Op


def definition(op_id: str) -> Op:
    found = function_op(op_id) or double_op(op_id)
    assert found is not None
    return found


def literals(op: Op) -> list[Expr]:
    """The constants of the definition: doubles, or words with many bits, in the order of their use."""
    assert op.result is not None
    nodes = dict.fromkeys([*expressions(op.body), *postorder(op.result)])
    if op.id.startswith("double."):
        return [x for x in nodes if isinstance(x, Literal) and x.bits & 0xFFFF_FFFF]
    return [x for x in nodes if isinstance(x, LitU32) and x.value.bit_count() > 8 and x.value >> 24]


def swapped(op: Op, old: Expr, new: Expr) -> Op:
    """The op with one node in place of another, everywhere."""

    def changed(root: Expr) -> Expr:
        done: dict[Expr, Expr] = {}
        for node in postorder(root):
            done[node] = new if node is old else rebuild(node, tuple(done[c] for c in node.children))
        return done[root]

    def statement(node: Node) -> Node:
        bodies = tuple(tuple(statement(n) for n in body) for body in node.bodies)
        return with_parts(node, tuple(changed(x) for x in node.exprs), bodies)

    assert op.result is not None
    return replace(op, body=tuple(statement(n) for n in op.body), result=changed(op.result))


def flipped(x: Expr, bit: int) -> Expr:
    if isinstance(x, Literal):
        return Literal(x.type, x.bits ^ 1 << bit)
    assert isinstance(x, LitU32)
    return LitU32(x.value ^ 1 << bit)


@contextmanager
def planted(wrong: Op) -> Generator[None]:
    """Inside, everything that asks for the op of this id gets this one."""

    def giving(right: Callable[[str], Op | None]) -> Any:
        def given(op_id: str) -> Op | None:
            return wrong if op_id == wrong.id else right(op_id)

        return given

    places = [(m, name) for m in (registry, evidence) for name in ("double_op", "function_op")]
    before = [getattr(m, name) for m, name in places]
    prepare._function.cache_clear()
    try:
        for (module, name), right in zip(places, before, strict=True):
            setattr(module, name, giving(right))
        yield
    finally:
        for (module, name), right in zip(places, before, strict=True):
            setattr(module, name, right)
        prepare._function.cache_clear()
