"""Statements with what is known: expressions simplified, literals and copies carried forward, branches
that are decided taken, loops that never run and code that is never reached left out.

Only variables that are never assigned are carried forward, so nothing depends on the path taken. Blocks
are opened, which is harmless because every variable has a name of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.blocks import rewrite_blocks
from vyre.ir.expr import Expr, LitBool, Literal, LitI32, LitU32, UnOp, Var
from vyre.ir.limits import MAX_EXPR_DEPTH
from vyre.ir.node import Assign, Block, Break, If, Let, Loop, Node, Return
from vyre.ir.operators import UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import every_node, transform, with_parts
from vyre.optimize.fold import constant
from vyre.optimize.parts import NamedParts

if TYPE_CHECKING:
    from vyre.ir.environment import Types
    from vyre.optimize.rewrite import Simplifier

_LITERALS = (LitU32, LitI32, LitBool, Literal)


def simplify_statements(entry: tuple[Node, ...], simplifier: Simplifier, types: Types) -> tuple[Node, ...]:
    assigned = frozenset(node.name for node in every_node(entry) if isinstance(node, Assign))
    simplify = _Simplify(simplifier, types, assigned)
    return rewrite_blocks(entry, simplify.enter, None, leave=simplify.leave, block=_reached)


class _Simplify:
    def __init__(self, simplifier: Simplifier, types: Types, assigned: frozenset[str]) -> None:
        self._simplifier = simplifier
        self._types = types
        self._assigned = assigned
        self._known: dict[str, Expr] = {}
        self._parts = NamedParts(simplifier, assigned)

    def enter(self, node: Node, _: None, __: list[Node]) -> tuple[Node, None]:
        exprs = tuple(self._simplified(expr) for expr in node.exprs)
        match node:
            case Let(name=name):
                self._types.declare(name, self._types.type(exprs[0]))
                if name not in self._assigned and self._is_carried(exprs[0]):
                    self._known[name] = exprs[0]
                self._parts.note(name, exprs[0])
            case Loop(var=var):
                self._types.declare(var, DataType.U32)
            case If(then=then, orelse=orelse) if (known := constant(exprs[0])) is not None:
                return Block(then if known.bits else orelse), None
            case _:
                pass
        if isinstance(node, Loop) and self._never_runs(exprs):
            return Block(()), None
        return with_parts(node, exprs, node.bodies), None

    def leave(self, node: Node, bodies: tuple[tuple[Node, ...], ...]) -> tuple[Node, ...]:
        match node:
            case Block():
                return bodies[0]
            case Loop() if not bodies[0] and not self._changes_memory(node):
                return ()
            case If(condition=condition) if not bodies[0]:
                if bodies[1] and condition.depth < MAX_EXPR_DEPTH:
                    opposite = self._simplifier.simplify(UnOp(UnaryOp.LogicalNot, condition))
                    return (If(opposite, bodies[1]),)
                if not bodies[1] and not self._changes_memory(node):
                    return ()
            case _:
                pass
        return (with_parts(node, node.exprs, bodies),)

    def _simplified(self, root: Expr) -> Expr:
        known = self._known
        if known:
            root = transform(root, lambda e: known.get(e.name, e) if isinstance(e, Var) else e)
        return self._parts.joined(self._simplifier.simplify(root))

    def _is_carried(self, value: Expr) -> bool:
        return isinstance(value, _LITERALS) or (isinstance(value, Var) and value.name not in self._assigned)

    def _never_runs(self, bounds: tuple[Expr, ...]) -> bool:
        start, stop = constant(bounds[0]), constant(bounds[1])
        if start and stop:
            return start.bits >= stop.bits
        return bounds[0] is bounds[1] and not self._types.has_atomic(bounds[0])

    def _changes_memory(self, node: Node) -> bool:
        return any(self._types.has_atomic(expr) for expr in node.exprs)


def _reached(body: list[Node]) -> tuple[Node, ...]:
    for i, node in enumerate(body):
        if ends(node):
            return tuple(body[: i + 1])
    return tuple(body)


def ends(node: Node) -> bool:
    """True when nothing behind the statement in its block is ever reached.

    Looks at the last statement of each branch only: what followed a `Return` or `Break` there has been left
    out.
    """
    return _always(node, (Return, Break))


def returns(node: Node) -> bool:
    """True when the invocation is always over behind the statement; otherwise as `ends`."""
    return _always(node, (Return,))


def _always(node: Node, kinds: tuple[type[Node], ...]) -> bool:
    stack = [node]
    while stack:
        last = stack.pop()
        if isinstance(last, If):
            if not (last.then and last.orelse):
                return False
            stack += [last.then[-1], last.orelse[-1]]
        elif isinstance(last, Block):
            if not last.body:
                return False
            stack.append(last.body[-1])
        elif not isinstance(last, kinds):
            return False
    return True
