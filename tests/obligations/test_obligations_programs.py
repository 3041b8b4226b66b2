"""Generated programs: a solver proves the whole condition of every check that was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.bulk.guard_programs import guard_case
from tests.obligations.whole_conditions import Whole, z3
from vyre.lower.guards import Guards
from vyre.lower.prepare import Prepared, prepare
from vyre.obligations.check import Checker

if TYPE_CHECKING:
    import pytest

SECONDS = 20


def verdicts(prepared: Prepared) -> list[Any]:
    """What the solver says of each check that was removed: `unsat` is a proof."""
    guards, whole = Guards(prepared), Whole(prepared)
    found: list[Any] = []
    for node, buffer, index, condition, at in whole.conditions():
        if guards.needed(node, buffer, index):
            continue
        solver = z3.SolverFor("QF_BV")
        solver.set("timeout", SECONDS * 1000)
        solver.add(*whole.facts, condition, z3.Not(z3.ULT(at, whole.lengths[buffer])))
        found.append(solver.check())
    return found


def test_every_removed_check_is_proved() -> None:
    proved = 0
    for seed in range(40):
        answers = verdicts(prepare(guard_case(seed).program))
        assert z3.sat not in answers, f"seed {seed}: a check was removed that is needed"
        assert z3.unknown not in answers, f"seed {seed}: not decided in {SECONDS} s"
        proved += len(answers)
    assert proved > 500, "a proof of nothing proves nothing"


def test_a_check_that_is_needed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without the checker, and with an analysis that takes at most for less."""
    from vyre.optimize import ranges

    def wrong(a: ranges.Range, b: ranges.Range) -> tuple[ranges.Range, ranges.Range]:
        return a.meet(b.below()), b

    monkeypatch.setattr(ranges, "_less_or_equal", wrong)
    made = [prepare(guard_case(seed).program) for seed in range(25)]
    assert not any(z3.sat in verdicts(prepared) for prepared in made), "the checker refuses them"

    def trusting(*_: object) -> bool:
        return True

    monkeypatch.setattr(Checker, "inside", trusting)
    assert any(z3.sat in verdicts(prepared) for prepared in made)
