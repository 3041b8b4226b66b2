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

from vyre.ir.blocks import rewrite_blocks
from vyre.ir.node import Barrier, If, Loop, Node, Return
from vyre.ir.walk import every_node, with_parts
from vyre.lower.intrinsics import has_collective
from vyre.lower.predicate import Predicator
from vyre.optimize.control import ends, returns

if TYPE_CHECKING:
    from vyre.lower.prepare import Prepared


def settle_returns(prepared: Prepared) -> Prepared:
    """The same program without dead statements and without early returns inside ending branches."""
    kinds = {type(node) for node in every_node(prepared.entry)}
    if Return not in kinds:
        return prepared
    predicator = Predicator(prepared, absorb_returns=True)
    meets = Barrier in kinds or has_collective(prepared)
    entry = _settled(prepared.entry, predicator if meets else None)
    return replace(predicator.prepared, entry=entry)


def _settled(entry: tuple[Node, ...], predicator: Predicator | None) -> tuple[Node, ...]:
    def enter(node: Node, _: None, out: list[Node]) -> tuple[Node, None] | None:
        return None if out and ends(out[-1]) else (node, None)

    def leave(node: Node, bodies: tuple[tuple[Node, ...], ...]) -> tuple[Node, ...]:
        if predicator is not None and isinstance(node, If | Loop):
            bodies = tuple(_single_exit(body, predicator) for body in bodies)
        return (with_parts(node, node.exprs, bodies),)

    return rewrite_blocks(entry, enter, None, leave=leave)


def _single_exit(body: tuple[Node, ...], predicator: Predicator) -> tuple[Node, ...]:
    if not body or not returns(body[-1]):
        return body
    early = body if not isinstance(body[-1], Return) else body[:-1]
    if not any(isinstance(node, Return) for node in every_node(early)):
        return body
    return (*predicator.rewrite(early), Return())
