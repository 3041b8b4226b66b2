"""The limits of a program too large to be checked node by node (V019, V018, V034).

Sharing can make the tree astronomically larger than the memory that holds it, so this walk visits
distinct statements only, and nothing else is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.limits import MAX_EXPR_DEPTH, MAX_NESTING, MAX_NODES
from vyre.ir.walk import BODY_NAMES
from vyre.validate.paths import Body

if TYPE_CHECKING:
    from vyre.ir.node import Node
    from vyre.validate.gathered import Report


TOO_DEEP_NESTING = (
    f"If, Loop and Block are nested deeper than {MAX_NESTING} levels here.",
    "join conditions with And, or move the inner part into an op.",
)
"""Message and fix of V018."""


def too_deep_expression(depth: int) -> tuple[str, str]:
    """Message and fix of V034."""
    return (
        f"the expression has {depth} levels; the limit is {MAX_EXPR_DEPTH}.",
        "bind parts of it to variables with Let.",
    )


def check_oversized(nodes: tuple[Node, ...], size: int, root: str, report: Report) -> None:
    """Reports V019 with the deep expressions and nestings beside it."""
    report.add(
        "V019",
        f"there are {size} nodes, counted as a tree before inlining; the limit is {MAX_NODES}. "
        "The rest was not checked.",
        "split the program, move repeated parts into a Loop, or bind shared expressions with Let.",
        root,
    )
    seen: set[Node] = set()
    stack = [(Body(nodes, root), 0)]
    while stack and not report.full:
        body, position = stack.pop()
        if position == len(body.nodes):
            continue
        stack.append((body, position + 1))
        node = body.nodes[position]
        if node in seen:
            continue
        seen.add(node)
        deepest = max((expr.depth for expr in node.exprs), default=0)
        if deepest > MAX_EXPR_DEPTH:
            report.add("V034", *too_deep_expression(deepest), body.path(position))
        if node.bodies and body.depth >= MAX_NESTING:
            report.add("V018", *TOO_DEEP_NESTING, body.path(position))
            continue
        for name, inner in reversed(list(zip(BODY_NAMES.get(type(node), ()), node.bodies, strict=True))):
            stack.append((Body(inner, name, body, position), 0))
