"""Functions of the library hold what they promise as engines, and a fault in any of it is caught."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import wrong
from tests.conform.verify.test_engines import PLAN, outcomes
from tests.wrong.base import processor
from vyre.conform.registry.engine import ENGINES, blocks, codes, frames, networks, numerals, texts
from vyre.conform.spec.engine import CalledEngine
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.conform.verify.stage import FAILED
from vyre.conform.verify.stages.engines_called import Surveys
from vyre.conform.verify.stages.engines_checks import CHECKERS, SHAPES, EngineBench
from vyre.conform.verify.stages.engines_programs import CUT, TURNS, counting, meets, recut
from vyre.engines.run import Runner
from vyre.ir.buffers import BufferAccess
from vyre.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from vyre.conform.spec.engine import EngineCase, EngineSpec
    from vyre.ir.program import Program

    Spoil = Callable[[dict[str, Any], Any], None]

SPECS = (*texts.SPECS, *codes.SPECS, *numerals.SPECS, *networks.SPECS, *frames.SPECS, *blocks.SPECS)
MANY, SEVERAL = 1000, 16
"""Inputs of each engine, and of how many one is asked for what takes several runs."""
STRAIGHT = ("translate", "base64")
"""Without a loop."""
_BACKEND = processor()
_SURVEYS = Surveys(_BACKEND)


def bench(case: EngineCase, surveys: Surveys = _SURVEYS, turn: int = 0) -> EngineBench:
    return EngineBench(case, Runner(_BACKEND), 2, SHAPES[turn % len(SHAPES)], surveys)


def built(case: EngineCase) -> CalledEngine:
    made = case.build(SHAPES[0])
    assert isinstance(made, CalledEngine)
    return made


def made_otherwise(case: EngineCase, engine: CalledEngine) -> EngineCase:
    def build(shape: Any) -> CalledEngine:
        return engine

    return replace(case, build=build)


def spoiled(case: EngineCase, spoil: Spoil) -> EngineCase:
    """The same engine, whose outputs are changed after each run."""
    made = built(case)

    def call(inputs: Mapping[str, Any], backend: Any) -> Mapping[str, Any]:
        outputs = {name: np.array(array) for name, array in made.call(inputs, backend).items()}
        spoil(outputs, backend)
        return outputs

    return made_otherwise(case, replace(made, call=call))


def test_every_engine_promises_each_invariant_or_says_why_not() -> None:
    assert set(SPECS) < set(ENGINES)
    for spec in ENGINES:
        assert {*spec.invariants, *spec.withheld} == set(Inv), spec.id
        assert not {*spec.invariants} & {*spec.withheld}, spec.id
        assert all(len(reason.split()) > 4 for reason in spec.withheld.values())


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.id)
def test_an_engine_holds_its_invariants_on_many_inputs(spec: EngineSpec) -> None:
    """One run of every input is asked what one run tells; what takes more runs is asked of one in 16."""
    for turn in range(MANY):
        case = spec.case(PLAN.seed + turn, turn, spec.invariants[turn % len(spec.invariants)])
        asked = bench(case, turn=turn // SEVERAL)
        survey = _SURVEYS.plain
        found = asked.call(survey)
        assert survey.damage is None, turn
        assert np.array_equal(case.items(found), case.expected), turn
        assert max(array.size for array in found.values()) <= built(case).room
        if turn % SEVERAL == 0:
            for invariant in spec.invariants:
                assert CHECKERS[invariant](asked) is None, (turn, invariant)


def lost(outputs: dict[str, Any], backend: Any) -> None:
    bits = outputs["output" if "output" in outputs else "value" if "value" in outputs else "sum"]
    bits.view(f"<u{bits.itemsize}")[0] ^= 1


def later(runs: list[int], outputs: dict[str, Any], backend: Any) -> None:
    runs.append(0)
    if len(runs) > 1:
        lost(outputs, backend)


def elsewhere(outputs: dict[str, Any], backend: Any) -> None:
    if backend.name.endswith("cut otherwise"):
        lost(outputs, backend)


def exchanged(at: int, width: int, outputs: dict[str, Any], backend: Any) -> None:
    """Two neighbours in all outputs that have as many of them as the first."""
    rows = next(iter(outputs.values())).size // width
    for array in outputs.values():
        each = array.size // rows
        if rows * each == array.size and each:
            pair = array.reshape(rows, each)
            pair[[at, at + 1]] = pair[[at + 1, at]]


def exchanges(case: EngineCase) -> Iterator[Spoil]:
    outputs = built(case).call(case.inputs, _SURVEYS.plain)
    for width in (1, 2):
        for at in range(min(next(iter(outputs.values())).size // width - 1, 40)):
            yield partial(exchanged, at, width)


FAULTS: Mapping[Inv, Callable[[EngineCase], Iterator[Spoil]]] = {
    Inv.NoOutputLost: lambda case: iter([lost]),
    Inv.NoDuplicate: lambda case: iter([lost]),
    Inv.Deterministic: lambda case: iter([partial(later, [])]),
    Inv.WorkgroupInvariant: lambda case: iter([elsewhere]),
    Inv.Ordered: exchanges,
}


@pytest.mark.parametrize("invariant", FAULTS, ids=lambda i: i.name)
@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.id)
def test_a_planted_fault_is_caught(spec: EngineSpec, invariant: Inv) -> None:
    check = CHECKERS[invariant]
    for index in range(8):
        case = spec.case(PLAN.seed + index, index, invariant)
        assert check(bench(case)) is None
        if any(check(bench(spoiled(case, spoil))) is not None for spoil in FAULTS[invariant](case)):
            return
        assert invariant is Inv.Ordered, "an exchange of equal items is none"
    pytest.fail("no exchange was caught")


class WritesPastABuffer(wrong.Right):
    """Right in all that a caller sees."""

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        name = next(b.name for b in program.buffers if b.access is BufferAccess.ReadWrite)
        written = np.frombuffer(buffers[name], np.uint8)
        ctypes.memset(written.ctypes.data + written.nbytes, 0, 1)


class ChangesWhatItReads(wrong.Right):
    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        name = next(b.name for b in program.buffers if b.access is BufferAccess.ReadOnly)
        read = np.frombuffer(buffers[name], np.uint8)
        ctypes.memset(read.ctypes.data, int(read[0]) ^ 1, 1)


class LeavesOutTheLast(wrong.Right):
    """Forgets the last invocations of grids that are not cut as the library cuts them."""

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        if CUT in buffers and not meets(program):
            words = np.frombuffer(buffers[CUT], np.uint32)
            total = max(1, int(words[1]) * 3 // 4)
            ctypes.memmove(words.ctypes.data + 4, total.to_bytes(4, "little"), 4)


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.id)
def test_a_write_past_a_buffer_is_caught(spec: EngineSpec) -> None:
    case = spec.case(PLAN.seed, 0, Inv.Bounded)
    found = CHECKERS[Inv.Bounded](bench(case, Surveys(WritesPastABuffer())))
    assert found is not None
    assert found.expected == "0x5C"


def test_what_is_only_read_and_how_much_is_made_are_looked_at() -> None:
    case = texts.SPECS[1].case(PLAN.seed, 0, Inv.Bounded)
    found = CHECKERS[Inv.Bounded](bench(case, Surveys(ChangesWhatItReads())))
    assert found is not None
    assert found.where.endswith("which is only read")
    short = made_otherwise(case, replace(built(case), room=9))
    found = CHECKERS[Inv.Bounded](bench(short))
    assert found is not None
    assert (found.where, found.expected) == ("the length of output", "at most 9")


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.id)
def test_more_work_than_declared_is_no_termination(spec: EngineSpec) -> None:
    case = spec.case(PLAN.seed, 0, Inv.Termination)
    assert CHECKERS[Inv.Termination](bench(case)) is None
    found = CHECKERS[Inv.Termination](bench(replace(case, work=0)))
    assert found is not None
    assert (found.where, found.expected) == ("invocations", "at most 0")


@pytest.mark.parametrize("spec", [s for s in SPECS if s.id not in STRAIGHT], ids=lambda s: s.id)
def test_more_turns_than_declared_are_no_termination(spec: EngineSpec) -> None:
    seen: list[str] = []
    for index in range(4):
        case = spec.case(PLAN.seed, index, Inv.Termination)
        few = replace(built(case), turns=2)
        found = CHECKERS[Inv.Termination](bench(made_otherwise(case, few)))
        seen += [] if found is None else [f"{found.where}: {found.expected}"]
    assert "turns of loops: at most 2" in seen


@pytest.mark.parametrize("turn", range(len(SHAPES)))
def test_a_backend_that_is_wrong_for_other_workgroups_is_caught(turn: int) -> None:
    case = codes.SPECS[0].case(PLAN.seed, 0, Inv.WorkgroupInvariant)
    assert CHECKERS[Inv.WorkgroupInvariant](bench(case, turn=turn)) is None
    found = CHECKERS[Inv.WorkgroupInvariant](bench(case, Surveys(LeavesOutTheLast()), turn))
    assert found is not None


def test_changed_programs_are_valid_and_really_other_ones() -> None:
    seen: set[Program] = set()
    for spec in SPECS:
        for index in range(2):
            seen |= set(bench(spec.case(PLAN.seed, index, Inv.Bounded)).programs())
    assert len(seen) > 60
    for program in seen:
        known = {d.code for d in validate(program)}
        counted = counting(program)
        if counted is not None:
            assert counted.buffer(TURNS) is not None
            assert {d.code for d in validate(counted)} == known
        for shape in SHAPES:
            cut = recut(program, shape)
            assert {d.code for d in validate(cut)} == known
            assert cut.workgroup_size[0] == (program.workgroup_size[0] if meets(program) else shape.lanes)


def test_a_failure_tells_where_and_shows_the_programs() -> None:
    spec = texts.SPECS[1]
    found = [o for o in outcomes(WritesPastABuffer(), (spec,)) if o.status == FAILED]
    assert {o.subject for o in found} == {"replace/Bounded"}
    assert "_replaced" in found[0].program or "out" in found[0].program
