"""Rebuilding a program block by block without recursion: inlined ops nest far deeper than V018 allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from vyre.ir.walk import with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre.ir.node import Node

Scope = TypeVar("Scope")


class _Frame(Generic[Scope]):
    """A statement whose bodies are being rebuilt; the whole program when `node` is None."""

    __slots__ = ("bodies", "done", "node", "nodes", "out", "outer", "scope")

    def __init__(self, node: Node | None, bodies: tuple[tuple[Node, ...], ...], outer: Scope) -> None:
        self.node = node
        self.bodies = bodies
        self.outer = outer
        self.done: list[tuple[Node, ...]] = []
        self.out: list[Node] = []
        self.nodes: Iterator[Node] = iter(())
        self.scope = outer


def rewrite_blocks(
    entry: tuple[Node, ...],
    statement: Callable[[Node, Scope, list[Node]], tuple[Node, Scope]],
    scope: Scope,
    fork: Callable[[Scope], Scope] = lambda scope: scope,
) -> tuple[Node, ...]:
    """The program with every statement replaced.

    `statement(node, scope, out)` gives the new statement, its bodies still the old ones, and the scope
    of those bodies; it may put statements in front of it by appending to `out`. Each body works on a
    `fork` of its scope.
    """
    frames = [_Frame(None, (entry,), scope)]
    _begin(frames[0], fork)
    while True:
        frame = frames[-1]
        node = next(frame.nodes, None)
        if node is not None:
            changed, inner = statement(node, frame.scope, frame.out)
            if not node.bodies:
                frame.out.append(changed)
                continue
            frames.append(_Frame(changed, node.bodies, inner))
            _begin(frames[-1], fork)
            continue
        frame.done.append(tuple(frame.out))
        if len(frame.done) < len(frame.bodies):
            _begin(frame, fork)
            continue
        if frame.node is None:
            return frame.done[0]
        frames.pop()
        frames[-1].out.append(with_parts(frame.node, frame.node.exprs, tuple(frame.done)))


def _begin(frame: _Frame[Scope], fork: Callable[[Scope], Scope]) -> None:
    frame.nodes = iter(frame.bodies[len(frame.done)])
    frame.out = []
    frame.scope = fork(frame.outer)
