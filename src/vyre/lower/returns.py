"""Returns that WGSL's compilers accept, with the meaning they had.

Tint takes a branch that always returns for divergent when some of its invocations return early, even
though none of them ever reaches the barrier that follows the branch (decision 14 lets it pass). In
programs with barriers, or with instructions that a subgroup executes together, such branches leave at
their end only: early returns inside become predicates. What cannot be reached is dropped first, so that
the last statement of a body tells whether it ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.ir.node import Barrier, Block, If, Loop, Node, Return
from vyre.ir.walk import statements, with_parts
from vyre.lower.intrinsics import has_collective
from vyre.lower.predicate import Predicator

if TYPE_CHECKING:
    from vyre.lower.prepare import Prepared


def settle_returns(prepared: Prepared) -> Prepared:
    """The same program without dead statements and without early returns inside ending branches."""
    kinds = {type(node) for _, node in statements(prepared.entry)}
    if Return not in kinds:
        return prepared
    predicator = Predicator(prepared, absorb_returns=True)
    meets = Barrier in kinds or has_collective(prepared)
    entry = _Settler(predicator if meets else None).body(prepared.entry)
    return replace(predicator.prepared, entry=entry)


class _Settler:
    """Nesting is bounded by V018, so bodies recurse."""

    def __init__(self, predicator: Predicator | None) -> None:
        self._predicator = predicator

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        out: list[Node] = []
        for node in body:
            out.append(self._node(node))
            if _ends(out[-1]):
                break
        return tuple(out)

    def _node(self, node: Node) -> Node:
        bodies = tuple(self.body(b) for b in node.bodies)
        if isinstance(node, If | Loop):
            bodies = tuple(self._single_exit(b) for b in bodies)
        return with_parts(node, node.exprs, bodies)

    def _single_exit(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        if self._predicator is None or not body or not _ends(body[-1]):
            return body
        early = body if not isinstance(body[-1], Return) else body[:-1]
        if not any(isinstance(node, Return) for _, node in statements(early)):
            return body
        return (*self._predicator.rewrite(early), Return())


def _ends(node: Node) -> bool:
    """True where no invocation goes on behind this statement."""
    match node:
        case Return():
            return True
        case Block(body=body):
            return bool(body) and _ends(body[-1])
        case If(then=then, orelse=orelse):
            return bool(then) and bool(orelse) and _ends(then[-1]) and _ends(orelse[-1])
        case _:
            return False
