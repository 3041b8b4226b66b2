"""Random valid programs with inputs, deterministic by seed.

Free of races by construction: an invocation writes only slots of its own, shared memory is written
and read in phases split by barriers, and memory that several invocations update is touched by one
commuting atomic only, whose old value goes nowhere. So every schedule and every backend must give
the same bytes.

Alive: every value is stored or folded into a running digest, both sides of a branch are taken by some
invocation, every loop turns. So a wrong value anywhere shows in the bytes (`lab/bulk/liveness.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import prod
from random import Random
from typing import TYPE_CHECKING

from vyre.conform.generate.digest import DIGEST, fold
from vyre.conform.generate.expressions import VALUE_TYPES, ExpressionGenerator
from vyre.conform.generate.memory import COMMUTING, Buffers, Shared
from vyre.conform.generate.own_memory import with_own_memory
from vyre.conform.generate.scope import Scope
from vyre.conform.generate.stored import with_stored_integers
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    Block,
    BufferDecl,
    DataType,
    Expr,
    If,
    Let,
    LitU32,
    Load,
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

_RISING = tuple(op for op in COMMUTING if op not in (AtomicOp.And, AtomicOp.Min))
"""Those that do something to memory that starts at 0."""
_MAX_TRIPS = 24


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """What may occur in a generated program."""

    types: tuple[DataType, ...] = VALUE_TYPES
    """A type that stands here several times is drawn more often."""
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


HIDING = frozenset(
    f"{family}.{name}"
    for family, names in {
        "integer": "add_sat sub_sat extract_bits insert_bits gcd mul_mod pow_mod",
        "signed": "sign clamp add_sat sub_sat",
        "wide.u64": "popcount clz ctz rotl rotr swap div mod",
        "wide.u128": "popcount clz ctz shl shr mul div mod",
        "wide.i64": "shr lt gt le ge min max neg abs div mod",
    }.items()
    for name in names.split()
)
"""Ops of families that mostly hide what they are given, in counts, signs, bounds and remainders: with them
fewer than 95 of 100 nodes of a program would show in its output. `tests/ops/test_op_values.py` runs them on
backends."""


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


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a statement stands: whether the whole workgroup is here, and how often it will run."""

    uniform: bool
    nesting: int = 0
    trips: int = 1
    loops: int = 0


class _Builder:
    def __init__(self, seed: int, options: ProgramOptions, registry: Registry) -> None:
        self.seed = seed
        self.options = options
        self.rng = Random(f"vyre program {seed}")
        ops = sorted(
            (op for op in registry if op.result is not None and op.id not in HIDING), key=lambda op: op.id
        )
        self.gen = ExpressionGenerator(
            self.rng, options.types, ops, functions=options.functions, approximate=options.approximate
        )
        self.scope = Scope()
        self.assignable: list[tuple[str, DataType]] = []
        self.memory = Buffers(self.rng, options.types, self.scope)
        self.written: set[tuple[str, Expr]] = set()
        self.varying: list[Expr] = []
        """Expressions equal in the workgroup that take several values in the run."""
        self.staying: list[int] = []
        """Workgroups that no `return` has ended so far."""
        self.out: list[Node] = []
        self.fetched: list[tuple[str, DataType]] = []
        """What the phase that is being made reads: known once its statements stand."""
        self.barriers_allowed = True
        self.fresh = 0

    def build(self) -> GeneratedProgram:
        rng = self.rng
        grid = self.memory.grid
        self.varying += [WorkgroupId(axis) for axis in range(3) if grid[axis] > 1]
        self.staying = list(range(prod(grid)))
        entry: list[Node] = [Let("i", self.memory.invocation()), Let("l", self.memory.local())]
        entry.append(Let(DIGEST, (Var("i") + rng.getrandbits(32)) * 0x9E37_79B1 ^ Var("l") << 9))
        self.scope.variables += [("i", DataType.U32), ("l", DataType.U32), (DIGEST, DataType.U32)]
        self.scope.wide.append(DIGEST)
        self.scope.watch = self._watch
        self._statements(entry, self.options.statements + rng.randrange(4), _Context(uniform=True))
        self.out = entry
        self._final_stores()
        program = Program(self.memory.buffers, self.memory.size, entry)
        return GeneratedProgram(self.seed, program, self.memory.inputs, grid)

    def _name(self, prefix: str) -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    def _watch(self, value: Expr, t: DataType) -> Expr:
        """Binds a value ahead of the statement that is being made, and folds it into the digest."""
        name = self._name("w")
        self.out += [Let(name, value), fold(self.rng, Var(name), t)]
        self.scope.variables.append((name, t))
        return Var(name)

    def _type(self) -> DataType:
        return self.rng.choice(self.options.types)

    def _statements(self, out: list[Node], count: int, context: _Context) -> None:
        outer, self.out = self.out, out
        for _ in range(count):
            made = self._statement(context)
            out += made
            self.scope.variables += self.fetched
            self.fetched.clear()
        self.out = outer

    def _body(self, context: _Context, *, loop_var: tuple[str, bool] | None = None) -> tuple[Node, ...]:
        variables, assignable = len(self.scope.variables), len(self.assignable)
        uniform = len(self.scope.uniform)
        if loop_var:
            self.scope.variables.append((loop_var[0], DataType.U32))
            if loop_var[1]:
                self.scope.uniform.append(loop_var[0])
        body: list[Node] = [fold(self.rng, Var(loop_var[0]), DataType.U32)] if loop_var else []
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
            return self._bind(decl.element, self.gen.reduction(self.scope, decl))
        if pick < 30:
            return self._let()
        if pick < 42 and self.assignable:
            name, t = rng.choice(self.assignable)
            value = self.gen.expr(self.scope, t, self._depth())
            return [Assign(name, value), fold(rng, Var(name), t)]
        if pick < 54:
            return self._store()
        if pick < 60 and self.memory.counters:
            return [self._count(*rng.choice(self.memory.counters))]
        if pick < 76 and context.uniform and self.barriers_allowed:
            return self._phase()
        if pick < 80:
            return self._return(context)
        if context.nesting >= (3 if context.uniform else 2):
            return self._store()
        if pick < 89:
            return [self._if(context)]
        if pick < 97:
            return [self._loop(context)]
        inner = _Context(context.uniform, context.nesting + 1, context.trips, context.loops)
        return [Block(self._body(inner))]

    def _let(self) -> list[Node]:
        if self.rng.randrange(6) == 0:
            name = self._name("v")
            node = Let(name, self.gen.uniform(self.scope, 2))
            self.scope.uniform.append(name)
            self.scope.variables.append((name, DataType.U32))
            return [node, fold(self.rng, Var(name), DataType.U32)]
        t = self._type()
        return self._bind(t, self.gen.expr(self.scope, t, self._depth()))

    def _bind(self, t: DataType, value: Expr) -> list[Node]:
        name = self._name("v")
        self.scope.variables.append((name, t))
        self.assignable.append((name, t))
        return [Let(name, value), fold(self.rng, Var(name), t)]

    def _store(self) -> list[Node]:
        decl, index = self.rng.choice(self.memory.outputs)
        t = decl.element.loaded
        if self.rng.randrange(60) == 0:
            value = self.gen.expr(self.scope, t, 0)
            return [Store(decl.name, index + 0x40000000, value)]  # far outside: must have no effect
        return self._stored(decl, index)

    def _stored(self, decl: BufferDecl, index: Expr) -> list[Node]:
        t = decl.element.loaded
        value = self.gen.expr(self.scope, t, self._depth())
        if value is Load(decl.name, index):
            value = self.gen.word(self.scope, t)
        return [*self._overwritten(decl, index), Store(decl.name, index, value)]

    def _overwritten(self, decl: BufferDecl, index: Expr) -> list[Node]:
        """What a store is about to lose goes into the digest."""
        place = (decl.name, index)
        known = place in self.written or decl.name in self.memory.inputs
        self.written.add(place)
        self.scope.own[decl.name] = (decl, index)
        return [fold(self.rng, Load(decl.name, index), decl.element.loaded)] if known else []

    def _count(self, decl: BufferDecl, op: AtomicOp) -> Node:
        index = self.gen.index(self.scope, decl.count, 2)
        value = self.gen.observed(self.scope, DataType.U32, 2)
        return Let(self._name("old"), Atomic(op, decl.name, index, value))

    def _return(self, context: _Context) -> list[Node]:
        """A way out that some invocations take and some do not; what they have computed is stored before."""
        leave = (Store(self.memory.digest.name, Var("i"), Var(DIGEST)), Return())
        if context.uniform and not context.nesting and len(self.staying) > 2:
            group = self.staying.pop(self.rng.randrange(len(self.staying)))
            return [If(self.memory.group().eq(group), leave)]
        if context.nesting or not self.barriers_allowed:
            return self._let()
        self.barriers_allowed = False
        return [If((Var(DIGEST) >> self.rng.randrange(30) & 3).eq(self.rng.randrange(4)), leave)]

    def _if(self, context: _Context) -> Node:
        rng = self.rng
        if context.uniform and self.varying and rng.randrange(2) == 0:
            # Inside, the same condition would be known.
            by = self.varying.pop(rng.randrange(len(self.varying)))
            made = self._branches(by & 1, replace(context, nesting=context.nesting + 1))
            self.varying.append(by)
            return made
        fair = context.nesting > 0 or rng.randrange(6)
        condition = self.gen.fair(self.scope) if fair else self.gen.condition(self.scope, self._depth())
        return self._branches(condition, replace(context, uniform=False, nesting=context.nesting + 1))

    def _branches(self, condition: Expr, inner: _Context) -> Node:
        then = self._body(inner)
        return If(condition, then, self._body(inner) if self.rng.randrange(2) else ())

    def _loop(self, context: _Context) -> Node:
        rng = self.rng
        var = self._name("k")
        trips = max(1, min(rng.randrange(2, 5), _MAX_TRIPS // context.trips))
        start: Expr = LitU32(rng.choice((0, 0, 1, 7, 0xFFFFFFFA)))
        uniform = context.uniform and rng.randrange(3) > 0
        if uniform:
            stop = start + trips
            if trips > 2 and rng.randrange(3) == 0:
                stop = start + 2 + self.gen.uniform(self.scope, 1) % (trips - 1)
        else:
            turns = self.gen.observed(self.scope, DataType.U32, 2)
            stop = start + turns % (trips + 1) if rng.randrange(6) == 0 else start + 1 + turns % max(trips, 2)
        if rng.randrange(40) == 0:  # an empty range, written backwards
            return Loop(var, stop + 1, start, (fold(rng, Var(var), DataType.U32),))
        inner = _Context(uniform, context.nesting + 1, context.trips * trips, context.loops + 1)
        varies = uniform and trips > 1
        if varies:
            self.varying.append(Var(var))
        loop = Loop(var, start, stop, self._body(inner, loop_var=(var, uniform)))
        if varies:
            self.varying.remove(Var(var))
        return loop

    def _phase(self) -> list[Node]:
        """Writes to shared memory, a barrier, reads: whatever came before is fenced off first."""
        rng = self.rng
        kinds: list[Callable[[], list[Node]]] = [lambda: [Barrier()]]
        kinds += 3 * [partial(self._exchange_phase, shared) for shared in self.memory.shared]
        kinds += 3 * [partial(self._histogram_phase, decl) for decl in self.memory.histograms]
        return rng.choice(kinds)()

    def _exchange_phase(self, shared: Shared) -> list[Node]:
        decl = shared.decl
        t = decl.element.loaded
        value = self.gen.observed(self.scope, t, self._depth())
        reads: list[Node] = []
        for _ in range(self.rng.randrange(1, 3)):
            if shared.first is None:
                index = self.gen.index(self.scope, decl.count, 2)
            elif self.memory.local_count == 1:
                index = shared.first
            else:
                index = (
                    shared.first + self.gen.observed(self.scope, DataType.U32, 1) % self.memory.local_count
                )
            reads += self._read(decl, index)
        return [Barrier(), Store(decl.name, shared.slot, value), Barrier(), *reads]

    def _read(self, decl: BufferDecl, index: Expr) -> list[Node]:
        name, t = self._name("v"), decl.element.loaded
        self.fetched.append((name, t))
        return [Let(name, Load(decl.name, index)), fold(self.rng, Var(name), t)]

    def _histogram_phase(self, decl: BufferDecl) -> list[Node]:
        op = self.rng.choice(_RISING)
        updates = [self._count(decl, op) for _ in range(self.rng.randrange(1, 3))]
        read = self._read(decl, self.gen.index(self.scope, decl.count, 2))
        return [Barrier(), *updates, Barrier(), *read]

    def _final_stores(self) -> None:
        """An expression into each output, and the digest last."""
        for decl, index in self.memory.outputs:
            made = self._stored(decl, index)
            self.out += made
        self.out.append(Store(self.memory.digest.name, Var("i"), Var(DIGEST)))
