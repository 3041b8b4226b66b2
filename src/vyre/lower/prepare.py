"""The normal form that every emitter starts from.

`prepare` takes a valid program and gives one with unique variable names, optimised, effects in explicit
order, float operations as calls, expressions of bounded depth, and the type of every variable. The only
calls left are those of soft ops, whose bodies `functions` holds, each once, of native operations
(`natives`), and of hardware instructions (`intrinsics`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from vyre.compose.hardware import instructions
from vyre.compose.inline import inline
from vyre.ir.environment import Types
from vyre.ir.expr import Call, Expr
from vyre.ir.node import Let, Node
from vyre.ir.walk import expressions
from vyre.lower.depth import split_deep
from vyre.lower.effects import sequence_effects
from vyre.lower.guarded_loops import hoist_guards
from vyre.lower.legalise import DOUBLE, Legaliser, expand_reductions, soft_registry
from vyre.lower.names import NameSupply, rename_unique
from vyre.lower.native import is_native, native_signature
from vyre.lower.observed import own_floats
from vyre.lower.reductions import Stacks
from vyre.lower.ways import SOFT
from vyre.numeric.guarded import PREFIX as GUARDED
from vyre.optimize import optimize_entry
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre.compose import Op, Registry
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program
    from vyre.ir.signature import OpSignature
    from vyre.ir.types import DataType
    from vyre.lower.ways import Ways


@dataclass(frozen=True, slots=True)
class Prepared:
    """A normalised program. `type` answers for every expression in it."""

    buffers: tuple[BufferDecl, ...]
    workgroup_size: tuple[int, int, int]
    entry: tuple[Node, ...]
    types: Types
    functions: tuple[Function, ...] = ()
    natives: tuple[str, ...] = ()
    """The native operations that are called, by the statements or by a function."""
    ways: tuple[tuple[str, str], ...] = ()
    """Which way each float operation of the program took, such as `soft` or `native`."""
    doubles: bool = False
    """Whether F64 values are doubles of the target; else they are moved as two words."""
    intrinsics: Mapping[str, Op] = field(default_factory=dict[str, "Op"])
    """The hardware instructions that the statements call."""
    stacks: frozenset[str] = frozenset()
    """Private buffers of which nothing is loaded that was not stored in the same reduction before: they need
    not be zero, nor last."""
    left: Mapping[str, str] = field(default_factory=dict[str, str])
    """Loops, by their variable, that end when a variable is 0: they are left without a jump."""

    @property
    def variables(self) -> Mapping[str, DataType]:
        return self.types.variables

    def buffer(self, name: str) -> BufferDecl:
        return next(b for b in self.buffers if b.name == name)

    def type(self, root: Expr) -> DataType:
        return self.types.type(root)


@dataclass(frozen=True, slots=True)
class Function:
    """An op in normal form: its parameters, its statements, and the expression of its result."""

    name: str
    params: tuple[str, ...]
    body: Prepared
    result: Expr
    cold: bool = False
    """Called in rare cases only: to be kept out of the way of the rest."""

    @property
    def output(self) -> DataType:
        return self.body.type(self.result)

    @property
    def inputs(self) -> tuple[DataType, ...]:
        return tuple(self.body.variables[name] for name in self.params)


def prepare(program: Program, *, registry: Registry | None = None, ways: Ways = SOFT) -> Prepared:
    """Normalises a program that passed validation; `ways` says which float operations are native."""
    flat = inline(program, registry)
    own = instructions(flat.entry, registry)
    signatures = _Signatures(own)
    supply = NameSupply()
    writable = frozenset(b.name for b in flat.buffers if b.access.writable)
    entry = optimize_entry(rename_unique(flat.entry, supply), flat.buffers, signatures=signatures)
    entry = sequence_effects(entry, writable, supply)
    used: dict[str, str] = {}
    stacks = Stacks(b.name for b in flat.buffers)
    entry = expand_reductions(
        entry,
        Types.of(entry, flat.buffers, signatures=signatures),
        supply,
        ways,
        used,
        stacks if ways.stacks else None,
    )
    buffers = (*flat.buffers, *stacks.buffers)
    types = Types.of(entry, buffers, signatures=signatures)
    hoisted = hoist_guards(entry, types, supply, ways, used)
    if hoisted is not entry:
        entry, types = hoisted, Types.of(hoisted, buffers, signatures=signatures)
    legaliser = Legaliser(types, ways, own_floats(buffers, alone=flat.workgroup_size == (1, 1, 1)))
    entry, _ = legaliser.run(entry)
    entry = split_deep(entry, supply)
    called = _called(entry)
    functions = _functions(called, ways)
    own = {op_id: op for op_id, op in own.items() if op_id in called}
    natives = {x for x in called if is_native(x)}.union(*(f.body.natives for f in functions))
    return Prepared(
        buffers,
        flat.workgroup_size,
        entry,
        Types.of(entry, buffers, signatures=signatures),
        functions=functions,
        natives=tuple(sorted(natives)),
        ways=tuple(sorted((used | legaliser.used).items())),
        doubles=ways.doubles,
        intrinsics=own,
        stacks=frozenset(b.name for b in stacks.buffers),
    )


def function_name(op_id: str) -> str:
    """The name of an op in generated source."""
    return op_id.replace(".", "_")


def _called(entry: tuple[Node, ...]) -> dict[str, None]:
    return {x.op_id: None for x in expressions(entry) if isinstance(x, Call)}


def _functions(called: Iterable[str], ways: Ways) -> tuple[Function, ...]:
    """The ops that are called and those that they call, every one behind what it calls."""
    found: dict[str, Function] = {}
    stack = sorted((x for x in called if x in soft_registry()), reverse=True)
    while stack:
        op_id = stack[-1]
        function = _function(op_id, ways)
        missing = [x for x in _called_by(function) if x in soft_registry() and x not in found]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        found.setdefault(op_id, function)
    warm = {*called}.union(*(_called_by(f) for op_id, f in found.items() if not op_id.startswith(_BACKED)))
    return tuple(f if op_id in warm else replace(f, cold=True) for op_id, f in found.items())


_BACKED = (DOUBLE, GUARDED)
"""What the ids of ops begin with that leave rare cases to a soft op."""


def _called_by(function: Function) -> Iterable[str]:
    return _called((*function.body.entry, Let("result", function.result)))


@cache
def _function(op_id: str, ways: Ways) -> Function:
    op = soft_registry()[op_id]
    assert op.result is not None
    supply = NameSupply()
    params = {p.name: supply.fresh(p.name) for p in op.params}
    entry = rename_unique((*op.body, Let("result", op.result)), supply, outer=params)
    inputs = {params[p.name]: p.type for p in op.params}
    last = entry[-1]
    assert isinstance(last, Let)
    legal, result = Legaliser(_function_types(inputs, entry), ways).run(entry[:-1], last.value)
    assert result is not None
    entry = split_deep((*legal, Let(last.name, result)), supply)
    last = entry[-1]
    assert isinstance(last, Let)
    natives = tuple(x for x in _called(entry) if is_native(x))
    types = _function_types(inputs, entry)
    body = Prepared((), (1, 1, 1), entry[:-1], types, natives=natives, doubles=ways.doubles)
    return Function(function_name(op_id), tuple(params.values()), body, last.value)


def _function_types(inputs: Mapping[str, DataType], entry: tuple[Node, ...]) -> Types:
    types = Types((), signatures=_Signatures({}))
    for name, t in inputs.items():
        types.declare(name, t)
    types.learn(entry)
    return types


@dataclass(frozen=True, slots=True)
class _Signatures:
    """The signatures of everything that a program in normal form may call."""

    intrinsics: Mapping[str, Op]

    def __call__(self, op_id: str) -> OpSignature | None:
        if is_native(op_id):
            return native_signature(op_id)
        op = self.intrinsics.get(op_id) or soft_registry().get(op_id)
        return op.signature if op else None
