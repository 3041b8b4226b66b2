"""Whether a kernel of workgroups is worth a second version, in which some accesses have no guard.

A guard is a comparison and a branch that is never taken. Among a hundred other operations it costs nothing,
and the second version takes as long to compile as the first. It is worth it where guards are a fair part of
what a loop does, and where a branch as a whole is decided. The guard of an index that is the same everywhere
need not stay in a loop, so that it is weighed against the whole program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.lower.llvm.affine import Ranges
    from vyre.lower.llvm.forms import Affine

RARE = 128
"""Nodes for each guard that would vanish, from which on nobody notices them."""


def is_worth_two(ranges: Ranges) -> bool:
    """Of a program whose workgroups are walked in the same order either way."""
    bodies: list[tuple[n.Node, ...]] = [ranges.prepared.entry]
    fixed = total = 0
    while bodies:
        seen: set[e.Expr] = set()
        guards = nodes = 0
        stack = list(bodies.pop())
        while stack:
            node = stack.pop()
            if isinstance(node, n.If) and ranges.branch(node.condition) is not None:
                return True
            nodes += 1
            for form in _freed(node, seen, ranges):
                moves = form is None or not form.constant
                guards += moves
                fixed += not moves
            if isinstance(node, n.Loop):
                bodies.append(node.body)
            else:
                stack.extend(inner for body in node.bodies for inner in body)
        nodes += len(seen)
        if guards * RARE > nodes:
            return True
        total += nodes
    return fixed * RARE > total


def _freed(node: n.Node, seen: set[e.Expr], ranges: Ranges) -> Iterator[Affine | None]:
    """The indices of a statement's accesses that have a guard in one version only, and None for a comparison
    that is decided there. What is in `seen` is left out, and the rest goes into it."""
    places = [(node.buffer, node.index)] if isinstance(node, n.Store) else []
    for root in node.exprs:
        for expr in postorder(root, seen):
            seen.add(expr)
            if isinstance(expr, e.Load | e.Atomic):
                places.append((expr.buffer, expr.index))
            elif isinstance(expr, e.BinOp) and ranges.decided(expr, fast=True) is not None:
                yield None
    for buffer, index in places:
        form, decl = ranges.form(index), ranges.prepared.buffer(buffer)
        if ranges.proved(form, decl, fast=True) and not ranges.proved(form, decl, fast=False):
            yield form
