"""The features of shape, one row each: what is counted, in which levels it is tried, and how it is read.

    FEATURES["turns"].levels                              (0, 1, 2, 3, 17, 129, 1025, 65537)
    measure(program, buffers, workgroups)["turns"]        frozenset({2, 129})
    reached(FEATURES["turns"], frozenset({2, 129}))       129

A level is a number or a word, ascending. The value of a case is everything that occurs in it: a loop nest has
several numbers of turns, a program several types. A feature is `chosen` where the rows set it and every pair
of its levels with those of other chosen features is wanted; the others follow and are only counted. `covers`
names the statements, expressions, types, accesses and methods of the protocol that the feature tries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.process.entrances import ENTRANCES
from vyre.conform.shapes.facts import Facts
from vyre.conform.shapes.families import FAMILIES, LITERALS
from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import AtomicOp, ReduceOp, ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from vyre.conform.shapes.bounds import Memory
    from vyre.ir.program import Program

Level = int | str
Value = frozenset[int] | frozenset[str]


@dataclass(frozen=True, slots=True)
class Feature:
    """One row of the table. `limit` is the field of `BackendLimits` by which a device bounds it."""

    name: str
    unit: str
    levels: tuple[Level, ...]
    read: Callable[[Facts], Iterable[Level]]
    covers: frozenset[str] = frozenset()
    chosen: bool = True
    limit: str = ""
    alone: tuple[Level, ...] = ()
    """Levels that are tried by themselves, with everything else small, for their cost."""

    @property
    def every(self) -> tuple[Level, ...]:
        """All levels, those that are tried alone last."""
        return (*self.levels, *self.alone)


NONE = "none"
DISPATCHES = ("once", "again", "interleaved", "threads", "after another")
BREAKS = (NONE, "uniform", "divergent", "nested")
BOUNDS = (NONE, "literal", "computed", "length", "uniform", "loaded", "divergent")
PAYLOADS = ("integers", "lanes", "convert", "F32 arithmetic", "F32 order", "F16", "BF16", "F64", "functions")
"""What the payload has besides all integer operations, which are in every program."""

REDUCTIONS = tuple(f"{order.value} {op.value}" for order in ReduceOrder for op in ReduceOp)
ACCESSES = tuple(access.value for access in BufferAccess)

PAIRED_LITERALS = ("0", "1", "2^16", "2^24 + 1", "2^31", "-1", "NaN", "infinity")
"""The literals that are tried with every other feature."""

_ALL_INTEGER = frozenset(
    op.value for name in ("arithmetic", "bitwise", "compare", "division") for op in FAMILIES[name]
)
_ALL_FLOAT = frozenset(op.value for name in FAMILIES if name not in _ALL_INTEGER for op in FAMILIES[name])


def _one(read: Callable[[Facts], int]) -> Callable[[Facts], Iterable[Level]]:
    return lambda facts: (read(facts),)


def _axis(axis: int) -> Callable[[Facts], Iterable[Level]]:
    return lambda facts: (facts.program.workgroup_size[axis],)


def _count(axis: int) -> Callable[[Facts], Iterable[Level]]:
    return lambda facts: (facts.workgroups[axis],)


def _size(facts: Facts) -> int:
    x, y, z = facts.program.workgroup_size
    return x * y * z


def _bound(facts: Facts) -> list[str]:
    return [b.name for b in facts.program.buffers if b.access.bound]


def _private_bytes(facts: Facts) -> int:
    return sum(facts.bytes_of(BufferAccess.Private))


def _some(words: Iterable[str]) -> Iterable[Level]:
    return tuple(words) or (NONE,)


def _payloads(facts: Facts) -> Iterable[Level]:
    return ("integers", *(name for name in PAYLOADS if name in facts.families))


_WORKGROUP = (BufferAccess.Workgroup, BufferAccess.WorkgroupAtomic)

_ROWS = (
    Feature("loop depth", "loops inside each other", (0, 1, 2, 3, 5, 9, 17), _one(lambda f: f.loop_depth),
            frozenset({"Loop", "Assign"})),
    Feature("turns", "turns of a loop", (0, 1, 2, 3, 17, 129, 1025, 65_537), lambda f: f.turns or (0,),
            frozenset({"Loop"}), alone=(1_048_577,)),
    Feature("loop bounds", "", BOUNDS, lambda f: _some(f.bounds), frozenset({"Loop", "BufLen", "Load"})),
    Feature("loop start", "", (0, 1, 7, 0x7FFF_FFFE, 0xFFF0_0000), lambda f: f.starts or (0,),
            frozenset({"Loop"})),
    Feature("workgroup x", "invocations", (1, 2, 3, 16, 33, 127, 256), _axis(0),
            frozenset({"InvocationId", "LocalId"}), limit="workgroup_size_x", alone=(7, 64, 1_021)),
    Feature("workgroup y", "invocations", (1, 2, 3, 9, 64), _axis(1),
            frozenset({"InvocationId", "LocalId"}), limit="workgroup_size_y", alone=(256, 1_021)),
    Feature("workgroup z", "invocations", (1, 2, 5, 33), _axis(2),
            frozenset({"InvocationId", "LocalId"}), limit="workgroup_size_z", alone=(64, 1_021)),
    Feature("workgroups x", "workgroups", (1, 2, 3, 17, 129, 1025, 65_535), _count(0),
            frozenset({"WorkgroupId"}), limit="workgroups_per_axis", alone=(65_537,)),
    Feature("workgroups y", "workgroups", (1, 2, 3, 33, 65_535), _count(1),
            frozenset({"WorkgroupId"}), limit="workgroups_per_axis", alone=(65_537,)),
    Feature("workgroups z", "workgroups", (1, 2, 3, 9, 65_535), _count(2),
            frozenset({"WorkgroupId"}), limit="workgroups_per_axis", alone=(65_537,)),
    Feature("buffers", "bound buffers", (4, 6, 8, 9, 17), _one(lambda f: len(_bound(f))),
            limit="buffers", alone=(31, 64, 255)),
    Feature("buffer length", "elements", (0, 1, 2, 3, 31, 257, 4099, 65_537),
            lambda f: [f.lengths[n] for n in _bound(f)], frozenset({"Load", "Store", "BufLen"}),
            limit="buffer_bytes", alone=(1_048_577, (1 << 24) + 3)),
    Feature("element type", "", tuple(t.value for t in DataType),
            lambda f: {b.element.value for b in f.program.buffers}, frozenset(t.value for t in DataType)),
    Feature("access", "", ACCESSES, lambda f: {b.access.value for b in f.program.buffers},
            frozenset({*ACCESSES, "Load", "Store"})),
    Feature("workgroup bytes", "bytes", (0, 4, 12, 516, 4100, 16_384),
            _one(lambda f: sum(f.bytes_of(*_WORKGROUP))), frozenset({"Workgroup", "WorkgroupAtomic"}),
            limit="workgroup_bytes", alone=(32_764, 65_532)),
    Feature("uniform bytes", "bytes", (0, 4, 20, 1028, 16_388, 65_536),
            lambda f: f.bytes_of(BufferAccess.Uniform) or (0,), frozenset({"Uniform"}),
            limit="uniform_bytes"),
    Feature("private bytes", "bytes an invocation", (0, 4, 68, 1028), _one(_private_bytes),
            frozenset({"Private"}), alone=(8_192,)),
    Feature("table bytes", "bytes", (0, 4, 20, 1028, 16_388),
            _one(lambda f: sum(f.bytes_of(BufferAccess.Constant))), frozenset({"Constant"}),
            alone=(61_440,)),
    Feature("branch nesting", "branches inside each other", (0, 1, 2, 3, 6, 12),
            _one(lambda f: f.branch_nesting), frozenset({"If"}), alone=(25, 40)),
    Feature("branches", "", ("uniform", "divergent"), lambda f: _some(f.branches), frozenset({"If"})),
    Feature("scopes", "blocks inside each other", (0, 1, 3), _one(lambda f: f.blocks), frozenset({"Block"})),
    Feature("barriers", "barriers", (0, 1, 2, 3, 5), _one(lambda f: f.barriers), frozenset({"Barrier"}),
            alone=(17,)),
    Feature("barrier nesting", "statements around a barrier", (0, 1, 2, 4),
            _one(lambda f: f.barrier_nesting), frozenset({"Barrier"}), alone=(9,)),
    Feature("variables", "variables in scope", (16, 33, 65), _one(lambda f: f.variables),
            frozenset({"Let", "Var", "Assign"}), alone=(257, 1_025)),
    Feature("expression depth", "levels", (12, 17, 65), _one(lambda f: f.expression_depth),
            frozenset({"BinOp", "UnOp"}), alone=(257, 1_000)),
    Feature("literal", "", PAIRED_LITERALS, lambda f: f.literals,
            frozenset({"LitU32", "LitI32", "LitBool", "Literal"}),
            alone=tuple(n for n in LITERALS if n not in PAIRED_LITERALS)),
    Feature("loads after stores", "of one element", (0, 1, 2, 5), _one(lambda f: f.time_alias),
            frozenset({"Load", "Store"}), alone=(33,)),
    Feature("float chain", "operations that round", (0, 1, 2, 5, 17), _one(lambda f: f.float_chain),
            frozenset({"FMulAdd", "FAdd", "FMul", "FSub"}), alone=(33, 129)),
    Feature("float loop", "", (NONE, "FAdd", "FMul"), lambda f: _some(f.float_loops),
            frozenset({"FAdd", "FMul"})),
    Feature("reduction", "", (NONE, *REDUCTIONS), lambda f: _some(f.reductions), frozenset({"FReduce"})),
    Feature("reduction length", "elements", (0, 1, 2, 3, 33, 1025), lambda f: f.reduced or (0,),
            frozenset({"FReduce"}), alone=(32_769,)),
    Feature("atomic", "", (NONE, *(op.value for op in AtomicOp)), lambda f: _some(f.atomics),
            frozenset({"Atomic"})),
    Feature("atomic memory", "", (NONE, "storage", "workgroup"), lambda f: _some(f.atomic_memory),
            frozenset({"Atomic", "WorkgroupAtomic"})),
    Feature("contention", "invocations an atomic location", (0, 1, 5, 33, 257),
            lambda f: f.contention or (0,), frozenset({"Atomic"}), alone=(65_537,)),
    Feature("return", "", (NONE, "late", "in loop"), lambda f: _some(f.returns), frozenset({"Return"})),
    Feature("break", "", BREAKS, lambda f: _some(f.breaks), frozenset({"Break"})),
    Feature("output", "against the number of invocations", ("exact", "short", "long"), lambda f: f.outputs,
            frozenset({"Store"})),
    Feature("dispatch", "", DISPATCHES, lambda f: (f.dispatch,), frozenset({"compile"})),
    Feature("entrance", "", ENTRANCES, lambda f: (f.entrance,),
            frozenset({"run", "run_limited", "bind", "allocate", "borrow", "copy", "read", "write", "free",
                       "nbytes", "span"})),
    Feature("payload", "", PAYLOADS, _payloads,
            _ALL_INTEGER | _ALL_FLOAT | {"Select", "Cast", "Convert", "Lane", "MakeVec", "FMulAdd"}),
    Feature("workgroup size", "invocations", (1, 2, 3, 7, 16, 33, 64, 127, 129, 256, 512, 1024), _one(_size),
            chosen=False, limit="workgroup_invocations"),
    Feature("workgroups", "workgroups", (1, 2, 3, 17, 257, 4099, 65_535, 131_071),
            _one(lambda f: f.workgroups[0] * f.workgroups[1] * f.workgroups[2]), chosen=False),
    Feature("invocations", "invocations", (1, 2, 33, 257, 4099, 65_537, 1_048_577),
            _one(lambda f: f.invocations), chosen=False),
    Feature("statements", "statements", (1, 33, 65, 129, 257, 513), _one(lambda f: f.statements),
            chosen=False),
    Feature("bytes", "bytes of all bound buffers", (0, 65_537, 1_048_577, (1 << 26) + 1),
            _one(lambda f: sum(f.bytes_of(*(a for a in BufferAccess if a.bound)))),
            chosen=False),
)  # fmt: skip

FEATURES: Mapping[str, Feature] = {row.name: row for row in _ROWS}
CHOSEN: Mapping[str, Feature] = {name: row for name, row in FEATURES.items() if row.chosen}

NOT_OF_SHAPE: Mapping[str, str] = {
    "Call": "it vanishes before a backend sees it, or is hardware (stage subgroups)",
    "Approx": "its bits are the backend's own choice (stage approximate)",
    "FReduceApprox": "its bits are the backend's own choice (stage approximate)",
    "FSinApprox": "its bits are the backend's own choice (stage approximate)",
    "describe": "it says what the device is, and runs nothing",
    "name": "it says what the device is, and runs nothing",
}
"""What needs no feature, and why."""


def measure(
    program: Program,
    buffers: Mapping[str, Memory],
    workgroups: tuple[int, int, int],
    entrance: str = "run",
    dispatch: str = "once",
) -> dict[str, Value]:
    """Everything that occurs of each feature in a dispatch."""
    facts = Facts.of(program, buffers, workgroups, entrance=entrance, dispatch=dispatch)
    return {name: frozenset(row.read(facts)) for name, row in FEATURES.items()}  # pyright: ignore[reportReturnType]


def reached(feature: Feature, value: Value) -> Level:
    """The highest level that a value comes up to; of words the last that occurs, and the first for none."""
    first = feature.levels[0]
    if isinstance(first, str):
        return max((w for w in feature.every if w in value), key=feature.every.index, default=first)
    numbers = [n for n in value if isinstance(n, int)]
    most = max(numbers, default=0)
    return max((n for n in feature.every if isinstance(n, int) and n <= most), default=first)
