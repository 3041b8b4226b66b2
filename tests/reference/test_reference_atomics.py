"""The eight atomics in programs, and the checks of their histories, each with one they must reject."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reference.reference_programs import BINS, LID, OUT, elements, loop, words
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
)
from vyre.reference import Schedule, all_schedules, run
from vyre.reference.atomics import (
    AtomicEvent,
    History,
    check,
    check_add,
    check_compare_exchange,
    check_monotone,
    check_sequential,
)

A = AtomicOp
U = LitU32
TOP = 0xFFFFFFFF
CELL = BufferDecl.read_write("cell", 1, DataType.U32, count=1)


@pytest.mark.parametrize(
    ("op", "before", "value", "expected", "after"),
    [
        (A.Add, TOP, 2, None, 1),
        (A.Or, 0b0101, 0b0011, None, 0b0111),
        (A.And, 0b0101, 0b0011, None, 0b0001),
        (A.Xor, 0b0101, 0b0011, None, 0b0110),
        (A.Min, 0x80000000, 7, None, 7),
        (A.Min, 7, 0x80000000, None, 7),
        (A.Max, 7, 0x80000000, None, 0x80000000),
        (A.Max, 0x80000000, 7, None, 0x80000000),
        (A.Exchange, 7, 9, None, 9),
        (A.CompareExchange, 7, 9, 7, 9),
        (A.CompareExchange, 7, 9, 8, 7),
    ],
)
def test_an_atomic_returns_the_value_before(
    op: AtomicOp, before: int, value: int, expected: int | None, after: int
) -> None:
    swap = Atomic(op, "cell", U(0), U(value), None if expected is None else U(expected))
    program = Program([OUT, CELL], (1,), [OUT.store(0, swap)])
    result = run(program, {"out": words(0), "cell": words(before)}, (1, 1, 1), detect=True)
    assert (elements(result.buffers["out"]), elements(result.buffers["cell"])) == ([before], [after])
    [history] = result.report.atomic_history
    assert (history.initial, history.final, history.buffer, history.element) == (before, after, "cell", 0)
    assert [(e.op, e.value, e.before, e.expected) for e in history.events] == [(op, value, before, expected)]
    assert check(history) is None


def _recorded(op: AtomicOp, schedule: int, *, initial: int) -> History:
    i = InvocationId(0)
    values = {A.Min: U(40) - i * 3, A.Max: i * 5, A.Add: i + 1, A.CompareExchange: i + 100}
    value = values.get(op, U(1) << (i % 5))
    expected = U(initial) if op is A.CompareExchange else None
    program = Program([CELL], (4,), [Let("before", Atomic(op, "cell", U(0), value, expected))])
    chosen = all_schedules(3)[schedule]
    result = run(program, {"cell": words(initial)}, (3, 1, 1), schedule=chosen, detect=True)
    assert result.report.races == ()
    [history] = result.report.atomic_history
    assert len(history.events) == 12
    return history


@pytest.mark.parametrize("op", list(AtomicOp))
@pytest.mark.parametrize("schedule", range(5))
def test_every_schedule_records_a_lawful_history(op: AtomicOp, schedule: int) -> None:
    assert check(_recorded(op, schedule, initial=25)) is None


@pytest.mark.parametrize("op", list(AtomicOp))
def test_a_lawful_history_is_lawful_in_any_order_of_its_events(op: AtomicOp) -> None:
    history = _recorded(op, 4, initial=25)
    assert check(replace(history, events=history.events[::-1])) is None


@pytest.mark.parametrize("op", list(AtomicOp))
def test_a_history_with_one_wrong_return_value_is_rejected(op: AtomicOp) -> None:
    history = _recorded(op, 0, initial=25)
    wrong = replace(history.events[5], before=history.events[5].before ^ 0x4000)
    assert check(replace(history, events=(*history.events[:5], wrong, *history.events[6:]))) is not None


@pytest.mark.parametrize("op", list(AtomicOp))
def test_a_history_with_a_wrong_final_value_is_rejected(op: AtomicOp) -> None:
    history = _recorded(op, 0, initial=25)
    assert check(replace(history, final=history.final ^ 0x4000)) is not None


def _add(value: int, before: int) -> AtomicEvent:
    return AtomicEvent(A.Add, value, before)


def test_add_needs_the_sum_and_one_permutation_of_partial_sums() -> None:
    assert check_add(History(5, 8, (_add(1, 7), _add(1, 5), _add(1, 6)))) is None
    assert check_add(History(TOP, 1, (_add(1, 0), _add(1, TOP)))) is None
    lost = check_add(History(5, 7, (_add(1, 7), _add(1, 5), _add(1, 6))))
    assert lost is not None
    assert "sum to 0x8" in lost
    twice = check_add(History(5, 8, (_add(1, 5), _add(1, 5), _add(1, 6))))
    assert twice is not None
    assert "0x5" in twice


def _swap(value: int, before: int, expected: int) -> AtomicEvent:
    return AtomicEvent(A.CompareExchange, value, before, expected)


def test_compare_exchange_succeeds_at_most_once_for_a_value_that_never_returns() -> None:
    assert check_compare_exchange(History(0, 5, (_swap(5, 0, 0), _swap(6, 5, 0), _swap(7, 5, 0)))) is None
    twice = check_compare_exchange(History(0, 6, (_swap(5, 0, 0), _swap(6, 0, 0))))
    assert twice is not None
    assert "succeeded 2 times for the expected value 0x0" in twice


def test_compare_exchange_may_succeed_again_after_the_value_came_back() -> None:
    events = (_swap(5, 0, 0), AtomicEvent(A.Exchange, 0, 5), _swap(6, 0, 0))
    assert check_compare_exchange(History(0, 6, events)) is None
    assert check_compare_exchange(History(0, 0, (_swap(0, 0, 0), _swap(0, 0, 0)))) is None


@pytest.mark.parametrize(
    ("op", "good", "bad"),
    [
        (A.Or, [(1, 0), (2, 1), (3, 3)], [(1, 0), (2, 0), (3, 3)]),
        (A.And, [(6, 7), (3, 6), (7, 2)], [(6, 7), (3, 7), (7, 2)]),
        (A.Xor, [(1, 0), (2, 1), (0, 3)], [(1, 0), (2, 0), (0, 3)]),
    ],
)
def test_bitwise_values_need_a_sequential_order(
    op: AtomicOp, good: list[tuple[int, int]], bad: list[tuple[int, int]]
) -> None:
    initial, final = {A.Or: (0, 3), A.And: (7, 2), A.Xor: (0, 3)}[op]
    for rows, lawful in ((good, True), (bad, False)):
        events = tuple(AtomicEvent(op, value, before) for value, before in rows)
        assert (check_sequential(History(initial, final, events)) is None) is lawful


def test_steps_that_balance_but_never_meet_the_initial_value_are_rejected() -> None:
    island = (AtomicEvent(A.Xor, 1, 8), AtomicEvent(A.Xor, 1, 9))
    message = check_sequential(History(0, 0, island))
    assert message is not None
    assert "ever reaches 0x8" in message


def test_min_and_max_move_towards_the_final_value_only() -> None:
    down = tuple(AtomicEvent(A.Min, value, before) for value, before in [(9, 10), (4, 9), (8, 4)])
    assert check_monotone(History(10, 4, down), A.Min) is None
    for wrong in [replace(down[1], before=11), replace(down[1], before=3)]:
        message = check_monotone(History(10, 4, (down[0], wrong, down[2])), A.Min)
        assert message is not None
        assert "outside 0x4..0xa" in message
    up = tuple(AtomicEvent(A.Max, value, before) for value, before in [(4, 2), (9, 4), (8, 9)])
    assert check_monotone(History(2, 9, up), A.Max) is None
    missed = check_monotone(History(2, 8, up), A.Max)
    assert missed is not None
    assert "Max of all operands is 0x9" in missed


def test_exchange_values_form_a_chain_that_ends_in_the_final_value() -> None:
    chain = tuple(AtomicEvent(A.Exchange, value, before) for value, before in [(3, 2), (1, 0), (2, 1)])
    assert check_sequential(History(0, 3, chain)) is None
    assert check_sequential(History(0, 2, chain)) is not None
    broken = (chain[0], chain[1], replace(chain[2], before=0))
    assert check_sequential(History(0, 3, broken)) is not None


def test_no_events_leave_the_value_alone() -> None:
    assert check(History(4, 4, ())) is None
    assert check(History(4, 5, ())) is not None


def test_a_plain_store_between_atomics_begins_a_new_history() -> None:
    bump = Atomic(A.Add, "bins", U(0), U(1))
    entry = [
        loop("r", U(0), U(2), [BINS.store(0, U(10)), Let("a", bump), Let("b", bump)]),
    ]
    report = run(Program([OUT, BINS], (1,), entry), {"out": b""}, (2, 1, 1), detect=True).report
    assert [(h.initial, h.final, len(h.events)) for h in report.atomic_history] == [(10, 12, 2)] * 4
    assert {h.workgroup for h in report.atomic_history} == {(0, 0, 0), (1, 0, 0)}
    assert all(check(history) is None for history in report.atomic_history)


@pytest.mark.parametrize("schedule", all_schedules(11))
def test_a_histogram_in_workgroup_memory_counts_every_item(schedule: Schedule) -> None:
    entry = [
        BINS.store(LID, U(0)),
        Barrier(),
        loop("k", U(0), U(4), [Let("before", Atomic(A.Add, "bins", LID % 3, U(1)))]),
        Barrier(),
        Let("sum", Atomic(A.Add, "out", LID, BINS[LID])),
    ]
    program = Program([OUT, BINS], (8,), entry)
    result = run(program, {"out": bytes(32)}, (2, 1, 1), schedule=schedule, detect=True)
    assert elements(result.buffers["out"]) == [24, 24, 16, 0, 0, 0, 0, 0]
    assert result.report.deterministic
