"""Which accesses need a bounds check, and which indices add up, asked by the emitters while they print.

The answer is for a statement rather than for a place in the program: where the same statement stands twice,
both places must be proved. What an emitter acts on was verified a second time (`vyre.obligations`). So an
emitter may print statements in another order, as long as each stays behind the conditions that it stood
behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.walk import statements
from vyre.obligations.check import Checker
from vyre.optimize.bounds import accesses, proven_accesses
from vyre.optimize.facts import literal_sum

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.lower.prepare import Prepared

_Access = tuple["Node", str, "Expr"]


class Guards:
    """The accesses of one program, in the very form that is printed, that are always in bounds."""

    def __init__(self, prepared: Prepared) -> None:
        safe, open_ = set[_Access](), set[_Access]()
        sums, others = set[_Access](), set[_Access]()
        if prepared.buffers:  # the body of an op has none, and nothing to prove
            entry, buffers, size = prepared.entry, prepared.buffers, prepared.workgroup_size
            found = proven_accesses(entry, buffers, size, signature=prepared.types.signature)
            checker = Checker(entry, buffers, size, prepared.type)
            for number, (_, node) in enumerate(statements(entry)):
                for buffer, index in accesses(node):
                    access, key = (node, buffer, index), (number, buffer, index)
                    claim = found.proven.get(key)
                    fits = claim is not None and checker.inside(claim, *key)
                    (safe if fits else open_).add(access)
                    claim = found.sums.get(key)
                    fits = fits and claim is not None and checker.adds_up(claim, number, index)
                    (sums if fits else others).add(access)
        self._safe = safe - open_
        self._sums = sums - others

    def needed(self, node: Node | None, buffer: str, index: Expr) -> bool:
        """True where the statement may reach outside of the buffer; for no statement always."""
        return node is None or (node, buffer, index) not in self._safe

    def offset(self, node: Node | None, buffer: str, index: Expr) -> tuple[Expr, int]:
        """The index as `x` and a number, where the element is always that many places behind the element x.

        Zero where nothing can be split off. Only for what needs no check can it be anything else.
        """
        parts = literal_sum(index) if node and (node, buffer, index) in self._sums else None
        return parts or (index, 0)
