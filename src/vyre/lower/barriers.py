"""Barriers that every invocation reaches: none in a branch, none behind a return or a break.

PoCL 3.1 loses the work of all but one invocation before a barrier that stands in a branch or behind a
return, even where the whole workgroup goes the same way (`docs/upstream-bugs.md`). Such a branch is uniform
(V010), so its barrier may as well be met by the workgroups that do not take it: the branch becomes
predicates, the return clears them, and the barrier stands alone. Loops keep their barriers. One that has
barriers and is left by a break gives wrong values there, too: it ends by its condition instead, and what
follows the break in its last turn is under a predicate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.ir.expr import LitU32
from vyre.ir.node import Assign, Barrier, Break, If, Loop, Node, Return
from vyre.ir.walk import every_node
from vyre.lower.predicate import Predicator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.lower.predicate import _Scope
    from vyre.lower.prepare import Prepared


def free_barriers(prepared: Prepared) -> Prepared:
    """The same program with its barriers outside of branches; as it is where that holds already."""
    kinds = {type(node) for node in every_node(prepared.entry)}
    if Barrier not in kinds:
        return prepared
    returns = Return in kinds
    if not returns and not any(_is_rewritten(node) for node in prepared.entry):
        return prepared
    predicator = _Freeing(prepared, absorb_returns=returns)
    entry: list[Node] = []
    if returns:
        entry += predicator.rewrite(prepared.entry)
    else:
        for node in prepared.entry:
            entry += predicator.rewrite((node,)) if _is_rewritten(node) else (node,)
    return replace(predicator.prepared, entry=tuple(entry), left=predicator.left)


def _is_rewritten(node: Node) -> bool:
    """Whether a barrier stands in a branch, or in a loop that is left by a break."""
    return any(
        (isinstance(part, If) and _has_barrier(part)) or (isinstance(part, Loop) and _is_left(part))
        for part in every_node((node,))
    )


def _has_barrier(node: Node) -> bool:
    return any(isinstance(x, Barrier) for x in every_node((node,)))


def _is_left(loop: Loop) -> bool:
    """Whether a loop with a barrier has a break of its own."""
    pending = list(loop.body)
    while pending and (node := pending.pop()):
        if isinstance(node, Break):
            return _has_barrier(loop)
        if not isinstance(node, Loop):
            pending += [x for body in node.bodies for x in body]
    return False


class _Freeing(Predicator):
    """A barrier under a predicate steps out of it, and a break of a loop that has one clears predicates."""

    def __init__(self, prepared: Prepared, *, absorb_returns: bool) -> None:
        super().__init__(prepared, absorb_returns=absorb_returns)
        self.left: dict[str, str] = dict(prepared.left)
        self._going = ""
        """The predicate of the innermost loop, if that has none of its breaks left."""

    def _body(self, scope: _Scope, body: Sequence[Node], guards: tuple[str, ...]) -> None:
        for node in body:
            if isinstance(node, Barrier):
                scope.flush()
                scope.out.append(node)
            elif isinstance(node, Break) and self._going:
                for guard in guards[guards.index(self._going) :]:
                    scope.add(Assign(guard, LitU32(0)), guards)
                scope.flush()
            else:
                super()._body(scope, (node,), guards)

    def _loop(self, scope: _Scope, node: Loop, guards: tuple[str, ...]) -> None:
        around, self._going = self._going, ""
        if _is_left(node):
            self._going = self.left[node.var] = self._name("going")
            self._declare(scope, self._going, LitU32(1), guards)
        super()._loop(scope, node, guards)
        self._going = around

    def _inside(self, guards: tuple[str, ...]) -> tuple[str, ...]:
        inner = super()._inside(guards)
        return (*inner, self._going) if self._going else inner
