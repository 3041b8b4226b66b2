"""Walks over expressions and statements that never recurse, so depth costs no stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir.expr import Call, Expr, MakeVec
from vyre.ir.node import Block, If, Loop, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator


def postorder(root: Expr, known: Container[Expr] = ()) -> Iterator[Expr]:
    """Each distinct node under `root` once, operands before the node, in first-use order.

    What is in `known`, which may grow meanwhile, is left out with all that is under it.
    """
    if not root.children:
        if root not in known:
            yield root
        return
    seen: set[Expr] = set()
    stack: list[Expr | None] = [root]
    while stack:
        expr = stack.pop()
        if expr is None:  # what follows has had its operands
            expr = stack.pop()
            assert expr is not None
        elif expr in seen or expr in known:
            continue
        elif expr.children:
            stack += (expr, None, *expr.children[::-1])
            continue
        seen.add(expr)
        yield expr


def rebuild(expr: Expr, children: tuple[Expr, ...]) -> Expr:
    """The same node over other operands; the node itself when nothing changed."""
    if all(a is b for a, b in zip(expr.children, children, strict=True)):
        return expr
    if isinstance(expr, Call):
        return Call(expr.op_id, children)
    if isinstance(expr, MakeVec):
        return MakeVec(expr.type, children)
    cls: Any = type(expr)
    operands = iter(children)
    values = (getattr(expr, name) for name in cls.__match_args__)
    return cls(*(next(operands) if isinstance(v, Expr) else v for v in values))


def transform(root: Expr, replace: Callable[[Expr], Expr]) -> Expr:
    """Rewrites bottom-up: `replace` sees each distinct node once, with rewritten operands."""
    done: dict[Expr, Expr] = {}
    for expr in postorder(root):
        children = tuple(done[c] for c in expr.children)
        done[expr] = replace(rebuild(expr, children))
    return done[root]


def with_parts(node: Node, exprs: tuple[Expr, ...], bodies: tuple[tuple[Node, ...], ...]) -> Node:
    """The same statement over other expressions and bodies."""
    if exprs == node.exprs and bodies == node.bodies:
        return node
    match node:
        case If():
            return If(exprs[0], bodies[0], bodies[1])
        case Loop(var=var):
            return Loop(var, exprs[0], exprs[1], bodies[0])
        case Block():
            return Block(bodies[0])
        case _:
            cls: Any = type(node)
            operands = iter(exprs)
            values = (getattr(node, name) for name in cls.__match_args__)
            return cls(*(next(operands) if isinstance(v, Expr) else v for v in values))


BODY_NAMES: dict[type[Node], tuple[str, ...]] = {If: ("then", "orelse"), Loop: ("body",), Block: ("body",)}
"""Field names of the nested blocks, in the order of `Node.bodies`; they make up node paths."""


def statements(entry: Iterable[Node], root: str = "entry") -> Iterator[tuple[str, Node]]:
    """Every statement with its path (`entry[2].then[0]`), in program order."""
    stack = [(f"{root}[{i}]", node) for i, node in reversed(list(enumerate(entry)))]
    while stack:
        path, node = stack.pop()
        yield path, node
        names = BODY_NAMES.get(type(node), ())
        for name, body in reversed(list(zip(names, node.bodies, strict=True))):
            stack.extend((f"{path}.{name}[{i}]", child) for i, child in reversed(list(enumerate(body))))


def every_node(entry: Iterable[Node]) -> Iterator[Node]:
    """Every statement, in program order: `statements` without the paths, which take most of its time."""
    stack = list(entry)[::-1]
    while stack:
        node = stack.pop()
        yield node
        for body in reversed(node.bodies):
            stack.extend(reversed(body))


def expressions(entry: Iterable[Node]) -> Iterator[Expr]:
    """Every distinct expression node of a program, operands first.

    Shared statements and operands are visited once, so the work is bounded by what is in memory.
    """
    seen: set[Expr] = set()
    visited: set[Node] = set()
    pending = list(entry)[::-1]
    while pending:
        node = pending.pop()
        if node in visited:
            continue
        visited.add(node)
        for root in node.exprs:
            for expr in postorder(root, seen):
                seen.add(expr)
                yield expr
        pending.extend(child for body in reversed(node.bodies) for child in reversed(body))
