"""Shaped mutants: what the exam reads from a dispatch, when a fault strikes, and that the stage finds it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.mutants.shaped import FAULTS, QUANTITIES, Fault, Shaped, ShapedMutant, when, wrong
from lab.mutants.shaped.catalogue import mutants
from lab.mutants.shaped.certified import CertifyFate, Decided, Denied
from lab.mutants.shaped.claims import claimed, conditions, envelope_of_all_rows
from lab.mutants.shaped.held_out.table import KNOWN
from lab.mutants.shaped.judge import Examiner
from lab.mutants.shaped.page import HEAD, kept, written
from lab.mutants.shaped.trigger import Trigger
from lab.mutants.shaped.trigger import test as parsed
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.execute import run_bytes
from vyre.backends.protocol import BackendLimits
from vyre.certification import CertifyProgress
from vyre.conform.records.blocks import FAILED
from vyre.conform.records.envelope import Condition
from vyre.conform.shapes.rows import ROWS
from vyre.conform.verify.stages.shapes import STAGE
from vyre.ir.program import Program

if TYPE_CHECKING:
    from lab.mutants.shaped.quantities import Case

SUMS = Program.from_text(
    """vyre 1
workgroup 3 1 1
buffer ends: readonly U32 @0
buffer out: readwrite U32 @1

entry {
  let i = invocation.x
  let s = 0
  for k in 5..ends[i] {
    s := s + k
    if k > 100 {
      s := s ^ 1
    }
  }
  out[i] = s
}
"""
)
ENDS = np.array([6, 9, 2, 105], np.uint32).tobytes()
SMALL_ROW = next(
    k
    for k, row in enumerate(ROWS)
    if row["variables"] == 33 and row["payload"] == "F32 arithmetic" and row["float loop"] == "FAdd"
    and row["barriers"] == 2 and row["workgroup x"] == 64 and row["workgroup y"] == 1
)  # fmt: skip
RIGHT = ShapedMutant(Fault("none"), when("workgroup x >= 1000000"))


@cache
def cpu() -> CpuBackend:
    return CpuBackend(threads=1, canaries=False)


@cache
def examiner() -> Examiner:
    return Examiner()


def outputs(backend: Shaped) -> list[int]:
    found = run_bytes(backend.compile(SUMS), SUMS, {"ends": ENDS, "out": bytes(16)}, (2, 1, 1))
    return np.frombuffer(found["out"], np.uint32).tolist()


def read() -> Case:
    met: list[Case] = []
    outputs(Shaped(cpu(), RIGHT, met=lambda case, _: met.append(case)))
    for quantity in QUANTITIES:
        met[0].values(quantity)
    return met[0]


def test_what_is_read_from_a_dispatch() -> None:
    case = read()
    expected: dict[str, set[int | str]] = {
        "loop turns": {100},
        "loop start": {5},
        "loop bound": {"divergent"},
        "loop nesting": {1},
        "branch nesting": {1},
        "workgroup x": {3},
        "grid x": {2},
        "invocations": {6},
        "buffer elements": {4},
        "output fit": {"short"},
        "variables": {2},
        "entrance": {"run"},
        "run": {1},
        "literal": {0, 1, 5, 100},
    }
    assert {name: set(case.values(name)) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("loop turns >= 100", 100, True),
        ("loop turns >= 101", 100, False),
        ("loop turns = 0x64", 100, True),
        ("buffer elements odd", 4, False),
        ("buffer elements mod 4 = 3", 7, True),
        ("access = Uniform", "Uniform", True),
        ("access = Uniform", "ReadOnly", False),
    ],
)
def test_a_test_is_read_and_met(text: str, value: int | str, holds: bool) -> None:
    assert parsed(text).meets(value) is holds


@pytest.mark.parametrize("text", ["loop turns > 3", "turns >= 3", "loop turns mod = 3"])
def test_what_is_no_test_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a test"):
        parsed(text)


def test_a_fault_strikes_where_its_trigger_holds_and_nowhere_else() -> None:
    right = outputs(Shaped(cpu(), RIGHT))
    fault = FAULTS["last turn lost"]
    assert outputs(wrong(cpu(), ShapedMutant(fault, when("loop turns >= 101")))) == right
    assert outputs(wrong(cpu(), ShapedMutant(fault, when("loop turns >= 100")))) != right
    assert outputs(wrong(cpu(), ShapedMutant(fault, when("loop turns = 100", "workgroup x odd")))) != right
    assert outputs(wrong(cpu(), ShapedMutant(fault, when("loop turns = 100", "grid x odd")))) == right


def test_what_a_trigger_is_in_the_words_of_the_envelope() -> None:
    assert conditions(parsed("loop turns >= 10")) == [Condition("turns", ">=", 10)]
    assert conditions(parsed("grid y odd")) == [
        Condition("workgroups y", "=", level) for level in (1, 3, 33, 65_535, 65_537)
    ]
    assert conditions(parsed("launch >= 2")) == [Condition("entrance", "=", "bind again")]
    assert conditions(parsed("operator = Add")) == [None]
    assert conditions(parsed("statements >= 3")) == []


def test_a_level_of_0_also_stands_for_what_has_nothing_to_count() -> None:
    assert conditions(parsed("contention mod 16 = 0")) == []
    assert conditions(parsed("contention mod 16 = 5")) == [Condition("contention", "=", 5)]


def test_a_run_is_ended_where_no_track_can_be_granted_l3() -> None:
    denied = Denied()
    denied.watch(CertifyProgress(1, 9, 0, "golden", 0))
    denied.watch(CertifyProgress(2, 9, 0, "primitive.math.add", 1))
    denied.watch(CertifyProgress(3, 9, 0, "float.add", 1))
    with pytest.raises(Decided):
        denied.watch(CertifyProgress(4, 9, 0, "float.add", 2))
    assert (denied.first, denied.failing) == ("primitive.math.add", 2)
    with pytest.raises(Decided):
        Denied().watch(CertifyProgress(1, 9, 0, "shapes", 1))


def test_a_fault_that_needs_more_than_two_conditions_is_not_claimed() -> None:
    envelope = envelope_of_all_rows(BackendLimits())
    fault = FAULTS["barriers lost"]
    assert claimed(envelope, ShapedMutant(fault, when("workgroup x >= 20")))
    assert claimed(envelope, ShapedMutant(fault, when("workgroup x >= 20", "barriers >= 2")))
    assert not claimed(envelope, ShapedMutant(fault, when("workgroup x >= 20", "grid x >= 2")))
    assert not claimed(envelope, ShapedMutant(FAULTS["wrong stores"], when("workgroup x >= 2000")))


def test_the_catalogue_has_every_fault_and_names_differ() -> None:
    found = mutants()
    assert len(found) >= 850
    assert len({m.name for m in found}) == len(found)
    assert {m.fault.name for m in found} == set(FAULTS)


SOME = (
    ("wrong last store", ("workgroup x >= 20",)),
    ("last turn lost", ("loop turns >= 100",)),
    ("one turn too many", ("loop nesting >= 4",)),
    ("barriers lost", ("barriers >= 3",)),
    ("innermost branch exchanged", ("branch nesting >= 4",)),
    ("last variable wrong", ("variables >= 40",)),
    ("last element wrong", ("grid y >= 5",)),
    ("last byte kept", ("buffer elements = 257",)),
    ("last workgroup of x missing", ("grid x >= 20",)),
    ("wrong stores", ("entrance = run_limited",)),
    ("wrong stores", ("memory = copy",)),
    ("wrong stores", ("launch >= 2",)),
    ("wrong stores", ("threads >= 2",)),
    ("atomics lost", ("contention >= 20",)),
    ("reduction one element short", ("reduction length >= 20",)),
    ("FAdd off in the last place", ("float chain >= 5",)),
    ("last store lost", ("workgroup y odd", "uniform bytes >= 5")),
    ("second half kept", ("barriers >= 1", "element type = F16")),
    ("wrong first store", ("loop bound = uniform", "access = Workgroup")),
    ("Add as BitOr", ("workgroup bytes >= 1000",)),
    ("break after the turn", ("workgroup x >= 20",)),
    ("private memory not cleared", ("private bytes >= 100",)),
    ("last element of a table is zero", ("table bytes >= 100",)),
    ("load of I8 gives its neighbour", ("workgroup y >= 2",)),
)


@pytest.mark.parametrize(("fault", "tests"), SOME, ids=lambda x: x if isinstance(x, str) else " and ".join(x))
def test_the_stage_finds_a_shaped_mutant(fault: str, tests: tuple[str, ...]) -> None:
    mutant = ShapedMutant(FAULTS[fault], when(*tests))
    assert claimed(envelope_of_all_rows(BackendLimits()), mutant)
    assert examiner().examine(mutant).found


EVERYWHERE = (
    "last barrier lost",
    "first barrier lost",
    "sum loses the sign of zero",
    "product by 0 folded",
    "tiny results of FSub flushed",
    "tiny operands of FDiv flushed",
    "tiny sums of a loop flushed",
    "sum of a loop kept in two words",
    "products reassociated",
    "sums reassociated",
    "minimum takes the first zero",
    "leading zeros of 0 are 31",
    "division by 0 gives all ones",
    "loads hoisted out of loops",
    "private memory not cleared",
    "break at the first turn ignored",
)


@pytest.mark.parametrize("fault", EVERYWHERE)
def test_a_row_that_has_what_a_fault_needs_shows_it(fault: str) -> None:
    """Whatever else a row is there for: its payload meets the operands and places at which faults show."""
    mutant = ShapedMutant(KNOWN[fault], Trigger(KNOWN[fault].needs))
    hits: list[bool] = []
    backend = Shaped(cpu(), mutant, met=lambda _, hit: hits.append(hit))
    (outcome,) = STAGE.run(backend, examiner().plan, SMALL_ROW, SMALL_ROW + 1)
    assert any(hits)
    assert outcome.status == FAILED


def test_the_part_of_the_page_is_replaced_and_the_rest_kept() -> None:
    once = written("# Mutants\n\ntext\n", f"{HEAD}\n\nold\n")
    assert once == f"# Mutants\n\ntext\n\n{HEAD}\n\nold\n"
    assert written(once, f"{HEAD}\n\nnew\n") == f"# Mutants\n\ntext\n\n{HEAD}\n\nnew\n"
    assert kept("# Other\n", once) == f"# Other\n\n{HEAD}\n\nold\n"
    assert kept("# Other\n", "# Mutants\n") == "# Other\n"


def test_a_run_that_was_ended_decides_nothing() -> None:
    assert CertifyFate("a mutant", (), 0, "time over", 540).undecided
    assert not CertifyFate("a mutant", (), 3, "shapes", 90).undecided
    assert not CertifyFate("a mutant", ("L2",), 0, "", 90).undecided
