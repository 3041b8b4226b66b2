"""Making the plan of a run: which ops, stages and numbers of cases, over which registry."""

from __future__ import annotations

import fnmatch
import hashlib
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from vyre.conform.records.documents import Field, FieldError, canonical, decode
from vyre.conform.records.results import RunPlan
from vyre.conform.registry import specs
from vyre.conform.spec.composed import definition
from vyre.conform.spec.float_names import is_float
from vyre.conform.spec.law import label
from vyre.conform.spec.levels import SHAPES, rows
from vyre.conform.spec.op import LanesForm
from vyre.conform.spec.program import application
from vyre.conform.spec.sides import sides
from vyre.conform.spec.track import FLOAT, INTEGER, op_track
from vyre.conform.suite.units import ALL_STAGES, OPS, REGRESSIONS, graph_of
from vyre.errors import VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32
from vyre.ir.limits import MAX_BUFFERS
from vyre.ir.node import Store as StoreNode
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.semantics.emitted import IrDomain
from vyre.wire import byte_digest, meaning_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.records.journal import Journal
    from vyre.conform.spec.op import EquivalenceClass, OpSpec
    from vyre.conform.suite.regressions import Store

DEFAULT_SEED = 0x5EED
DEFAULT_CASES = 5 << 20
DEFAULT_FLOAT_CASES = 1 << 20
DEFAULT_PROGRAMS = 256
LARGEST = 1 << 24
QUICK_CASES = 1 << 12
QUICK_LARGEST = 1 << 16
QUICK_PROGRAMS = 32


TRACK_STAGES = {
    INTEGER: ALL_STAGES,
    FLOAT: tuple(
        s
        for s in ALL_STAGES
        if s in (REGRESSIONS, OPS)
        or s in [SHAPES, *(need.stage for row in rows(FLOAT) for need in row.stages)]
    ),
}
"""What the levels of the float track need, and all of the integer track."""


def make_plan(
    backend: str,
    *,
    seed: int = DEFAULT_SEED,
    cases: int = DEFAULT_CASES,
    float_cases: int | None = None,
    shard: tuple[int, int] = (1, 1),
    skip: int = 0,
    ops: Sequence[str] = (),
    stages: Sequence[str] = (),
    programs: int = DEFAULT_PROGRAMS,
    exhaustive: bool = False,
    largest: int = LARGEST,
    repeats: int = 3,
    store: Store | None = None,
) -> RunPlan:
    """The plan of a run. What is stored about the backend is replayed first, by the first shard.

    Float operations have `float_cases` random cases, by default as many as the others and 2^20 at most.
    Whoever names ops and no stages gets the ops alone; without either, everything is run.
    """
    if not 1 <= shard[0] <= shard[1]:
        raise VyreError(f"there is no shard {shard[0]} of {shard[1]}.", fix="write it like 1/4, from 1 on.")
    floats = min(cases, DEFAULT_FLOAT_CASES) if float_cases is None else float_cases
    if min(cases, floats) < 0 or skip < 0 or programs < 0 or repeats < 1 or not 0 <= seed < 1 << 64:
        raise VyreError("a number of the plan is out of range.", fix="pass numbers of 0 or more.")
    unknown = [s for s in stages if s not in ALL_STAGES]
    if unknown:
        raise VyreError(f"no stage is called {unknown[0]!r}.", fix=f"use {', '.join(ALL_STAGES)}.")
    wanted = tuple(stages) or ((REGRESSIONS, OPS) if ops else ALL_STAGES)
    chosen = chosen_ops(ops)
    stored = tuple(store.load(backend)) if store is not None and shard[0] == 1 else ()
    return RunPlan(
        backend,
        seed,
        cases,
        shard,
        skip,
        chosen,
        registry_digest(chosen),
        tuple(s for s in ALL_STAGES if s in wanted),
        programs,
        exhaustive,
        largest,
        repeats,
        stored if REGRESSIONS in wanted else (),
        floats,
    )


def chosen_ops(patterns: Sequence[str]) -> tuple[str, ...]:
    """The ids of the registry that match, in its order. A pattern that matches none is an error."""
    ids = [s.id for s in specs()]
    for pattern in patterns:
        if not any(_matches(i, pattern) for i in ids):
            raise VyreError(
                f"no op matches {pattern!r}.", fix="use an id or a pattern such as 'primitive.math.*'."
            )
    return tuple(i for i in ids if not patterns or any(_matches(i, p) for p in patterns))


def ops_of(track: str) -> tuple[str, ...]:
    """The ids of the registry that are on a track."""
    return tuple(s.id for s in specs() if op_track(s.id) == track)


def _matches(op_id: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(op_id, pattern) or op_id.startswith(f"{pattern}.")


def registry_digest(ops: Sequence[str], *, schema: int = 2) -> str:
    """A digest of everything these ops promise: types, definitions, laws, non-laws, classes, boundaries.

    Certificates of schema 1 were made without the non-laws and what the classes contain.
    """
    known = {s.id: s for s in specs()}
    return hashlib.sha256(canonical([_promises(known[op], schema) for op in ops])).hexdigest()


def promise_digest(spec: OpSpec, *, schema: int = 2) -> str:
    """A digest of everything one op promises."""
    return hashlib.sha256(canonical(_promises(spec, schema))).hexdigest()


def _promises(spec: OpSpec, schema: int) -> list[Any]:
    first = [
        spec.id,
        spec.category,
        [t.value for t in (*spec.signature.inputs, *spec.outputs)],
        definition_digest(spec),
        [[name, *equations] for name, equations in graph_of(spec.id).statements.items()],
        [c.name for c in spec.classes],
        [list(values) for values in spec.boundaries],
    ]
    if schema == 1:
        return first
    denied = [[label(n.law), *map(str, sides(n.law, spec))] for n in spec.non_laws]
    return [*first, denied, [class_digest(spec, c) for c in spec.classes]]


def class_digest(spec: OpSpec, one: EquivalenceClass) -> str:
    """Of which inputs are in a class of an op, blind to names."""
    u32, d = DataType.U32, IrDomain()
    if spec.words < MAX_BUFFERS:
        inputs = [BufferDecl.read(f"in{k}", k, u32, count=1) for k in range(spec.words)]
        words = [b[LitU32(0)] for b in inputs]
    else:
        inputs = [BufferDecl.read("in", 0, u32, count=spec.words)]
        words = [inputs[0][LitU32(k)] for k in range(spec.words)]
    inside = one.contains(d, *words)
    out = BufferDecl.read_write("out", len(inputs), u32, count=1)
    return meaning_digest(Program((*inputs, out), (1, 1, 1), [*d.lets, StoreNode("out", LitU32(0), inside)]))


def definition_digest(spec: OpSpec) -> str:
    """Of the composition that the op's definition is, as a program."""
    return byte_digest(definition_program(spec))


def definition_program(spec: OpSpec) -> Program:
    """The op's definition on the first words of buffers; an F64 op on the elements of its own, and a matrix
    instruction as its twin."""
    u32 = DataType.U32
    if isinstance(spec.form, LanesForm) and spec.form.twin is not None:
        return spec.form.twin
    if is_float(spec.id) and DataType.F64 in (*spec.signature.inputs, spec.signature.output):
        return application(spec).program  # no program makes an F64 of words
    inputs = [BufferDecl.read(f"in{k}", k, u32, count=1) for k in range(spec.words)]
    lets, results = definition(spec, [b[LitU32(0)] for b in inputs])
    out = BufferDecl.read_write("out", len(inputs), u32, count=len(results))
    stores = [StoreNode("out", LitU32(k), word) for k, word in enumerate(results)]
    return Program((*inputs, out), (1, 1, 1), [*lets, *stores])


def settle(plan: RunPlan, journal: Journal) -> RunPlan:
    """The plan as the journal began with it. Raises `VyreError` where the journal is of another run."""
    try:
        begun = decode(RunPlan, Field(journal.head).field("plan").value, "plan")
    except FieldError as error:
        raise VyreError(
            f"the journal {journal.path} does not begin with a plan: {error}.",
            fix="start anew without --resume.",
        ) from None
    if replace(begun, regressions=()) != replace(plan, regressions=()):
        differing = [n for n in asdict(plan) if n != "regressions" and getattr(plan, n) != getattr(begun, n)]
        raise VyreError(
            f"the journal {journal.path} is of a run with another {', '.join(differing)}.",
            fix="pass the same options as before, or start anew without --resume.",
        )
    return begun
