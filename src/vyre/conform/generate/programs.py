"""Random valid programs with inputs, deterministic by seed.

Free of races by construction: an invocation writes only slots of its own, shared memory is written
and read in phases split by barriers, and memory that several invocations update is touched by one
commuting atomic only, whose old value goes nowhere. So every schedule and every backend must give
the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from vyre.conform.generate.buffers import random_buffer
from vyre.conform.generate.expressions import VALUE_TYPES, ExpressionGenerator, Scope
from vyre.conform.generate.own_memory import with_own_memory
from vyre.conform.generate.stored import with_stored_integers
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BinaryOp,
    BinOp,
    Block,
    BufferDecl,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Node,
    Program,
    Return,
    Store,
    Var,
    WorkgroupId,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.compose import Registry

_COMMUTING = (AtomicOp.Add, AtomicOp.Or, AtomicOp.And, AtomicOp.Xor, AtomicOp.Min, AtomicOp.Max)
_WORKGROUPS = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (8, 1, 1), (2, 2, 1), (2, 1, 2), (4, 2, 1))
_GRIDS = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 2, 1), (2, 1, 2))
_MAX_TRIPS = 24


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """What may occur in a generated program."""

    types: tuple[DataType, ...] = VALUE_TYPES
    functions: bool = True
    """Correctly rounded functions, which are slow in the reference interpreter."""
    approximate: bool = False
    """Operations of the approximate track, whose bits a backend may choose."""
    statements: int = 7
    stored: bool = False
    """Buffers of integers that no value is of: I8, U8, I16, U16 and I64."""


@dataclass(frozen=True, slots=True)
class GeneratedProgram:
    """A program with everything a dispatch needs."""

    seed: int
    program: Program
    inputs: dict[str, bytes]
    workgroups: tuple[int, int, int]


def generate_program(
    seed: int, options: ProgramOptions | None = None, *, registry: Registry | None = None
) -> GeneratedProgram:
    """The program of this seed. `registry` holds the ops it may call, the default one if not given."""
    from vyre.compose import default_registry

    ops = default_registry() if registry is None else registry
    chosen = options or ProgramOptions()
    made = _Builder(seed, chosen, ops).build()
    made = replace(made, program=with_own_memory(made.program, seed, ops))
    if not chosen.stored:
        return made
    program, inputs = with_stored_integers(seed, made.program, made.inputs)
    return replace(made, program=program, inputs=inputs)


@dataclass(slots=True)
class _Context:
    """Where a statement stands: whether the whole workgroup is here, and how often it will run."""

    uniform: bool
    nesting: int = 0
    trips: int = 1
    loops: int = 0


@dataclass(slots=True)
class _Shared:
    """A buffer that is written and read in phases, and the slot that belongs to the invocation."""

    decl: BufferDecl
    slot: Expr
    first: Expr | None = None
    """First slot of the workgroup, where several workgroups share the buffer."""


class _Builder:
    def __init__(self, seed: int, options: ProgramOptions, registry: Registry) -> None:
        self.seed = seed
        self.options = options
        self.rng = Random(f"vyre program {seed}")
        ops = sorted((op for op in registry if op.result is not None), key=lambda op: op.id)
        self.gen = ExpressionGenerator(
            self.rng, options.types, ops, functions=options.functions, approximate=options.approximate
        )
        self.scope = Scope()
        self.assignable: list[tuple[str, DataType]] = []
        self.buffers: list[BufferDecl] = []
        self.inputs: dict[str, bytes] = {}
        self.shared: list[_Shared] = []
        self.histograms: list[BufferDecl] = []
        self.counters: list[tuple[BufferDecl, AtomicOp]] = []
        self.outputs: list[tuple[BufferDecl, Expr]] = []
        self.barriers_allowed = True
        self.fresh = 0

    def build(self) -> GeneratedProgram:
        rng = self.rng
        self.size = rng.choice(_WORKGROUPS)
        self.grid = rng.choice(_GRIDS)
        self.local_count = self.size[0] * self.size[1] * self.size[2]
        self.count = self.local_count * self.grid[0] * self.grid[1] * self.grid[2]
        self._declare_inputs()
        self._declare_outputs()
        self._declare_shared()
        entry: list[Node] = [Let("i", self._linear(InvocationId, self._extent())), *self._local_id()]
        self.scope.variables += [("i", DataType.U32), ("l", DataType.U32)]
        self._statements(entry, self.options.statements + rng.randrange(6), _Context(uniform=True))
        entry += self._final_stores()
        program = Program(self.buffers, self.size, entry)
        return GeneratedProgram(self.seed, program, self.inputs, self.grid)

    def _name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def _extent(self) -> tuple[int, int]:
        return self.size[0] * self.grid[0], self.size[1] * self.grid[1]

    def _linear(self, kind: type[InvocationId | WorkgroupId | LocalId], extent: tuple[int, int]) -> Expr:
        x, y = extent
        return kind(0) + kind(1) * x + kind(2) * (x * y)

    def _local_id(self) -> list[Node]:
        return [Let("l", self._linear(LocalId, (self.size[0], self.size[1])))]

    def _declare(self, decl: BufferDecl) -> BufferDecl:
        self.buffers.append(decl)
        self.scope.lengths.append(decl.name)
        return decl

    def _binding(self) -> int:
        return len([b for b in self.buffers if b.binding is not None])

    def _type(self) -> DataType:
        return self.rng.choice(self.options.types)

    def _declare_inputs(self) -> None:
        rng = self.rng
        for n in range(rng.randrange(1, 4)):
            element = DataType.Bytes if rng.randrange(8) == 0 else self._type()
            count = rng.choice((1, 5, 8, 13))
            declared = count if rng.randrange(2) else 0
            make = BufferDecl.uniform if rng.randrange(4) == 0 else BufferDecl.read
            decl = make(f"in{n}", self._binding(), element, count=declared)
            self._declare(decl)
            self.inputs[decl.name] = random_buffer(rng, element, count)
            self.scope.readable.append(decl)

    def _declare_outputs(self) -> None:
        rng = self.rng
        for n in range(rng.randrange(1, 4)):
            element = DataType.Bytes if rng.randrange(12) == 0 else self._type()
            slots = rng.choice((1, 1, 2))
            count = self.count * slots if rng.randrange(4) else max(1, self.count * slots - 2)
            given = rng.randrange(2) == 0
            declared = 0 if given and rng.randrange(2) else count
            decl = self._declare(BufferDecl.read_write(f"out{n}", self._binding(), element, count=declared))
            if given:
                self.inputs[decl.name] = random_buffer(rng, element, count)
            for slot in range(slots):
                index = Var("i") if slots == 1 else Var("i") * slots + slot
                self.outputs.append((decl, index))
            self.scope.own[decl.name] = (decl, self.outputs[-1][1])
        if rng.randrange(2):
            decl = BufferDecl.read_write("counters", self._binding(), DataType.U32, count=4)
            self.counters.append((self._declare(decl), rng.choice(_COMMUTING)))
            self.inputs[decl.name] = random_buffer(rng, DataType.U32, 4)

    def _declare_shared(self) -> None:
        rng = self.rng
        if rng.randrange(2):
            slot = Var("l") if rng.randrange(2) else LitU32(self.local_count - 1) - Var("l")
            count = self.local_count + rng.randrange(2)
            decl = self._declare(BufferDecl.workgroup("tile", self._type(), count))
            self.shared.append(_Shared(decl, slot))
        if rng.randrange(3) == 0:
            decl = BufferDecl.read_write("exchange", self._binding(), self._type(), count=self.count)
            first = self._linear(WorkgroupId, (self.grid[0], self.grid[1])) * self.local_count
            self.shared.append(_Shared(self._declare(decl), first + Var("l"), first))
        if rng.randrange(3) == 0:
            decl = BufferDecl.workgroup("hist", DataType.U32, rng.choice((1, 4, 7)), atomic=True)
            self.histograms.append(self._declare(decl))

    def _statements(self, out: list[Node], count: int, context: _Context) -> None:
        for _ in range(count):
            out += self._statement(context)

    def _body(self, context: _Context, *, loop_var: tuple[str, bool] | None = None) -> tuple[Node, ...]:
        variables, assignable = len(self.scope.variables), len(self.assignable)
        uniform = len(self.scope.uniform)
        if loop_var:
            self.scope.variables.append((loop_var[0], DataType.U32))
            if loop_var[1]:
                self.scope.uniform.append(loop_var[0])
        body: list[Node] = []
        self._statements(body, self.rng.randrange(1, 4), context)
        del self.scope.variables[variables:], self.assignable[assignable:], self.scope.uniform[uniform:]
        return tuple(body)

    def _depth(self) -> int:
        return self.rng.choice((1, 2, 2, 3, 3, 4))

    def _statement(self, context: _Context) -> list[Node]:
        rng = self.rng
        pick = rng.randrange(100)
        floats = [b for b in self.scope.readable if b.element.is_float]
        if pick < 12 and floats:
            decl = rng.choice(floats)
            return [self._bind(decl.element, self.gen.reduction(self.scope, decl))]
        if pick < 30:
            return [self._let()]
        if pick < 42 and self.assignable:
            name, t = rng.choice(self.assignable)
            return [Assign(name, self.gen.expr(self.scope, t, self._depth()))]
        if pick < 54:
            return [self._store()]
        if pick < 60 and self.counters:
            return [self._count(*rng.choice(self.counters))]
        if pick < 76 and context.uniform and self.barriers_allowed:
            return self._phase()
        if pick < 80:
            return self._return(context)
        if context.nesting >= 3:
            return [self._store()]
        if pick < 89:
            return [self._if(context)]
        if pick < 97:
            return [self._loop(context)]
        inner = _Context(context.uniform, context.nesting + 1, context.trips, context.loops)
        return [Block(self._body(inner))]

    def _let(self) -> Node:
        if self.rng.randrange(6) == 0:
            name = self._name("v")
            node = Let(name, self.gen.uniform(self.scope, 2))
            self.scope.uniform.append(name)
            self.scope.variables.append((name, DataType.U32))
            return node
        t = self._type()
        return self._bind(t, self.gen.expr(self.scope, t, self._depth()))

    def _bind(self, t: DataType, value: Expr) -> Node:
        name = self._name("v")
        self.scope.variables.append((name, t))
        self.assignable.append((name, t))
        return Let(name, value)

    def _store(self) -> Node:
        decl, index = self.rng.choice(self.outputs)
        if self.rng.randrange(10) == 0:
            index = index + 0x40000000  # far outside: must have no effect
        return Store(decl.name, index, self.gen.expr(self.scope, decl.element.loaded, self._depth()))

    def _count(self, decl: BufferDecl, op: AtomicOp) -> Node:
        index = self.gen.index(self.scope, decl.count, 2)
        value = self.gen.expr(self.scope, DataType.U32, 2)
        return Let(self._name("old"), Atomic(op, decl.name, index, value))

    def _return(self, context: _Context) -> list[Node]:
        if context.uniform and self.rng.randrange(2):
            return [If(self.gen.uniform(self.scope, 1).eq(3), (Return(),))]
        if context.loops:
            return [self._let()]
        self.barriers_allowed = False
        return [If(self.gen.condition(self.scope, 2), (self._store(), Return()))]

    def _if(self, context: _Context) -> Node:
        uniform = context.uniform and self.rng.randrange(2) == 0
        condition = (
            self.gen.uniform(self.scope, 2) if uniform else self.gen.condition(self.scope, self._depth())
        )
        inner = _Context(uniform, context.nesting + 1, context.trips, context.loops)
        then = self._body(inner)
        return If(condition, then, self._body(inner) if self.rng.randrange(2) else ())

    def _loop(self, context: _Context) -> Node:
        rng = self.rng
        var = self._name("k")
        trips = max(1, min(rng.randrange(1, 5), _MAX_TRIPS // context.trips))
        start: Expr = LitU32(rng.choice((0, 0, 1, 7, 0xFFFFFFFA)))
        uniform = context.uniform and rng.randrange(3) > 0
        amount = self.gen.uniform(self.scope, 1) if uniform else self.gen.expr(self.scope, DataType.U32, 2)
        stop = start + amount % (trips + 1)
        if rng.randrange(12) == 0:
            start, stop = stop + 1, start  # an empty range, written backwards
        inner = _Context(uniform, context.nesting + 1, context.trips * trips, context.loops + 1)
        return Loop(var, start, stop, self._body(inner, loop_var=(var, uniform)))

    def _phase(self) -> list[Node]:
        """Writes to shared memory, a barrier, reads: whatever came before is fenced off first."""
        rng = self.rng
        kinds: list[Callable[[], list[Node]]] = [lambda: [Barrier()]]
        kinds += 3 * [partial(self._exchange_phase, shared) for shared in self.shared]
        kinds += 3 * [partial(self._histogram_phase, decl) for decl in self.histograms]
        return rng.choice(kinds)()

    def _exchange_phase(self, shared: _Shared) -> list[Node]:
        decl = shared.decl
        value = self.gen.expr(self.scope, decl.element.loaded, self._depth())
        reads: list[Node] = []
        for _ in range(self.rng.randrange(1, 3)):
            index = self.gen.index(self.scope, decl.count, 2)
            if shared.first is not None:
                index = shared.first + index % self.local_count
            name, t = self._name("v"), decl.element.loaded
            reads.append(Let(name, Load(decl.name, index)))
            self.scope.variables.append((name, t))
        return [Barrier(), Store(decl.name, shared.slot, value), Barrier(), *reads]

    def _histogram_phase(self, decl: BufferDecl) -> list[Node]:
        op = self.rng.choice(_COMMUTING)
        updates = [self._count(decl, op) for _ in range(self.rng.randrange(1, 3))]
        name = self._name("v")
        read = Let(name, Load(decl.name, self.gen.index(self.scope, decl.count, 2)))
        self.scope.variables.append((name, DataType.U32))
        return [Barrier(), *updates, Barrier(), read]

    def _final_stores(self) -> list[Node]:
        """Everything still alive flows into some output, so that a wrong value shows."""
        stores: list[Node] = []
        for decl, index in self.outputs:
            t = decl.element.loaded
            named = [Var(n) for n, vt in self.scope.variables if vt is t]
            if t is DataType.U32 and named:
                value: Expr = named[0]
                for other in named[1:]:
                    value = BinOp(BinaryOp.BitXor, value * 5, other)
            else:
                value = named[-1] if named else self.gen.expr(self.scope, t, 2)
            stores.append(Store(decl.name, index, value))
        return stores
