"""Races are found under every schedule and named; race-free programs are left alone."""

from __future__ import annotations

import pytest

from tests.reference.reference_programs import BINS, LID, OUT, TILE, ZERO, detected, loop, when
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BufferDecl,
    DataType,
    Expr,
    FReduce,
    InvocationId,
    Let,
    LitU32,
    Node,
    Program,
    ReduceOp,
    ReduceOrder,
    Return,
    Select,
    Var,
    WorkgroupId,
)
from vyre.ir.expr import f32
from vyre.reference import AccessKind, InvocationRef, Schedule, all_schedules, run
from vyre.reference.code import Place
from vyre.reference.races import MAX_RACES, Location, RaceDetector

U = LitU32
GID = InvocationId(0)
GROUP = WorkgroupId(0)
FLOATS = BufferDecl.read_write("floats", 1, DataType.F32, count=8)
R, W, A = AccessKind.Read, AccessKind.Write, AccessKind.Atomic


def bump(buffer: str, index: Expr = ZERO) -> Let:
    return Let("before", Atomic(AtomicOp.Add, buffer, index, U(1)))


RACY: dict[str, tuple[list[Node], int, set[tuple[AccessKind, AccessKind]]]] = {
    "two writes of one element": ([OUT.store(0, LID)], 1, {(W, W)}),
    "two writes of the same value": ([OUT.store(0, U(7))], 1, {(W, W)}),
    "a write and a read": (
        [when(LID.eq(0), [OUT.store(0, U(1))], [OUT.store(LID, OUT[0])])],
        1,
        {(W, R), (R, W)},
    ),
    "a read of the neighbour's write": ([OUT.store(LID, OUT[(LID + 1) % 4])], 1, {(W, R), (R, W)}),
    "an atomic and a plain write": (
        [when(LID.eq(0), [OUT.store(0, U(1))], [bump("out")])],
        1,
        {(W, A), (A, W)},
    ),
    "an atomic and a plain read": (
        [when(LID.eq(0), [OUT.store(1, OUT[0])], [bump("out")])],
        1,
        {(R, A), (A, R)},
    ),
    "an atomic in shared memory and a plain read": (
        [BINS.store(LID, U(0)), Barrier(), bump("bins"), OUT.store(LID, BINS[0])],
        1,
        {(A, R), (R, A)},
    ),
    "two workgroups write one element": ([when(LID.eq(0), [OUT.store(0, GROUP)])], 2, {(W, W)}),
    "two workgroups, one reads": (
        [when(LID.eq(0), [when(GROUP.eq(0), [OUT.store(0, U(1))], [OUT.store(1, OUT[0])])])],
        2,
        {(W, R), (R, W)},
    ),
    "a barrier does not order two workgroups": (
        [
            when(GROUP.eq(0), [OUT.store(LID, U(1))]),
            Barrier(),
            when(GROUP.eq(1), [OUT.store(LID + 8, OUT[LID])]),
        ],
        2,
        {(W, R), (R, W)},
    ),
    "a missing barrier": ([TILE.store(LID, LID), OUT.store(LID, TILE[U(3) - LID])], 1, {(W, R), (R, W)}),
    "a barrier too early": (
        [Barrier(), TILE.store(LID, LID), OUT.store(LID, TILE[U(3) - LID])],
        1,
        {(W, R), (R, W)},
    ),
    "a barrier too late": (
        [TILE.store(LID, LID), OUT.store(LID, TILE[U(3) - LID]), Barrier()],
        1,
        {(W, R), (R, W)},
    ),
    "the second barrier of a loop is missing": (
        [
            TILE.store(LID, LID),
            loop("r", U(0), U(2), [Barrier(), Let("x", TILE[(LID + 1) % 4]), TILE.store(LID, Var("x"))]),
        ],
        1,
        {(W, R), (R, W)},
    ),
    "overlapping strides": (
        [OUT.store(LID * 2, U(1)), OUT.store(LID + 4, U(2))],
        1,
        {(W, W)},
    ),
    "a whole range is read while one element is written": (
        [
            when(
                LID.eq(0),
                [Let("s", FReduce(ReduceOrder.Strict, ReduceOp.Add, "floats", U(0), U(8)))],
                [FLOATS.store(LID, f32(1.0))],
            )
        ],
        1,
        {(W, R), (R, W)},
    ),
}


def _program(entry: list[Node]) -> Program:
    out = BufferDecl.read_write("out", 0, DataType.U32, count=64)
    return Program([out, FLOATS, TILE, BINS], (4,), entry)


@pytest.mark.parametrize("name", RACY)
@pytest.mark.parametrize("schedule", all_schedules(2))
def test_races_are_found_under_every_schedule(name: str, schedule: Schedule) -> None:
    entry, groups, kinds = RACY[name]
    report = run(_program(entry), {}, (groups, 1, 1), schedule=schedule, detect=True).report
    assert report.races
    assert {(race.first.kind, race.second.kind) for race in report.races} <= kinds
    assert all(race.first.invocation != race.second.invocation for race in report.races)
    assert not report.deterministic


CLEAN: dict[str, tuple[list[Node], int]] = {
    "each invocation has its own element": ([OUT.store(GID, OUT[GID] + 1), OUT.store(GID, OUT[GID] * 2)], 3),
    "all read what nobody writes": ([OUT.store(GID + 1, OUT[0])], 2),
    "all read one uniform element of a tile": (
        [when(LID.eq(0), [TILE.store(0, U(5))]), Barrier(), OUT.store(GID, TILE[0])],
        2,
    ),
    "atomics of all workgroups meet in one element": ([bump("out")], 3),
    "different atomics meet in one element": (
        [bump("out"), Let("m", Atomic(AtomicOp.Max, "out", ZERO, GID))],
        2,
    ),
    "a barrier orders a write and a read": (
        [TILE.store(LID, LID), Barrier(), OUT.store(GID, TILE[U(3) - LID])],
        2,
    ),
    "a barrier orders a read and a later write": (
        [TILE.store(LID, LID), Barrier(), Let("x", TILE[U(3) - LID]), Barrier(), TILE.store(LID, Var("x"))],
        2,
    ),
    "a barrier orders storage inside one workgroup": (
        [OUT.store(LID, LID), Barrier(), OUT.store(LID + 8, OUT[U(3) - LID])],
        1,
    ),
    "plain initialisation, barrier, atomics, barrier, plain reads": (
        [BINS.store(LID, U(0)), Barrier(), bump("bins"), Barrier(), OUT.store(GID, BINS[0])],
        2,
    ),
    "one writer, ordered by two barriers in every round": (
        [
            TILE.store(LID, U(0)),
            Let("acc", U(0)),
            loop(
                "r",
                U(0),
                U(3),
                [
                    Barrier(),
                    when(LID.eq(Var("r")), [TILE.store(0, Var("r"))]),
                    Barrier(),
                    Assign("acc", Var("acc") + TILE[0]),
                ],
            ),
            OUT.store(GID, Var("acc")),
        ],
        2,
    ),
    "read by one, then after a barrier read and written by another": (
        [
            when(LID.eq(0), [OUT.store(GID + 32, OUT[GROUP])]),
            Barrier(),
            when(LID.eq(1), [OUT.store(GROUP, OUT[GROUP] + 1)]),
        ],
        2,
    ),
    "each workgroup has its own tile": ([when(LID.eq(0), [TILE.store(0, GROUP)])], 4),
    "out of bounds stores touch no element": ([OUT.store(U(1 << 20), LID)], 2),
    "a condition keeps all but one away": (
        [when(GID.eq(5), [OUT.store(0, U(1)), OUT.store(0, OUT[0] + 1)])],
        3,
    ),
    "neighbours in one packed word": ([OUT.store(Select(LID < 2, LID, LID + 8), U(1))], 1),
}


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("schedule", all_schedules(4))
def test_race_free_programs_are_not_accused(name: str, schedule: Schedule) -> None:
    entry, groups = CLEAN[name]
    report = run(_program(entry), {}, (groups, 1, 1), schedule=schedule, detect=True).report
    assert report.races == ()


def test_neighbouring_half_floats_do_not_race() -> None:
    halves = BufferDecl.read_write("halves", 0, DataType.F16, count=8)
    program = Program([halves], (8,), [halves.store(LID, halves[LID])])
    assert run(program, {}, (1, 1, 1), detect=True).report.races == ()


def test_a_report_names_buffer_element_places_and_invocations() -> None:
    entry = [
        Let("mine", LID),
        when(LID.eq(2), [TILE.store(5, U(1))]),
        when(LID.eq(3), [loop("r", U(0), U(1), [OUT.store(0, TILE[5])])]),
    ]
    [race] = detected(entry, shared=[TILE], groups=1).races
    assert (race.buffer, race.element) == ("tile", 5)
    assert (race.first.kind, race.first.place) == (W, "entry[1].then[0]")
    assert (race.second.kind, race.second.place) == (R, "entry[2].then[0].body[0]")
    assert race.first.invocation == InvocationRef((0, 0, 0), (2, 0, 0))
    assert race.second.invocation == InvocationRef((0, 0, 0), (3, 0, 0))
    for part in ("tile[5]", "entry[1].then[0]", "entry[2].then[0].body[0]", "(2, 0, 0)", "(3, 0, 0)"):
        assert part in str(race)


def test_each_pair_of_places_is_told_once() -> None:
    entry = [loop("r", U(0), U(20), [OUT.store(Var("r"), LID)])]
    assert len(detected(entry).races) == 1


def test_an_invocation_that_returned_is_not_ordered_by_later_barriers() -> None:
    quits = when(LID.eq(1), [TILE.store(0, U(9)), Return()])
    report = detected([quits, Barrier(), OUT.store(LID, TILE[0])], shared=[TILE], check=False)
    assert [(r.first.place, r.second.place) for r in report.races] == [("entry[0].then[0]", "entry[2]")]


def test_an_invocation_that_returned_is_ordered_by_the_barriers_it_met() -> None:
    entry = [
        when(LID.eq(1), [TILE.store(0, U(9))]),
        Barrier(),
        when(LID.eq(1), [Return()]),
        Barrier(),
        OUT.store(LID, TILE[0]),
    ]
    assert detected(entry, shared=[TILE], check=False).races == ()


def test_nothing_is_reported_without_detection() -> None:
    entry, groups, _ = RACY["two writes of one element"]
    report = run(_program(entry), {}, (groups, 1, 1)).report
    assert report.races == ()


def _ref(group: int, local: int) -> InvocationRef:
    return InvocationRef((group, 0, 0), (local, 0, 0))


def test_a_forgotten_read_is_still_covered_by_the_write_after_it() -> None:
    detector = RaceDetector()
    spot = Location("b", None, 0)
    detector.access(R, spot, _ref(0, 0), 0, Place("entry[0]"))
    detector.access(W, spot, _ref(0, 1), 1, Place("entry[1]"))
    assert detector.races == []
    detector.access(W, spot, _ref(1, 0), 0, Place("entry[2]"))
    assert [(r.first.place, r.second.place) for r in detector.races] == [("entry[1]", "entry[2]")]


def test_the_number_of_findings_is_bounded() -> None:
    detector = RaceDetector()
    for i in range(MAX_RACES + 50):
        spot = Location("b", None, i)
        detector.access(W, spot, _ref(0, 0), 0, Place("entry[0]"))
        detector.access(W, spot, _ref(0, 1), 0, Place("entry[1]"))
    assert len(detector.races) == MAX_RACES
