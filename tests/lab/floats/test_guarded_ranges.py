"""The ranges of guarded operations: proved for all operands, and refuted where they are a little wider."""

from __future__ import annotations

import pytest

from lab.floats.ranges import guard, script
from lab.floats.solve import ask_bitwuzla, operands
from tests.backends.probe.simulated import exactly
from vyre.ir.float_formats import F32
from vyre.numeric import guarded
from vyre.semantics.solvers import Answer

pytest.importorskip("bitwuzla")

WIDER = [
    ("add", ((-104, 100), (-104, 100))),
    ("add", ((-100, 128), (-100, 128))),
    ("sub", ((-104, 100), (-104, 100))),
    ("mul", ((-64, 60), (-63, 60))),
    ("mul", ((-60, 65), (-60, 65))),
    ("fma", ((-41, 40), (-40, 40), (-100, 100))),
    ("fma", ((-40, 65), (-40, 65), (-100, 100))),
]


def is_plain(bits: int) -> bool:
    """Zero or a normal number."""
    return bits & F32.magnitude == 0 or F32.hidden <= bits & F32.magnitude < F32.infinity


@pytest.mark.parametrize("name", guarded.RANGES)
def test_nothing_but_zeros_and_normal_numbers_within_the_ranges(name: str) -> None:
    op = guarded.guarded_op(f"guarded.f32.{name}")
    assert op is not None
    claim = script(op)
    assert ask_bitwuzla(claim, seconds=120).answer is Answer.Unsat
    assumed = claim.rpartition("(assert (not ")[0]
    assert ask_bitwuzla(f"{assumed}(check-sat)", seconds=60).answer is Answer.Sat
    assert guard(op).params == op.params


@pytest.mark.parametrize(("name", "ranges"), WIDER)
def test_a_wider_range_is_refuted_by_operands_that_replay(
    name: str, ranges: tuple[tuple[int, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(guarded.RANGES, name, ranges)
    op = next(op for op in guarded.guarded_ops() if op.id.endswith(name))
    found = ask_bitwuzla(script(op, ["RNE"]), seconds=120)
    assert found.answer is Answer.Sat
    given = operands(found)
    values = [given.get(p.name, 0) for p in op.params]
    assert all(is_plain(x) for x in values)
    assert not is_plain(exactly(name)(*values))


def test_ids_that_are_no_guarded_operation() -> None:
    assert guarded.guarded_op("guarded.f32.div") is None
    assert guarded.guarded_op("soft.f32.add") is None
    assert guarded.guarded_op("add") is None
