"""Whether a kernel of workgroups is worth a second version, in which some accesses have no guard.

A guard is a comparison and a branch that is never taken. Among a hundred other operations it costs nothing,
and the second version takes as long to compile as the first. It is worth it where guards are a fair part of
what a loop does, where they stand between a loop and its vectors, and where a branch as a whole is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from vyre.lower.llvm.affine import Ranges

RARE = 128
"""Nodes of a loop's body for each guard that would vanish from it, from which on nobody notices them."""


def is_worth_two(ranges: Ranges) -> bool:
    """Of a program whose workgroups are walked in the same order either way."""
    bodies: list[tuple[n.Node, ...]] = [ranges.prepared.entry]
    while bodies:
        seen: set[e.Expr] = set()
        guards = nodes = 0
        stack = list(bodies.pop())
        while stack:
            node = stack.pop()
            if isinstance(node, n.If) and ranges.branch(node.condition) is not None:
                return True
            nodes += 1
            if isinstance(node, n.Store):
                guards += _is_freed(node.buffer, node.index, ranges)
            for root in node.exprs:
                for expr in postorder(root, seen):
                    seen.add(expr)
                    nodes += 1
                    guards += _vanishes(expr, ranges)
            if isinstance(node, n.Loop):
                bodies.append(node.body)
            else:
                stack.extend(inner for body in node.bodies for inner in body)
        if guards * RARE > nodes:
            return True
    return False


def _is_freed(buffer: str, index: e.Expr, ranges: Ranges) -> bool:
    """Whether an access has a guard in one version only."""
    form, decl = ranges.form(index), ranges.prepared.buffer(buffer)
    return ranges.proved(form, decl, fast=True) and not ranges.proved(form, decl, fast=False)


def _vanishes(expr: e.Expr, ranges: Ranges) -> bool:
    match expr:
        case e.Load(buffer=buffer, index=index) | e.Atomic(buffer=buffer, index=index):
            return _is_freed(buffer, index, ranges)
        case e.BinOp():
            return ranges.decided(expr, fast=True) is not None
        case _:
            return False
