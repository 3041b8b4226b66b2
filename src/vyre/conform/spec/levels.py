"""The levels, as data: what each one asks for, of which every case must have run and none been refused.

    TABLE                   one row a level, lowest first within its track
    rows(track)             the rows of a track
    LEVELS, TITLES          names by track, titles by name

`conform/certify/level.py` holds a run against these rows, and `docs/certificates.md` is generated from them.
A level includes all levels below it. The numbers are least ones: a plan with fewer cases, programs or repeats
is denied the level, and so is a run in which fewer cases of a stage gave a result, however many were planned.
"""

from __future__ import annotations

from dataclasses import dataclass

from vyre.conform.spec.track import APPROXIMATE, FLOAT, INTEGER

WITNESSES = 1_000_000
"""Uniform cases of every op and every law, where not every input was run; of a composition fewer are enough
(`compositions.py`)."""
TRIPLES = 1 << 24
"""Cases of the longest exhaustive kind of small operands."""
PROGRAMS = 256
REPEATS = 3

OPERATIONS, LAWS, CLEAN = "operations", "laws", "clean"
INVARIANTS, BASELINES, ENVELOPE = "invariants", "baselines", "envelope"
SHAPES = "shapes"
"""The stage whose rows the envelope is made of."""
RULES = {
    OPERATIONS: (
        "the run was whole (no shard, nothing skipped, no choice of ops); every Category A op of the registry"
        " equals its definition on every planned case; every declared class and boundary met a case; no"
        " failure is expected; stored failures are clean"
    ),
    LAWS: (
        "every declared law and property of every op holds on the backend's own results; the op's"
        " instruction is in the compiled kernel wherever the backend shows it"
    ),
    CLEAN: "no failure in any stage besides",
    INVARIANTS: "each of the eight invariants was checked on an engine that promises it",
    ENVELOPE: (
        "no row of the stage `shapes` failed; every pair of stated levels of two features passed, up to the"
        " limits that the backend declares ([the envelope](envelope.md)); none of these is below WebGPU's"
        " default"
    ),
    BASELINES: "performance baselines were measured, and none is slower than a baseline that was given",
}
"""What is asked for besides stages and numbers, as the documentation says it."""


@dataclass(frozen=True, slots=True)
class StageNeed:
    """A stage, and the fewest cases of the track that must have given a result in it.

    The number leaves out what a device may lack: F64, instructions, and a convention it does not declare.
    """

    stage: str
    least: int


@dataclass(frozen=True, slots=True)
class Row:
    """What a level asks for; 0 where it asks for no number of its own."""

    level: str
    track: str
    title: str
    rules: tuple[str, ...]
    stages: tuple[StageNeed, ...]
    cases: int = 0
    """Uniform cases of every op and law."""
    largest: int = 0
    """The longest exhaustive kind of small operands that must not be left out."""
    programs: int = 0
    repeats: int = 0


LEAST_LIMITS = {
    "workgroup_invocations": 256,
    "workgroup_size_x": 256,
    "workgroup_size_y": 256,
    "workgroup_size_z": 64,
    "workgroup_bytes": 16 << 10,
    "buffers": 8,
    "buffer_bytes": 128 << 20,
    "workgroups_per_axis": 65_535,
    "uniform_bytes": 64 << 10,
}
"""WebGPU's default limits: a backend that declares less has no envelope worth a level."""


def _stages(**least: int) -> tuple[StageNeed, ...]:
    return tuple(StageNeed(name, number) for name, number in least.items())


TABLE = (
    Row("L1", INTEGER, "parity", (OPERATIONS,), _stages(golden=967), WITNESSES),
    Row(
        "L2",
        INTEGER,
        "algebraic",
        (LAWS, CLEAN),
        _stages(
            determinism=136, wire=48, barrier=50, atomics=64, bounds=88, races=20, alternates=19, folding=94,
            dispatches=118, convention=15,
        ),
        WITNESSES,
        TRIPLES,
        programs=48,
        repeats=REPEATS,
    ),
    Row(
        "L3", INTEGER, "engines", (INVARIANTS, ENVELOPE), _stages(engines=188, programs=PROGRAMS, shapes=40),
        programs=PROGRAMS, repeats=REPEATS,
    ),
    Row(
        "L4", INTEGER, "full", (BASELINES,), _stages(composition=95, convention=27), programs=PROGRAMS,
        repeats=REPEATS,
    ),
    Row("L1f", FLOAT, "parity", (OPERATIONS,), _stages(golden=1927, hardest=18, evidence=56), WITNESSES),
    Row(
        "L2f",
        FLOAT,
        "algebraic",
        (LAWS, CLEAN),
        _stages(determinism=145, bounds=36, dispatches=135, float_folding=31, float_programs=28),
        WITNESSES,
        repeats=REPEATS,
    ),
    Row("L3f", FLOAT, "tensors", (ENVELOPE,), _stages(engines=40, tensors=103), repeats=REPEATS),
    Row("L4f", FLOAT, "networks", (BASELINES,), _stages(networks=31), repeats=REPEATS),
    Row("L1a", APPROXIMATE, "within tolerance", (OPERATIONS,), _stages(golden=143, approximate=54)),
)  # fmt: skip


def rows(track: str) -> tuple[Row, ...]:
    return tuple(row for row in TABLE if row.track == track)


LEVELS = {track: tuple(row.level for row in rows(track)) for track in (INTEGER, FLOAT, APPROXIMATE)}
TITLES = {row.level: row.title for row in TABLE}
