"""`optimize`: a program in, a program with the same effects out.

Every buffer has the same bytes afterwards, whatever the inputs; atomics and stores happen in the same
order with the same operands; barriers and hardware instructions stay where they are. Loads may vanish with
what they fed, never move over a store, an atomic or a barrier. Float operations are left as they are. The
order of the passes is fixed and they run until nothing changes, so the result depends on the program alone,
and optimising it again changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.hardware import instructions
from vyre.compose.inline import inline
from vyre.ir.environment import Types
from vyre.ir.node import Node, Return
from vyre.ir.program import Program
from vyre.optimize.control import simplify_statements
from vyre.optimize.dead import drop_overwritten, drop_unused
from vyre.optimize.reads import Reads
from vyre.optimize.rewrite import RuleIndex, Simplifier
from vyre.optimize.rules import RULES
from vyre.optimize.unique import unique_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.compose import Registry
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.environment import Signatures


DEFAULT_RULES = RuleIndex(RULES)


def optimize(
    program: Program, *, registry: Registry | None = None, rules: RuleIndex = DEFAULT_RULES
) -> Program:
    """Optimises a valid program; calls are inlined first. Source locations are not carried over."""
    flat = inline(program, registry)
    own = {op_id: op.signature for op_id, op in instructions(flat.entry, registry).items()}
    entry = optimize_entry(unique_names(flat.entry), flat.buffers, rules=rules, signatures=own.get)
    return Program(flat.buffers, flat.workgroup_size, entry)


def optimize_entry(
    entry: tuple[Node, ...],
    buffers: Iterable[BufferDecl],
    *,
    rules: RuleIndex = DEFAULT_RULES,
    signatures: Signatures | None = None,
) -> tuple[Node, ...]:
    """Optimises statements, each of whose variables has a name of its own. What they call is hardware,
    whose `signatures` are given."""
    types, reads = Types(buffers, signatures=signatures), Reads()
    simplifier = Simplifier(rules, types)
    while True:
        before = entry
        entry = simplify_statements(entry, simplifier, types)
        while entry and isinstance(entry[-1], Return):
            entry = entry[:-1]
        entry = drop_overwritten(entry, types, reads)
        entry = drop_unused(entry, types, reads)
        if entry == before:
            return entry
