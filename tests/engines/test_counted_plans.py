"""Sizes and turns that the data decides: counted, then filled; repeated within a bound; planned once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre.backends import registry
from vyre.engines import Count, Covering, Engine, Plan, Repeated, Runner, Shape, Space, Step
from vyre.engines.compaction import compact_engine
from vyre.engines.kernels import U32, param
from vyre.engines.runs import I, over
from vyre.errors import DispatchError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, LitU32, Select, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir.program import Program

SHAPE = Shape(32, 2)
PLACES: list[Any] = [np.array, partial(vyre.to_device, backend="cpu")]
_READ = BufferDecl.read("input", 0, U32)
_WRITE = BufferDecl.read_write("output", 1, U32)


def _halving_program() -> Program:
    """Halves every element; the flag says whether one is left that is not 0."""
    flag = BufferDecl.read_write("flag", 2, U32, count=1)
    half = Var("half")
    body = [
        Let("half", _WRITE[I] >> LitU32(1)),
        Store("output", I, half),
        If(half, [Let("old", Atomic(AtomicOp.Max, "flag", LitU32(0), LitU32(1)))]),
    ]
    return over(SHAPE, _WRITE.length, body, (_READ, _WRITE, flag))


def _clearing_program() -> Program:
    turns = BufferDecl.read_write("turns", 2, U32, count=1)
    body = [If(I.eq(0), [Store("output", I, LitU32(0)), Store("turns", I, turns[I] + LitU32(1))])]
    return over(SHAPE, _READ.length, body, (_READ, _WRITE, turns))


def halving_engine(most: int) -> Engine:
    """Halves elements until all are 0, and counts the turns."""
    copy = over(SHAPE, _READ.length, [Store("output", I, _READ[I])], (_READ, _WRITE))

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        groups = -(-count // 64)
        given = {"input": "input", "output": "output"}
        clear = Step(_clearing_program(), groups, {"input": "input", "output": "flag", "turns": "turns"})
        halve = Step(_halving_program(), groups, given | {"flag": "flag"})
        outputs = {"output": Space(U32, count), "turns": Space(U32, 1, (0,))}
        steps = (Step(copy, groups, given), Repeated((clear, halve), "flag", most))
        return Plan(outputs, steps, {"flag": Space(U32, 1, (1,))})

    return Engine("halving", {"input": U32}, plan, SHAPE)


@pytest.mark.parametrize("place", PLACES)
def test_turns_are_taken_while_the_flag_is_set(place: Callable[[Any], Any]) -> None:
    data = np.array([5, 0, 1 << 9, 3] * 20, np.uint32)
    found = Runner("cpu").run(halving_engine(32), {"input": place(data)})
    assert int(np.asarray(found["turns"])[0]) == 10
    assert not np.asarray(found["output"]).any()


def test_more_turns_than_the_inputs_allow_are_refused() -> None:
    with pytest.raises(DispatchError, match="more than the 9 turns"):
        Runner("cpu").run(halving_engine(9), {"input": np.array([1 << 9], np.uint32)})


def filling_engine(most: int) -> Engine:
    """As many numbers as the first element says, by as many workgroups as that takes."""
    count = BufferDecl.read_write("output", 1, U32, count=1)
    ask = over(SHAPE, LitU32(1), [Store("output", I, _READ[LitU32(0)])], (_READ, count))
    fill = over(SHAPE, _WRITE.length, [Store("output", I, I + param(0))], (_READ, _WRITE))

    def plan(lengths: Mapping[str, int]) -> Plan:
        size = Count("count", most)
        steps = (
            Step(ask, 1, {"input": "input", "output": "count"}),
            Step(fill, Covering(size, 64), {"input": "input", "output": "output"}, (7,)),
        )
        return Plan({"output": Space(U32, size)}, steps, {"count": Space(U32, 1)})

    return Engine("filling", {"input": U32}, plan, SHAPE)


@pytest.mark.parametrize("place", PLACES)
def test_an_output_is_as_long_as_was_counted(place: Callable[[Any], Any]) -> None:
    runner, engine = Runner("cpu"), filling_engine(1000)
    for size in (5, 0, 64, 65, 1000):
        found = runner.run(engine, {"input": place(np.array([size], np.uint32))})["output"]
        assert (np.asarray(found) == np.arange(size) + 7).all()
        assert len(found) == size


def test_a_count_past_its_bound_is_refused() -> None:
    with pytest.raises(DispatchError, match="counted 1001 elements, and its inputs allow 1000"):
        Runner("cpu").run(filling_engine(1000), {"input": np.array([1001], np.uint32)})


def test_a_plan_bounds_its_work_by_lengths() -> None:
    plan = halving_engine(32).plan({"input": 100})
    assert [turns for _, turns in plan.dispatches] == [1, 32, 32]
    assert plan.invocations == 65 * 2 * 32
    assert filling_engine(1000).plan({"input": 1}).invocations == 32 + 16 * 32


def test_a_prepared_count_is_taken_anew_with_every_call() -> None:
    data, flags = np.arange(100, dtype=np.uint32), np.zeros(100, np.uint32)
    prepared = Runner("cpu").prepare(compact_engine(), {"input": data, "flags": flags})
    for chosen in (slice(0, 0), slice(0, 5), slice(90, 100), slice(0, 100)):
        flags[:] = 0
        flags[chosen] = 1
        prepared()
        assert prepared.outputs()["output"].tolist() == data[chosen].tolist()


def test_a_second_call_with_another_count_plans_and_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(3).integers(0, 1 << 32, 901, dtype=np.uint32)
    engines.compact(data, data & 1)
    engines.unique(data)
    engines.scan(data, op=lambda a, b: Select(a < b, b, a), neutral=0)

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was done before")

    monkeypatch.setattr(Runner, "compiled", refused)
    monkeypatch.setattr(registry, "offered_points", refused)
    assert (engines.compact(data, data & 2) == data[data & 2 != 0]).all()
    assert (engines.unique(data & np.uint32(7)) == np.arange(8)).all()
    largest = engines.scan(data, op=lambda a, b: Select(a < b, b, a), neutral=0)
    assert (largest == np.maximum.accumulate(data)).all()
    with pytest.raises(AssertionError, match="done before"):
        engines.compact(data[1:], data[1:])
