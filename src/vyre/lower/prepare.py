"""The normal form that every emitter starts from.

`prepare` takes a valid program and gives one with unique variable names, optimised, effects in explicit
order, float operations as calls of soft ops, expressions of bounded depth, and the type of every variable.
The only calls left are those of soft ops; `functions` holds their bodies, each once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from vyre.compose.inline import inline
from vyre.ir.expr import Call, Expr
from vyre.ir.node import Let, Loop, Node
from vyre.ir.types import DataType
from vyre.ir.typing import type_of
from vyre.ir.walk import expressions, postorder, statements
from vyre.lower.depth import split_deep
from vyre.lower.effects import sequence_effects
from vyre.lower.legalise import expand_reductions, legalise, soft_registry
from vyre.lower.names import NameSupply, rename_unique
from vyre.optimize import optimize_entry

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
    functions: tuple[Function, ...] = ()
    _types: dict[Expr, DataType] = field(default_factory=dict[Expr, DataType])

    def variable(self, name: str) -> DataType | None:
        return self.variables.get(name)

    def element(self, buffer: str) -> DataType | None:
        return self._elements.get(buffer)

    def signature(self, op_id: str) -> OpSignature | None:
        op = soft_registry().get(op_id)
        return op.signature if op else None

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


@dataclass(frozen=True, slots=True)
class Function:
    """A soft op in normal form: its parameters, its statements, and the expression of its result."""

    name: str
    params: tuple[str, ...]
    body: Prepared
    result: Expr


def prepare(program: Program, *, registry: Registry | None = None) -> Prepared:
    """Normalises a program that passed validation."""
    flat = inline(program, registry)
    supply = NameSupply()
    writable = frozenset(b.name for b in flat.buffers if b.access.writable)
    entry = optimize_entry(rename_unique(flat.entry, supply), flat.buffers)
    entry = sequence_effects(entry, writable, supply)
    entry = expand_reductions(entry, _typed(flat, entry), supply)
    entry = legalise(entry, _typed(flat, entry))
    entry = split_deep(entry, supply)
    called = {x.op_id: None for x in expressions(entry) if isinstance(x, Call)}
    return _typed(flat, entry, tuple(_function(op_id) for op_id in sorted(called)))


def function_name(op_id: str) -> str:
    """The name of a soft op in generated source."""
    return op_id.replace(".", "_")


@cache
def _function(op_id: str) -> Function:
    op = soft_registry()[op_id]
    assert op.result is not None
    supply = NameSupply()
    params = {p.name: supply.fresh(p.name) for p in op.params}
    entry = rename_unique((*op.body, Let("result", op.result)), supply, outer=params)
    entry = split_deep(entry, supply)
    last = entry[-1]
    assert isinstance(last, Let)
    types = {params[p.name]: p.type for p in op.params}
    body = Prepared((), (1, 1, 1), entry[:-1], types, {})
    _learn_types(body, entry)
    return Function(function_name(op_id), tuple(params.values()), body, last.value)


def _typed(flat: Program, entry: tuple[Node, ...], functions: tuple[Function, ...] = ()) -> Prepared:
    elements = {b.name: b.element for b in flat.buffers}
    prepared = Prepared(flat.buffers, flat.workgroup_size, entry, {}, elements, functions)
    _learn_types(prepared, entry)
    return prepared


def _learn_types(prepared: Prepared, entry: tuple[Node, ...]) -> None:
    for _, node in statements(entry):
        match node:
            case Let(name=name, value=value):
                prepared.variables[name] = prepared.type(value)
            case Loop(var=var):
                prepared.variables[var] = DataType.U32
            case _:
                pass
