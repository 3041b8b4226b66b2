"""A case has the shape of its row and no races, and its expected bytes are those of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.conform.process.entrances import ALONE
from vyre.conform.shapes import closed
from vyre.conform.shapes.build import build
from vyre.conform.shapes.constraints import further, invocations, why_not
from vyre.conform.shapes.features import CHOSEN, FEATURES, measure, reached
from vyre.conform.shapes.history import order
from vyre.conform.shapes.parts.atomics import AtomicPlaces
from vyre.conform.shapes.rows import ROWS
from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import AtomicOp
from vyre.reference import run
from vyre.validate import validate

if TYPE_CHECKING:
    from vyre.conform.shapes.features import Level


def _light(row: dict[str, Level]) -> bool:
    return invocations(row) <= 20_000 and int(row["buffer length"]) <= 100_000


@pytest.mark.parametrize("number", [n for n, row in enumerate(ROWS) if _light(row)][::5])
def test_a_case_has_the_levels_of_its_row(number: int) -> None:
    row = ROWS[number]
    case = build(row, 7)
    assert validate(case.program) == []
    found = measure(case.program, case.inputs, case.workgroups, case.entrance, case.dispatch)
    for name in CHOSEN:
        assert row[name] in found[name] or reached(FEATURES[name], found[name]) == row[name], name
    assert set(further(row)) <= set(found["element type"])


def _small(row: dict[str, Level]) -> dict[str, Level]:
    most: dict[str, int] = {
        "workgroups x": 2, "workgroups y": 2, "workgroups z": 2, "workgroup x": 3, "workgroup y": 3,
        "workgroup z": 3, "turns": 3, "contention": 1, "buffer length": 31, "reduction length": 33,
    }  # fmt: skip
    return {**row, **{name: min(int(row[name]), level) for name, level in most.items()}}


SMALL = [n for n, row in enumerate(ROWS) if why_not(_small(row)) is None]


def test_most_rows_have_a_small_twin() -> None:
    assert len(SMALL) > 0.9 * len(ROWS)


@pytest.mark.parametrize("number", SMALL[::9])
def test_the_expected_bytes_are_those_of_the_reference(number: int) -> None:
    case = build(_small(ROWS[number]), 11)
    for memory in case.memories:
        found = run(case.program, memory.inputs, case.workgroups, detect=True)
        assert not found.report.races
        assert not found.report.divergent_barriers
        assert found.buffers == memory.expected


AGAIN = [n for n in SMALL if ROWS[n]["dispatch"] == "again"]


@pytest.mark.parametrize("number", AGAIN[::6])
def test_a_memory_of_the_run_before_shows(number: int) -> None:
    """Each of its read buffers by itself that is not empty, unless it has nothing but a bound."""
    case = build(_small(ROWS[number]), 11)
    first, second = case.memories[0], case.memories[1]
    changed = [n for n, data in second.inputs.items() if data != first.inputs[n]]
    read = [b.name for b in case.program.buffers if b.access is not BufferAccess.ReadWrite]
    assert {"out", "elements"} <= set(changed)
    for name in changed:
        assert len(second.inputs[name]) == len(first.inputs[name])
        if name in read:
            stale = {**first.inputs, name: second.inputs[name]}
            assert run(case.program, stale, case.workgroups, check=False).buffers != first.expected, name


def test_small_cases_run_more_often_and_with_another_length() -> None:
    row = next(_small(ROWS[n]) for n in AGAIN if ROWS[n]["loop bounds"] not in ("length", "divergent"))
    case = build(row, 3)
    assert case.order == (0, 1, 0, 2, ALONE, 0)
    assert len(case.memories[2].inputs["data"]) == len(case.inputs["data"]) + 4
    assert order({**row, "turns": 65_537}) == (0, 1, 0)


def _turn_by_turn(words: Any, start: int, turns: int) -> Any:
    for k in range(start, start + turns):
        words = words * np.uint32(closed.FACTOR) + np.uint32((k * closed.STEP + closed.OFFSET) & 0xFFFF_FFFF)
    return words


def test_the_closed_form_of_a_loop_is_the_loop() -> None:
    words = np.arange(5, dtype=np.uint32)
    assert closed.turned(words, 7, 200, 0).tolist() == _turn_by_turn(words, 7, 200).tolist()
    assert closed.turned(words, 7, 201, 0).tolist() != _turn_by_turn(words, 7, 200).tolist()


def test_floats_accumulate_one_after_the_other() -> None:
    """Of even classes numbers about 1, of odd classes subnormal ones."""
    found = closed.accumulated(np.array([1, 1e-40], np.float32), "FAdd", 0, 70_000)
    total, least = np.float32(1), np.float32(1e-40)
    for k in range(70_000):
        total = total + np.uint32(((k & 0xFFFF) << 7) + 0x3F80_0055).view(np.float32)
        least = least + np.uint32((k & 3) + 1).view(np.float32)
    assert found.tolist() == [total, least]
    assert 0 < least < np.finfo(np.float32).tiny


def test_products_of_a_loop_leave_the_least_numbers_and_come_back() -> None:
    first = np.uint32(0x0041_2345).view(np.float32)
    for turns in (2, 3, 17):
        found = closed.accumulated(np.array([1, first], np.float32), "FMul", 7, turns)
        assert found[1] == first
    once = closed.accumulated(np.array([1, first], np.float32), "FMul", 7, 1)
    assert once[1] == first * np.float32(0.5) != 0


def _one_by_one(places: AtomicPlaces, ids: list[int], words: Any) -> list[int]:
    """The locations after atomics in this order."""
    table = [places.first] * places.count
    for i in ids:
        location, word = i % places.used, int(words[i])
        old, even = table[location], location % 2 == 0
        same = location * 0x27D4_EB2F + 1 & 0xFFFF_FFFF
        value = same if even else word
        match places.op:
            case AtomicOp.Add:
                table[location] = old + value & 0xFFFF_FFFF
            case AtomicOp.Max:
                table[location] = max(old, value)
            case AtomicOp.Exchange:
                table[location] = same
            case _:
                table[location] = same if even and old == places.first else old
        if even or places.op in (AtomicOp.Exchange, AtomicOp.CompareExchange):
            told = (old ^ old >> 15) * 0x9E37_79B1
            table[-1] = table[-1] + told & 0xFFFF_FFFF
    return table


@pytest.mark.parametrize(
    "op", [AtomicOp.Add, AtomicOp.Max, AtomicOp.Exchange, AtomicOp.CompareExchange], ids=lambda op: op.value
)
def test_atomics_leave_the_same_in_any_order(op: AtomicOp) -> None:
    places, ids = AtomicPlaces(op, count=5, ways=33), np.arange(33)
    words = np.random.default_rng(3).integers(0, 1 << 32, 33, dtype=np.uint32)
    table = np.full(5, places.first, np.uint32)
    places.apply(table, np.zeros(33, np.int64), ids, words)
    assert table.tolist() == _one_by_one(places, ids.tolist(), words)
    assert table.tolist() == _one_by_one(places, ids[::-1].tolist(), words)
