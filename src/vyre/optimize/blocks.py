"""One walk for every pass over statements: in program order, without recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from vyre.ir.node import Node


class Pass(Protocol):
    """What a pass does with each statement."""

    def enter(self, node: Node) -> Node:
        """The statement as its bodies will see it; called in program order, before its bodies."""
        ...

    def leave(self, node: Node, bodies: tuple[tuple[Node, ...], ...]) -> tuple[Node, ...]:
        """What stands in place of the entered statement, given its rewritten bodies."""
        ...

    def block(self, body: list[Node]) -> tuple[Node, ...]:
        """The finished statements of one block."""
        ...


class _Scope:
    __slots__ = ("blocks", "done", "node", "out", "position")

    def __init__(self, node: Node | None, blocks: tuple[tuple[Node, ...], ...]) -> None:
        self.node = node
        self.blocks = blocks
        self.done: list[tuple[Node, ...]] = []
        self.out: list[Node] = []
        self.position = 0


def rewrite_blocks(entry: tuple[Node, ...], rewriter: Pass) -> tuple[Node, ...]:
    """Runs a pass over a whole program."""
    stack = [_Scope(None, (entry,))]
    while True:
        scope = stack[-1]
        if len(scope.done) == len(scope.blocks):
            if scope.node is None:
                return scope.done[0]
            stack.pop()
            stack[-1].out.extend(rewriter.leave(scope.node, tuple(scope.done)))
            continue
        block = scope.blocks[len(scope.done)]
        if scope.position == len(block):
            scope.done.append(rewriter.block(scope.out))
            scope.out = []
            scope.position = 0
            continue
        node = rewriter.enter(block[scope.position])
        scope.position += 1
        if node.bodies:
            stack.append(_Scope(node, node.bodies))
        else:
            scope.out.extend(rewriter.leave(node, ()))
