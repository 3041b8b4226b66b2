"""Which accesses need a bounds check, asked by the emitters while they print.

The answer is for a statement rather than for a place in the program: where the same statement stands twice,
both places must be proved. So an emitter may print statements in another order, as long as each stays behind
the conditions that it stood behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.walk import statements
from vyre.optimize.bounds import accesses, proven_accesses

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.lower.prepare import Prepared

_Access = tuple["Node", str, "Expr"]


class Guards:
    """The accesses of one program, in the very form that is printed, that are always in bounds."""

    def __init__(self, prepared: Prepared) -> None:
        safe: set[_Access] = set()
        open_: set[_Access] = set()
        if prepared.buffers:  # the body of an op has none, and nothing to prove
            proven = proven_accesses(
                prepared.entry, prepared.buffers, prepared.workgroup_size, signature=prepared.signature
            )
            for number, (_, node) in enumerate(statements(prepared.entry)):
                for buffer, index in accesses(node):
                    found = safe if proven.covers(number, buffer, index) else open_
                    found.add((node, buffer, index))
        self._safe = safe - open_

    def needed(self, node: Node | None, buffer: str, index: Expr) -> bool:
        """True where the statement may reach outside of the buffer; for no statement always."""
        return node is None or (node, buffer, index) not in self._safe
