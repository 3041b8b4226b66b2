"""The one way to rebuild a program's statements: in program order, block by block, without recursion, because
inlined ops nest far deeper than V018 allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from vyre.ir.walk import BODY_NAMES, with_parts
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre.ir.node import Node

    Bodies = tuple[tuple[Node, ...], ...]

Scope = TypeVar("Scope")


class _Frame(Generic[Scope]):
    """A statement whose bodies are being rebuilt; the whole program when `node` is None."""

    __slots__ = ("bodies", "done", "node", "nodes", "out", "outer", "scope")

    def __init__(self, node: Node | None, bodies: Bodies, outer: Scope) -> None:
        self.node = node
        self.bodies = bodies
        self.outer = outer
        self.done: list[tuple[Node, ...]] = []
        self.out: list[Node] = []
        self.nodes: Iterator[Node] = iter(bodies[0])
        self.scope = outer


@dataclass(slots=True)
class BlockPath:
    """A scope that knows node paths: where the block is, and how many of its statements were entered."""

    path: str = "entry"
    position: int = 0

    def next(self) -> str:
        """The path of the statement that is entered now."""
        self.position += 1
        return f"{self.path}[{self.position - 1}]"

    def body(self, name: str) -> BlockPath:
        """The body of that name, where the path is a statement's."""
        return BlockPath(f"{self.path}.{name}")


def keep(node: Node, scope: Scope, _: list[Node]) -> tuple[Node, Scope]:
    """Enters every statement as it is."""
    return node, scope


def same_scope(scope: Scope, _: str) -> Scope:
    return scope


def with_bodies(node: Node, bodies: Bodies) -> tuple[Node, ...]:
    return (with_parts(node, node.exprs, bodies),)


def rewrite_blocks(
    entry: tuple[Node, ...],
    enter: Callable[[Node, Scope, list[Node]], tuple[Node, Scope] | None],
    scope: Scope,
    *,
    body: Callable[[Scope, str], Scope] = same_scope,
    leave: Callable[[Node, Bodies], tuple[Node, ...]] = with_bodies,
    block: Callable[[list[Node]], tuple[Node, ...]] = tuple,
) -> tuple[Node, ...]:
    """The program with every statement replaced.

    `enter(node, scope, out)` comes before the bodies of a statement. It gives the new statement, whose bodies
    are still to be rebuilt, and the scope of those bodies; or None for nothing more than it appended to
    `out`, the new block so far, where it may also put statements in front. `body(scope, name)` gives the
    scope that one of the bodies works on, called `then`, `orelse` or `body`; `entry` works on `scope`
    itself. `leave(node, bodies)` gives what stands in place of the entered statement, and `block` the
    finished statements of one block.
    """
    frames = [_Frame(None, (entry,), scope)]
    while True:
        frame = frames[-1]
        node = next(frame.nodes, None)
        if node is not None:
            entered = enter(node, frame.scope, frame.out)
            if entered is None:
                continue
            changed, inner = entered
            if not changed.bodies:
                frame.out.extend(leave(changed, ()))
                continue
            frames.append(_Frame(changed, changed.bodies, inner))
            frames[-1].scope = body(inner, BODY_NAMES[type(changed)][0])
            continue
        number = len(frame.done) + 1
        frame.done.append(block(frame.out))
        if frame.node is None:
            return frame.done[0]
        if number < len(frame.bodies):
            frame.nodes = iter(frame.bodies[number])
            frame.out = []
            frame.scope = body(frame.outer, BODY_NAMES[type(frame.node)][number])
            continue
        frames.pop()
        frames[-1].out.extend(leave(frame.node, tuple(frame.done)))
