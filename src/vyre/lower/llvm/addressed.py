"""Which loaded values are compared first and decide where to go after: those have to stay what they were.

Memory that is read-only for a program may still be changed under it by another thread. LLVM may then take a
loaded value for a different one at each use, and a check of it would say nothing about what it is used for.
Frozen, it is one value, and so is what is computed from such values alone: it is frozen where it comes from
memory, and nowhere else, for LLVM asks of every frozen value again and again whether it need be. What is
masked or reduced on its way to an index is in bounds whatever it was, and needs no such care.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import every_node, postorder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.node import Node


def frozen_values(entry: tuple[Node, ...]) -> frozenset[Node]:
    """What binds or assigns a value out of memory on which, by way of its variable, both a condition and an
    index or the bound of a loop depend. A loop that starts at a loaded number hands that on."""
    sources: dict[str, set[str]] = {}
    loaded: list[tuple[str, Node]] = []
    counters: set[str] = set()
    conditions: set[str] = set()
    addresses: set[str] = set()
    for node in every_node(entry):
        match node:
            case n.Let(name=name, value=value) | n.Assign(name=name, value=value):
                names = _names(value)
                sources.setdefault(name, set()).update(names)
                if reads_memory(value) or not counters.isdisjoint(names):
                    loaded.append((name, node))
            case n.Store(index=index):
                addresses |= _names(index)
            case n.Loop(var=var, start=start, stop=stop):
                addresses |= _names(start) | _names(stop)
                conditions |= _names(start) | _names(stop)
                if reads_memory(start) or not counters.isdisjoint(_names(start)):
                    counters.add(var)
            case n.If(condition=condition):
                conditions |= _names(condition)
            case _:
                pass
        for root in node.exprs:
            for expr in postorder(root):
                if isinstance(expr, e.Load | e.Atomic):
                    addresses |= _names(expr.index)
                elif isinstance(expr, e.Select):
                    conditions |= _names(expr.condition)
    trusted = _closed(conditions, sources) & _closed(addresses, sources)
    return frozenset(node for name, node in loaded if name in trusted)


def reads_memory(root: e.Expr) -> bool:
    return any(isinstance(expr, e.Load | e.Atomic) for expr in postorder(root))


def _closed(names: Iterable[str], sources: dict[str, set[str]]) -> set[str]:
    """The variables, and those that they are computed from."""
    found: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += sources.get(name, ())
    return found


def _names(root: e.Expr) -> set[str]:
    return {expr.name for expr in postorder(root) if isinstance(expr, e.Var)}
