"""Shallow text: deep expressions are cut into `Let`s, because shader compilers stop early.

Tint gives up near 128 nested parentheses and Naga's parser recurses; 1,024 levels are legal here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.blocks import rewrite_blocks
from vyre.ir.expr import Atomic, Expr, Var
from vyre.ir.node import Let, Node
from vyre.ir.walk import postorder, rebuild, with_parts

if TYPE_CHECKING:
    from vyre.lower.names import NameSupply

MAX_EMITTED_DEPTH = 32


def split_deep(entry: tuple[Node, ...], supply: NameSupply) -> tuple[Node, ...]:
    """Statements whose expressions have at most `MAX_EMITTED_DEPTH` levels.

    Runs after `sequence_effects`, so cutting out a part moves no effect over another one.
    """

    def statement(node: Node, _: None, out: list[Node]) -> tuple[Node, None]:
        exprs = tuple(_cut(x, out, supply) for x in node.exprs)
        return with_parts(node, exprs, node.bodies), None

    return rewrite_blocks(entry, statement, None)


def _cut(root: Expr, out: list[Node], supply: NameSupply) -> Expr:
    if root.depth <= MAX_EMITTED_DEPTH:
        return root
    done: dict[Expr, Expr] = {}
    for expr in postorder(root):
        value = rebuild(expr, tuple(done[c] for c in expr.children))
        if value.depth >= MAX_EMITTED_DEPTH and expr is not root and not isinstance(value, Atomic):
            name = supply.fresh("part")
            out.append(Let(name, value))
            value = Var(name)
        done[expr] = value
    return done[root]
