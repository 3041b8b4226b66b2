"""Break, private memory and constant tables in the reference interpreter."""

from __future__ import annotations

import struct

import pytest

from vyre.errors import InterpreterError, StepLimitExceeded, VyreError
from vyre.ir import BufferAccess, BufferDecl, DataType, Program
from vyre.ir.limits import MAX_WORKGROUP_BYTES
from vyre.reference import run
from vyre.reference.schedule import Schedule

HEAD = "vyre 1\nworkgroup 4 1 1\nbuffer out: readwrite U32[8] @0\n"


def outcome(text: str, *, groups: int = 2, schedule: Schedule | None = None) -> tuple[int, ...]:
    result = run(Program.from_text(HEAD + text), {}, (groups, 1, 1), schedule=schedule, detect=True)
    assert result.report.races == ()
    return struct.unpack("<8I", result.buffers["out"])


def test_a_break_ends_the_innermost_loop_alone() -> None:
    text = """entry {
      let n = 0
      for i in 0..100 {
        for j in 0..100 { if j == 3 { break } n := n + 1 }
        if i == invocation.x { break }
        n := n + 1000
      }
      out[invocation.x] = n
    }"""
    assert outcome(text) == tuple(1000 * i + 3 * (i + 1) for i in range(8))


def test_a_break_ends_no_more_turns_than_it_says() -> None:
    program = Program.from_text(HEAD + "entry { for i in 0..1000 { if i == 9 { break } } }")
    run(program, {}, (1, 1, 1), step_limit=10)
    with pytest.raises(StepLimitExceeded):
        run(program, {}, (1, 1, 1), step_limit=9)


def test_what_follows_a_break_in_its_block_never_runs() -> None:
    assert outcome("entry { for i in 0..5 { break out[invocation.x] = 1 } }") == (0,) * 8


def test_a_break_outside_of_a_loop_is_refused_without_validation_too() -> None:
    program = Program.from_text(HEAD + "entry { break }")
    with pytest.raises(InterpreterError, match="a break is not inside a loop"):
        run(program, {}, (1, 1, 1), check=False)


@pytest.mark.parametrize("schedule", [Schedule.forward(), Schedule.random(7)])
def test_private_memory_is_an_invocations_own_and_zero_when_it_starts(schedule: Schedule) -> None:
    text = """buffer p: private U32[3]
    entry {
      let before = p[0] + p[1] + p[2]
      p[invocation.x % 5] = invocation.x + 1
      barrier
      out[invocation.x] = before * 100 + p[0] + p[1] * 2 + p[2] * 3 + p[3] + len(p) * 1000
    }"""
    held = [(i + 1) * (i % 5 + 1) if i % 5 < 3 else 0 for i in range(8)]
    assert outcome(text, schedule=schedule) == tuple(3000 + x for x in held)


def test_private_memory_takes_no_part_in_races_and_is_never_uninitialised() -> None:
    text = "buffer p: private U32[4] entry { out[invocation.x] = p[0] p[0] = 1 p[9] = 2 }"
    report = run(Program.from_text(HEAD + text), {}, (2, 1, 1), detect=True).report
    assert (report.races, report.uninitialised_reads) == ((), ())
    assert [(f.buffer, f.index) for f in report.out_of_bounds] == [("p", 9)]


def test_private_memory_over_the_limit_of_the_interpreter_is_refused() -> None:
    huge = BufferDecl.private("p", DataType.U32, MAX_WORKGROUP_BYTES)
    with pytest.raises(InterpreterError, match="private memory"):
        run(Program([huge], (1,), []), {}, (1, 1, 1), check=False)


def test_a_table_is_read_at_any_index() -> None:
    table = "buffer k: constant U32 { 7, 0xFFFFFFFF, 9 } "
    text = table + "entry { out[invocation.x] = k[invocation.x * 2] + len(k) }"
    assert outcome(text) == (10, 12, 3, 3, 3, 3, 3, 3)


def test_a_table_of_truth_values_loads_as_0_or_1() -> None:
    text = "buffer k: constant Bool { 0, 2, 1 } entry { out[invocation.x] = select(k[invocation.x], 5, 6) }"
    assert outcome(text) == (6, 5, 5, 6, 6, 6, 6, 6)


def test_the_host_supplies_neither() -> None:
    text = "buffer k: constant U32 { 7 } buffer p: private U32[1] entry { }"
    for name in ("k", "p"):
        with pytest.raises(VyreError, match="no storage or uniform buffer"):
            run(Program.from_text(HEAD + text), {name: bytes(4)}, (1, 1, 1))


def test_a_table_and_its_data_always_agree() -> None:
    with pytest.raises(VyreError, match="not a whole number of U64 elements"):
        BufferDecl.constant("k", DataType.U64, bytes(12))
    with pytest.raises(VyreError, match="has 4 bytes, but its 2 U32 elements take 8"):
        BufferDecl("k", None, BufferAccess.Constant, DataType.U32, 2, bytes(4))
    with pytest.raises(VyreError, match="ReadOnly buffer k is declared with data"):
        BufferDecl("k", 0, BufferAccess.ReadOnly, DataType.U32, 1, bytes(4))
