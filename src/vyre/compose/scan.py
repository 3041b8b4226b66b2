"""Where a body calls ops, found in one walk over its distinct statements and expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

CAP = 1 << 40
"""Where counts of tree nodes stop: a shared expression can stand in a tree 2^100 times."""

FRESH_NAME = re.compile(r"__call([0-9]+)_(.+)")


@dataclass(frozen=True, slots=True)
class Scanned:
    """What contains a call, how often each distinct call stands in the tree (saturating), and the
    first call number that no name uses yet."""

    carriers: frozenset[e.Expr | n.Node]
    calls: Mapping[e.Call, int]
    first_number: int


def distinct_nodes(entry: Iterable[n.Node]) -> Iterator[n.Node]:
    """Each distinct statement once, nested ones before the statement that holds them."""
    seen: set[n.Node] = set()
    stack = [(node, False) for node in reversed(list(entry))]
    while stack:
        node, ready = stack.pop()
        if node in seen:
            continue
        if ready or not node.bodies:
            seen.add(node)
            yield node
        else:
            stack.append((node, True))
            stack.extend((child, False) for body in reversed(node.bodies) for child in reversed(body))


def defined_name(node: n.Node) -> str | None:
    """The name that a statement brings into scope."""
    match node:
        case n.Let(name=name) | n.Loop(var=name):
            return name
        case _:
            return None


def scan(entry: Sequence[n.Node], result: e.Expr | None = None) -> Scanned:
    nodes = list(distinct_nodes(entry))
    times = block_counts(entry, nodes)
    roots = {} if result is None else {result: 1}
    for node in nodes:
        for root in node.exprs:
            roots[root] = min(CAP, roots.get(root, 0) + times[node])
    order: dict[e.Expr, None] = {}
    for root in roots:
        _append(root, order)
    carriers: set[e.Expr | n.Node] = set()
    for expr in order:
        if isinstance(expr, e.Call) or any(child in carriers for child in expr.children):
            carriers.add(expr)
    number = 0
    for node in nodes:
        inner = (child in carriers for body in node.bodies for child in body)
        if any(root in carriers for root in node.exprs) or any(inner):
            carriers.add(node)
        name = defined_name(node)
        if isinstance(name, str) and (reserved := FRESH_NAME.fullmatch(name)):
            number = max(number, int(reserved[1]) + 1)
    counts = tree_counts(list(order), roots) if carriers else {}
    calls = {expr: counts[expr] for expr in order if isinstance(expr, e.Call)}
    return Scanned(frozenset(carriers), calls, number)


def _append(root: e.Expr, order: dict[e.Expr, None]) -> None:
    """Adds what is new under `root`, operands first; what is known is not walked again."""
    stack = [root]
    while stack:
        expr = stack[-1]
        missing = [child for child in expr.children if child not in order] if expr not in order else []
        if missing:
            stack.extend(reversed(missing))
        else:
            order[stack.pop()] = None


def block_counts(
    entry: Sequence[n.Node], order: Sequence[n.Node], *, loop_weight: int | None = None
) -> dict[n.Node, int]:
    """How often each statement stands in the tree, saturating; a loop may weigh its body anew."""
    times = dict.fromkeys(order, 0)
    for node in entry:
        times[node] += 1
    for node in reversed(order):
        weight = loop_weight if loop_weight and isinstance(node, n.Loop) else times[node]
        for body in node.bodies:
            for child in body:
                times[child] = min(CAP, times[child] + weight)
    return times


def tree_counts(order: Sequence[e.Expr], roots: Mapping[e.Expr, int]) -> dict[e.Expr, int]:
    """How often each node stands in the trees of `roots`, saturating; `order` has operands first."""
    times = dict.fromkeys(order, 0)
    times.update(roots)
    for expr in reversed(order):
        for child in expr.children:
            times[child] = min(CAP, times[child] + times[expr])
    return times
