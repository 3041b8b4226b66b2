"""The four properties of barriers, as programs under every schedule, and divergence as an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.reference.reference_programs import LID, OUT, TILE, detected, elements, loop, outputs, when
from vyre.errors import InterpreterError
from vyre.ir import (
    Assign,
    Barrier,
    BufferDecl,
    DataType,
    InvocationId,
    Let,
    LitU32,
    Node,
    Program,
    Return,
    Select,
    Var,
    WorkgroupId,
)
from vyre.reference import Schedule, all_schedules, run

if TYPE_CHECKING:
    from collections.abc import Sequence

U = LitU32
SCHEDULES = [*all_schedules(5), Schedule.random_interleaving(6), Schedule.random_interleaving(7)]
every_schedule = pytest.mark.parametrize("schedule", SCHEDULES)


@every_schedule
def test_writes_before_a_barrier_are_visible_after_it(schedule: Schedule) -> None:
    entry = [TILE.store(LID, LID * LID), Barrier(), OUT.store(LID, TILE[(LID + 3) % 8])]
    expected = [((i + 3) % 8) ** 2 for i in range(8)]
    assert outputs(entry, shared=[TILE], schedule=schedule) == expected


@every_schedule
def test_storage_writes_before_a_barrier_are_visible_after_it(schedule: Schedule) -> None:
    entry = [OUT.store(LID, LID + 1), Barrier(), OUT.store(LID + 8, OUT[U(7) - LID])]
    assert outputs(entry, count=16, schedule=schedule)[8:] == [8, 7, 6, 5, 4, 3, 2, 1]


@every_schedule
def test_reads_before_a_barrier_do_not_see_writes_after_it(schedule: Schedule) -> None:
    entry = [
        TILE.store(LID, LID),
        Barrier(),
        Let("seen", TILE[(LID + 1) % 8]),
        Barrier(),
        TILE.store(LID, U(100)),
        OUT.store(LID, Var("seen")),
    ]
    assert outputs(entry, shared=[TILE], schedule=schedule) == [1, 2, 3, 4, 5, 6, 7, 0]


@every_schedule
def test_a_barrier_holds_in_every_round_of_a_loop(schedule: Schedule) -> None:
    rotate = [
        Let("next", TILE[(LID + 1) % 8]),
        Barrier(),
        TILE.store(LID, Var("next") * 2 + Var("r")),
        Barrier(),
    ]
    entry = [TILE.store(LID, LID), Barrier(), loop("r", U(0), U(3), rotate), OUT.store(LID, TILE[LID])]
    values = list(range(8))
    for r in range(3):
        values = [values[(i + 1) % 8] * 2 + r for i in range(8)]
    assert outputs(entry, shared=[TILE], schedule=schedule) == values


@every_schedule
def test_workgroups_have_their_own_memory_and_pass_barriers_alone(schedule: Schedule) -> None:
    rounds = WorkgroupId(0) + 1
    entry = [
        TILE.store(LID, WorkgroupId(0)),
        loop("r", U(0), rounds, [Barrier(), TILE.store(LID, TILE[LID] + 10), Barrier()]),
        OUT.store(InvocationId(0), TILE[U(3) - LID]),
    ]
    result = outputs(entry, count=12, size=4, groups=3, shared=[TILE], schedule=schedule)
    assert result == [10] * 4 + [21] * 4 + [32] * 4


@every_schedule
def test_a_barrier_under_a_uniform_condition_is_met(schedule: Schedule) -> None:
    swap: list[Node] = [TILE.store(LID, LID), Barrier(), OUT.store(InvocationId(0), TILE[U(3) - LID])]
    result = outputs([when(WorkgroupId(0).eq(1), swap)], size=4, groups=2, shared=[TILE], schedule=schedule)
    assert result == [0, 0, 0, 0, 3, 2, 1, 0]


@every_schedule
def test_a_workgroup_that_returned_as_a_whole_needs_no_barrier(schedule: Schedule) -> None:
    entry = [when(WorkgroupId(0).eq(0), [Return()]), Barrier(), OUT.store(InvocationId(0), U(1))]
    assert outputs(entry, size=4, groups=2, schedule=schedule) == [0, 0, 0, 0, 1, 1, 1, 1]


def divergent(entry: Sequence[Node], schedule: Schedule) -> str:
    with pytest.raises(InterpreterError) as caught:
        outputs(entry, size=4, shared=[TILE], schedule=schedule, check=False)
    assert "divergent barrier" in caught.value.message
    assert "uniform" in caught.value.fix
    return caught.value.message


@every_schedule
def test_two_different_barriers_end_in_an_error_that_names_both(schedule: Schedule) -> None:
    message = divergent([when(LID < 2, [Barrier()], [Barrier()])], schedule)
    assert "entry[0].then[0]" in message
    assert "entry[0].orelse[0]" in message
    assert "invocation (0, 0, 0)" in message
    assert "invocation (2, 0, 0)" in message


@every_schedule
def test_a_barrier_that_some_walk_around_ends_in_an_error(schedule: Schedule) -> None:
    message = divergent([when(LID < 2, [Barrier()])], schedule)
    assert "entry[0].then[0]" in message
    assert "the end of the program" in message


@every_schedule
def test_one_barrier_in_different_rounds_ends_in_an_error(schedule: Schedule) -> None:
    skip_first = when(Select(LID.eq(0), Var("r").ne(0), U(1)), [Barrier()])
    message = divergent([loop("r", U(0), U(3), [skip_first])], schedule)
    assert "in another iteration" in message


@every_schedule
def test_different_numbers_of_rounds_end_in_an_error(schedule: Schedule) -> None:
    divergent([loop("r", U(0), LID + 1, [Barrier()])], schedule)


@every_schedule
def test_a_returned_invocation_is_not_awaited(schedule: Schedule) -> None:
    entry = [
        when(LID.eq(1), [Return()]),
        TILE.store(LID, LID + 1),
        Barrier(),
        OUT.store(LID, TILE[U(3) - LID]),
    ]
    result = outputs(entry, count=4, size=4, shared=[TILE], schedule=schedule, check=False)
    assert result == [4, 0, 0, 1]


def test_a_return_before_a_barrier_is_reported_with_both_places() -> None:
    entry = [when(LID.eq(1), [Return()]), loop("r", U(0), U(3), [Barrier()])]
    report = detected(entry, check=False)
    [finding] = report.divergent_barriers
    assert (finding.barrier, finding.returned_at) == ("entry[1].body[0]", "entry[0].then[0]")
    assert (finding.waiting.local, finding.returned.local) == ((0, 0, 0), (1, 0, 0))
    assert not report.deterministic


def test_a_uniform_return_is_not_reported() -> None:
    entry = [when(WorkgroupId(0).eq(0), [Return()]), Barrier()]
    assert detected(entry, groups=2).divergent_barriers == ()


def test_the_validator_agrees_about_divergence() -> None:
    from vyre.errors import ValidationError

    for entry in ([when(LID < 2, [Barrier()])], [when(LID.eq(1), [Return()]), Barrier()]):
        with pytest.raises(ValidationError, match="V010"):
            detected(entry)


@every_schedule
def test_a_tree_reduction_gives_one_sum(schedule: Schedule) -> None:
    given = BufferDecl.read("given", 1, DataType.U32)
    tile = BufferDecl.workgroup("tile", DataType.U32, 16)
    fold = [
        when(Var("width") > LID, [tile.store(LID, tile[LID] + tile[LID + Var("width")])]),
        Assign("width", Var("width") // 2),
        Barrier(),
    ]
    entry = [
        tile.store(LID, given[InvocationId(0)]),
        Let("width", U(8)),
        Barrier(),
        loop("r", U(0), U(4), fold),
        when(LID.eq(0), [OUT.store(WorkgroupId(0), tile[0])]),
    ]
    data = b"".join((i * i).to_bytes(4, "little") for i in range(32))
    program = Program([OUT, given, tile], (16,), entry)
    result = run(program, {"given": data, "out": bytes(8)}, (2, 1, 1), schedule=schedule, detect=True)
    assert elements(result.buffers["out"]) == [sum(i * i for i in range(n, n + 16)) for n in (0, 16)]
    assert result.report.deterministic
    assert result.report.out_of_bounds == ()
