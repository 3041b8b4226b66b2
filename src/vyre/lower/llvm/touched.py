"""The places of memory that statements touch, as far as they are known in the fast version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import every_node, postorder
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vyre.lower.llvm.affine import Ranges
    from vyre.lower.llvm.forms import Affine


@dataclass(frozen=True, slots=True)
class Access:
    """`form` is None where the place is not known, or not known to be the integer that it looks like."""

    buffer: str
    form: Affine | None
    writes: bool


def touched(body: Iterable[n.Node], ranges: Ranges) -> Iterator[Access]:
    """The accesses of the statements and of all inside them; an atomic one writes."""
    for buffer, index, writes in _indices(body):
        yield Access(buffer, ranges.place(buffer, index), writes)


def _indices(body: Iterable[n.Node]) -> Iterator[tuple[str, e.Expr, bool]]:
    for node in every_node(body):
        if isinstance(node, n.Store):
            yield node.buffer, node.index, True
        for root in node.exprs:
            for expr in postorder(root):
                if isinstance(expr, e.Load | e.Atomic):
                    yield expr.buffer, expr.index, isinstance(expr, e.Atomic)
