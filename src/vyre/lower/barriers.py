"""Barriers that every invocation reaches: none in a branch, none behind a return.

PoCL 3.1 loses the work of all but one invocation before a barrier that stands in a branch or behind a
return, even where the whole workgroup goes the same way (`docs/upstream-bugs.md`). Such a branch is uniform
(V010), so its barrier may as well be met by the workgroups that do not take it: the branch becomes
predicates, the return clears them, and the barrier stands alone. Loops keep their barriers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.ir.node import Barrier, If, Node, Return
from vyre.ir.walk import statements
from vyre.lower.predicate import Predicator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.lower.predicate import _Scope
    from vyre.lower.prepare import Prepared


def free_barriers(prepared: Prepared) -> Prepared:
    """The same program with its barriers outside of branches; as it is where that holds already."""
    kinds = {type(node) for _, node in statements(prepared.entry)}
    if Barrier not in kinds:
        return prepared
    returns = Return in kinds
    if not returns and not any(_has_conditional_barrier(node) for node in prepared.entry):
        return prepared
    predicator = _Freeing(prepared, absorb_returns=returns)
    entry: list[Node] = []
    if returns:
        entry += predicator.rewrite(prepared.entry)
    else:
        for node in prepared.entry:
            entry += predicator.rewrite((node,)) if _has_conditional_barrier(node) else (node,)
    return replace(predicator.prepared, entry=tuple(entry))


def _has_conditional_barrier(node: Node) -> bool:
    return any(
        isinstance(branch, If)
        and any(isinstance(x, Barrier) for b in branch.bodies for _, x in statements(b))
        for _, branch in statements((node,))
    )


class _Freeing(Predicator):
    """A barrier under a predicate steps out of it."""

    def _body(self, scope: _Scope, body: Sequence[Node], guards: tuple[str, ...]) -> None:
        for node in body:
            if isinstance(node, Barrier):
                scope.flush()
                scope.out.append(node)
            else:
                super()._body(scope, (node,), guards)
