"""The normal form that every emitter starts from.

`prepare` takes a valid program and gives one with no calls, unique variable names, effects in
explicit order, expressions of bounded depth, and the type of every variable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.compose.inline import inline
from vyre.ir.expr import Expr
from vyre.ir.node import Let, Loop, Node
from vyre.ir.types import DataType
from vyre.ir.typing import type_of
from vyre.ir.walk import postorder, statements
from vyre.lower.depth import split_deep
from vyre.lower.effects import sequence_effects
from vyre.lower.names import NameSupply, rename_unique

if TYPE_CHECKING:
    from vyre.compose import Registry
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program
    from vyre.ir.signature import OpSignature


@dataclass(frozen=True, slots=True)
class Prepared:
    """A normalised program. `type` answers for every expression in it."""

    buffers: tuple[BufferDecl, ...]
    workgroup_size: tuple[int, int, int]
    entry: tuple[Node, ...]
    variables: dict[str, DataType]
    _elements: dict[str, DataType]
    _types: dict[Expr, DataType] = field(default_factory=dict[Expr, DataType])

    def variable(self, name: str) -> DataType | None:
        return self.variables.get(name)

    def element(self, buffer: str) -> DataType | None:
        return self._elements.get(buffer)

    def signature(self, op_id: str) -> OpSignature | None:
        return None

    def buffer(self, name: str) -> BufferDecl:
        return next(b for b in self.buffers if b.name == name)

    def type(self, root: Expr) -> DataType:
        known = self._types.get(root)
        if known is not None:
            return known
        for expr in postorder(root):
            if expr in self._types:
                continue
            found = type_of(expr, tuple(self._types[c] for c in expr.children), self)
            assert found is not None, f"prepare() got an invalid program: {expr!r}"
            self._types[expr] = found
        return self._types[root]


def prepare(program: Program, *, registry: Registry | None = None) -> Prepared:
    """Normalises a program that passed validation."""
    flat = inline(program, registry)
    supply = NameSupply()
    writable = frozenset(b.name for b in flat.buffers if b.access.writable)
    entry = rename_unique(flat.entry, supply)
    entry = sequence_effects(entry, writable, supply)
    entry = split_deep(entry, supply)
    elements = {b.name: b.element for b in flat.buffers}
    prepared = Prepared(flat.buffers, flat.workgroup_size, entry, {}, elements)
    for _, node in statements(entry):
        match node:
            case Let(name=name, value=value):
                prepared.variables[name] = prepared.type(value)
            case Loop(var=var):
                prepared.variables[var] = DataType.U32
            case _:
                pass
    return prepared
