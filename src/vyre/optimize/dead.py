"""Code whose results nobody sees.

What is seen: stores, atomics, barriers and returns, and whatever decides whether those happen or with which
values: a break is needed where its loop is. A load alone is not seen: it changes nothing, so it goes when its
value does. Two passes: `drop_unused` keeps what the seen statements need, through any number of steps and
around loops; `drop_overwritten` drops an assignment that another one, or the end of the variable, follows
before any read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.blocks import keep, rewrite_blocks
from vyre.ir.node import Assign, Barrier, Break, If, Let, Loop, Node, Return, Store
from vyre.ir.walk import with_parts

if TYPE_CHECKING:
    from vyre.ir.environment import Types
    from vyre.optimize.reads import Reads


def drop_unused(entry: tuple[Node, ...], types: Types, reads: Reads) -> tuple[Node, ...]:
    """Statements that something seen depends on."""
    marked = _mark(entry, types, reads)
    sweep = _Sweep(marked)
    return rewrite_blocks(entry, sweep.enter, None, leave=sweep.leave)


def _mark(entry: tuple[Node, ...], types: Types, reads: Reads) -> list[bool]:
    """For every statement in program order, whether it stays."""
    nodes: list[Node] = []
    parents: list[int] = []
    definitions: dict[str, list[int]] = {}
    breaks: dict[int, list[int]] = {}
    work: list[int] = []
    stack = [(node, -1, -1) for node in reversed(entry)]
    while stack:
        node, parent, loop = stack.pop()
        number = len(nodes)
        nodes.append(node)
        parents.append(parent)
        match node:
            case Let(name=name) | Assign(name=name):
                definitions.setdefault(name, []).append(number)
            case Loop(var=var):
                definitions.setdefault(var, []).append(number)
                loop = number
            case Break():
                breaks.setdefault(loop, []).append(number)
            case Store() | Barrier() | Return():
                work.append(number)
            case _:
                pass
        if any(types.has_atomic(expr) for expr in node.exprs):
            work.append(number)
        for body in reversed(node.bodies):
            stack.extend((child, number, loop) for child in reversed(body))
    kept = [False] * len(nodes)
    needed: set[str] = set()
    while work:
        number = work.pop()
        if number < 0 or kept[number]:
            continue
        kept[number] = True
        work.append(parents[number])
        work += breaks.get(number, ())
        node = nodes[number]
        names = reads.of_statement(node)
        if isinstance(node, Assign):
            names.add(node.name)
        for name in names - needed:
            needed.add(name)
            work.extend(definitions[name])
    return kept


class _Sweep:
    def __init__(self, kept: list[bool]) -> None:
        self._kept = kept
        self._number = -1
        self._open: list[bool] = []

    def enter(self, node: Node, _: None, __: list[Node]) -> tuple[Node, None]:
        self._number += 1
        self._open.append(self._kept[self._number])
        return node, None

    def leave(self, node: Node, bodies: tuple[tuple[Node, ...], ...]) -> tuple[Node, ...]:
        return (with_parts(node, node.exprs, bodies),) if self._open.pop() else ()


def drop_overwritten(entry: tuple[Node, ...], types: Types, reads: Reads) -> tuple[Node, ...]:
    """The same without assignments that are overwritten, or forgotten, before any read of them."""
    return rewrite_blocks(entry, keep, None, block=_Overwritten(types, reads).block)


class _Overwritten:
    def __init__(self, types: Types, reads: Reads) -> None:
        self._types = types
        self._reads = reads

    def block(self, body: list[Node]) -> tuple[Node, ...]:
        """Looks from the end of the block, where its own variables cease to be."""
        own = frozenset(node.name for node in body if isinstance(node, Let))
        lost = set(own)
        everything = bool(body) and isinstance(body[-1], Return)
        kept: list[Node] = []
        for node in reversed(body):
            if isinstance(node, Assign):
                if (everything or node.name in lost) and not self._types.has_atomic(node.value):
                    continue
                lost.add(node.name)
            if node.breaks:
                # Whoever leaves here takes the values of outer variables along.
                everything = False
                lost &= own
            if isinstance(node, If | Loop):
                everything = False
                lost -= self._reads.of_tree(node)
            else:
                names = self._reads.of_statement(node)
                everything = everything and not names
                lost -= names
            kept.append(node)
        return tuple(reversed(kept))
