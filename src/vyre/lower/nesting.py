"""Shallow nests: shader compilers stop at a depth that is legal here (V018).

Tint counts every If and Loop twice and stops at 127; Naga stops at 127 braces. Statements that nest
deeper than `MAX_EMITTED_NESTING` are predicated, which leaves their Loops and one If.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.errors import UnsupportedByBackend
from vyre.lower.predicate import Predicator

if TYPE_CHECKING:
    from vyre.ir.node import Node
    from vyre.lower.prepare import Prepared

MAX_EMITTED_NESTING = 40
"""Nests up to here are emitted as they are."""

MAX_LEVELS = 63
"""Levels of If and Loop that Tint accepts inside a function."""


def flatten(prepared: Prepared, *, backend: str) -> Prepared:
    """The same program with shallow nests. More than 62 Loops inside each other are refused."""
    if all(node.nesting <= MAX_EMITTED_NESTING for node in prepared.entry):
        return prepared
    predicator = Predicator(prepared)
    entry: list[Node] = []
    for node in prepared.entry:
        if node.nesting <= MAX_EMITTED_NESTING:
            entry.append(node)
        else:
            entry += predicator.rewrite((node,))
    deepest = max(node.nesting for node in entry)
    if deepest > MAX_LEVELS:
        raise UnsupportedByBackend(
            f"a nest of {deepest} loops and conditions",
            backend,
            why=f"WGSL compilers accept {MAX_LEVELS}",
            fix="merge loops, or move the innermost ones into a program of their own.",
        )
    return replace(predicator.prepared, entry=tuple(entry))
