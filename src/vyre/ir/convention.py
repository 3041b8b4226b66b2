"""What the calling conventions ask of a program's buffers, and which of them a program keeps.

V1 has the inputs (ReadOnly) on the bindings from 0 on, then the outputs (ReadWrite), then the parameters
(Uniform), without gaps: at least one input and one output, and one block of parameters at most. V2 has a
lookup table (ReadOnly) on a binding of its own besides; the others are those of V1, in the same order on the
bindings that are left. Workgroup memory has no binding and is nobody's business but the program's.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.signature import V1, V2, Convention

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROLES = {BufferAccess.ReadOnly: "input", BufferAccess.ReadWrite: "output", BufferAccess.Uniform: "params"}
_ORDER = list(_ROLES)
_RULE = "the inputs (ReadOnly) from binding 0 on, then the outputs (ReadWrite), then the params (Uniform)"
_UNASKED = "or pass no convention, and the buffers are bound by name alone."


def arranged(buffers: Iterable[BufferDecl], *, lookup: str | None = None) -> tuple[BufferDecl, ...]:
    """The same buffers on the bindings of V1, or of V2 where `lookup` names the table.

    Buffers of one role keep the order in which they are given; a table keeps its binding.
    """
    given = tuple(buffers)
    table = next((b for b in given if b.name == lookup), None)
    places = _places([b for b in given if b.access.bound and b is not table], table)
    return tuple(replace(b, binding=places.get(b.name, b.binding)) for b in given)


def kept(buffers: Iterable[BufferDecl]) -> tuple[Convention, ...]:
    """The conventions that a program with these buffers keeps, the simplest first."""
    given = tuple(buffers)
    tables = [b.binding for b in given if b.access is BufferAccess.ReadOnly and b.binding is not None]
    found: list[Convention] = [V1(), *(V2(binding) for binding in sorted(tables, reverse=True))]
    return tuple(convention for convention in found if breach(given, convention) is None)


def breach(buffers: Iterable[BufferDecl], convention: Convention) -> tuple[str, str] | None:
    """What keeps a program from a convention, as the rest of a sentence, and how to mend it; or None."""
    bound = sorted((b for b in buffers if b.access.bound), key=_binding)
    table = None
    if isinstance(convention, V2):
        table = next((b for b in bound if b.binding == convention.lookup_binding), None)
        if table is None or table.access is not BufferAccess.ReadOnly:
            known = ", ".join(str(b.binding) for b in bound if b.access is BufferAccess.ReadOnly)
            held = f"{table.name!r}, which is {table.access.value}" if table else "no buffer"
            return (
                f"its lookup table is a ReadOnly buffer on binding {convention.lookup_binding}, "
                f"and the program has {held} there",
                f"declare the table there; ReadOnly buffers are on {known or 'no binding'}.",
            )
    others = [b for b in bound if b is not table]
    for access in _ORDER[:2]:
        if not any(b.access is access for b in others):
            besides = " besides its table" if table else ""
            return (
                f"it needs at least one {_ROLES[access]} ({access.value}){besides}",
                f"declare one, {_UNASKED}",
            )
    params = [b.name for b in others if b.access is BufferAccess.Uniform]
    if len(params) > 1:
        return (
            f"it has one block of params (Uniform), and the program has {len(params)}: {', '.join(params)}",
            f"put them into one buffer, {_UNASKED}",
        )
    places = _places(others, table)
    for buffer in others:
        if buffer.binding != places[buffer.name]:
            order = ", ".join(f"{name} @{place}" for name, place in places.items())
            return (
                f"it has {_RULE}, and {buffer.name!r} ({buffer.access.value}) is on binding {buffer.binding}",
                f"declare {order}, {_UNASKED}",
            )
    return None


def _places(buffers: list[BufferDecl], table: BufferDecl | None) -> dict[str, int]:
    """Where the convention has each buffer: role by role, on the bindings that the table leaves."""
    ordered = sorted(buffers, key=lambda b: _ORDER.index(b.access))
    taken = None if table is None else table.binding
    free = (place for place in count() if place != taken)
    return {b.name: place for b, place in zip(ordered, free, strict=False)}


def _binding(buffer: BufferDecl) -> int:
    return -1 if buffer.binding is None else buffer.binding
