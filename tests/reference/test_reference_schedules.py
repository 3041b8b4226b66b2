"""Schedules: five orders that really differ, and agree where the program is race-free."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.reference.reference_programs import LID, OUT, TILE, elements, loop, words
from vyre.ir import (
    Atomic,
    AtomicOp,
    Barrier,
    BufferDecl,
    DataType,
    InvocationId,
    Let,
    LitU32,
    Program,
    Var,
)
from vyre.reference import Schedule, all_schedules, run

if TYPE_CHECKING:
    from collections.abc import Callable

U = LitU32
GID = InvocationId(0)


def _tickets(schedule: Schedule, *, groups: int = 2, rounds: int = 1) -> list[int]:
    """The order in which invocations drew tickets: a result that depends on the schedule alone."""
    counter = BufferDecl.read_write("counter", 1, DataType.U32, count=1)
    ticket = Atomic(AtomicOp.Add, "counter", U(0), U(1))
    entry = [loop("r", U(0), U(rounds), [OUT.store(ticket, GID)])]
    program = Program([OUT, counter], (4,), entry)
    result = run(program, {"out": bytes(16 * groups * rounds)}, (groups, 1, 1), schedule=schedule)
    return elements(result.buffers["out"])


def test_forward_and_reversed_run_invocation_by_invocation() -> None:
    assert _tickets(Schedule.forward()) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert _tickets(Schedule.reversed()) == [7, 6, 5, 4, 3, 2, 1, 0]
    assert _tickets(Schedule.forward(), groups=1, rounds=2) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_interleaving_takes_turns_at_every_access() -> None:
    assert _tickets(Schedule.interleaved(), groups=1, rounds=2) == [0, 1, 2, 3, 0, 1, 2, 3]


def test_interleaving_mixes_workgroups() -> None:
    assert _tickets(Schedule.interleaved(), rounds=2) == [*range(8), *range(8)]
    alone = Schedule(interleave=True, workgroups_in_flight=1)
    assert _tickets(alone, rounds=2) == [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7]


def test_interleaving_stops_between_a_load_and_the_store_that_depends_on_it() -> None:
    program = Program([OUT], (4,), [OUT.store(0, OUT[0] + 1)])

    def total(schedule: Schedule) -> int:
        return elements(run(program, {"out": words(0)}, (1, 1, 1), schedule=schedule).buffers["out"])[0]

    assert total(Schedule.forward()) == total(Schedule.reversed()) == 4
    assert total(Schedule.interleaved()) == 1


@pytest.mark.parametrize("make", [Schedule.random, Schedule.random_interleaving])
def test_a_seed_names_one_order_and_another_seed_another(make: Callable[[int], Schedule]) -> None:
    orders = [tuple(_tickets(make(seed), rounds=2)) for seed in range(6)]
    assert orders == [tuple(_tickets(make(seed), rounds=2)) for seed in range(6)]
    assert len(set(orders)) == 6
    assert all(sorted(order) == sorted([*range(8), *range(8)]) for order in orders)


def test_a_random_interleaving_lets_one_invocation_run_ahead() -> None:
    tickets = _tickets(Schedule.random_interleaving(1), groups=1, rounds=4)
    assert any(a == b for a, b in pairwise(tickets))
    assert tickets != sorted(tickets)


def test_all_schedules_are_of_different_kinds() -> None:
    kinds = {(schedule.order, schedule.interleave) for schedule in all_schedules()}
    assert len(kinds) == len(all_schedules()) == 5


@pytest.mark.parametrize("seed", range(4))
def test_every_schedule_gives_the_same_bytes_without_a_race(seed: int) -> None:
    given = BufferDecl.read("given", 1, DataType.U32)
    step = [
        Let("x", TILE[(LID * 3 + Var("r")) % 8]),
        Barrier(),
        TILE.store(LID, (Var("x") * 1664525) ^ given[(GID + Var("r")) % 16]),
        Barrier(),
    ]
    entry = [
        TILE.store(LID, given[GID]),
        Barrier(),
        loop("r", U(0), U(5), step),
        OUT.store(GID, TILE[LID]),
    ]
    program = Program([OUT, given, TILE], (8,), entry)
    data = {"given": words(*(i * 2654435761 for i in range(16))), "out": bytes(64)}
    results = [run(program, data, (2, 1, 1), schedule=s, detect=True) for s in all_schedules(seed)]
    assert all(result.report.deterministic for result in results)
    assert len({result.buffers["out"] for result in results}) == 1


def test_detection_does_not_change_the_result() -> None:
    program = Program([OUT], (4,), [OUT.store(LID % 3, OUT[LID] + LID)])
    for schedule in all_schedules(9):
        plain = run(program, {"out": words(1, 2, 3, 4)}, (2, 1, 1), schedule=schedule)
        watched = run(program, {"out": words(1, 2, 3, 4)}, (2, 1, 1), schedule=schedule, detect=True)
        assert plain.buffers == watched.buffers
        assert plain.steps == watched.steps
