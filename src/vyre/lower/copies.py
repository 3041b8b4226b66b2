"""Stores that copy a vector into workgroup memory and need not wait for it: nobody looks before a barrier.

A device can carry such a copy out by itself, while the invocation goes on; at the next barrier it waits for
what it has asked for. That is the same program where, from the store to that barrier, the invocation neither
touches the copy nor leaves the way there. A vector that is copied to another place of the same memory, as
many places behind a common index, is none of that. The memory that is read does not change: no program may
write it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Load, Var
from vyre.ir.node import Assign, Barrier, Break, Node, Return, Store
from vyre.ir.walk import every_node, postorder
from vyre.optimize.bounds import accesses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre.lower.guards import Guards
    from vyre.lower.prepare import Prepared

BYTES = 16
"""Of a vector; smaller ones are not worth it."""


def copies(prepared: Prepared, guards: Guards) -> frozenset[Store]:
    """The stores that are such copies wherever they stand."""
    finder = _Finder(prepared, guards)
    for body in _bodies(prepared.entry):
        finder.look(body)
    return frozenset(finder.found - finder.refused)


def _bodies(entry: Sequence[Node]) -> Iterator[Sequence[Node]]:
    yield entry
    for node in every_node(entry):
        yield from node.bodies


class _Finder:
    def __init__(self, prepared: Prepared, guards: Guards) -> None:
        self._prepared, self._guards = prepared, guards
        self.found = set[Store]()
        self.refused = set[Store]()

    def look(self, body: Sequence[Node]) -> None:
        end: int | None = None
        for at in reversed(range(len(body))):
            node = body[at]
            if isinstance(node, Barrier):
                end = at
            elif isinstance(node, Store) and self._is_copy(node):
                free = end is not None and self._is_free(node, body[at + 1 : end])
                (self.found if free else self.refused).add(node)

    def _is_copy(self, node: Store) -> bool:
        value, target = node.value, self._prepared.buffer(node.buffer)
        if not isinstance(value, Load) or target.access is not BufferAccess.Workgroup:
            return False
        source = self._prepared.buffer(value.buffer)
        same = source.element is target.element and target.element.stride == BYTES
        return (
            same
            and source.access is BufferAccess.ReadOnly
            and not self._guards.needed(node, node.buffer, node.index)
        )

    def _is_free(self, copy: Store, rest: Sequence[Node]) -> bool:
        """Whether nothing up to the barrier touches the copy, or leaves."""
        base, offset = self._guards.offset(copy, copy.buffer, copy.index)
        names = {part.name for part in postorder(base) if isinstance(part, Var)}
        steady = True
        for node in rest:
            inside = list(every_node((node,)))
            if any(isinstance(x, Break | Return) for x in inside):
                return False
            if any(buffer == copy.buffer for x in inside for buffer, _ in accesses(x)):
                if not (steady and isinstance(node, Store) and self._is_copy(node)):
                    return False
                other, away = self._guards.offset(node, node.buffer, node.index)
                if other is not base or away == offset:
                    return False
            steady = steady and not any(isinstance(x, Assign) and x.name in names for x in inside)
        return True
