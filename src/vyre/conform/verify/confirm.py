"""A crash or hang in a stage is that of the case which shows it again alone, or of one shortly before it.

confirmed(bench, stage, plan, lo, outcomes)     the outcomes of cases lo and on, each with what it caused
once(backend, stage, plan, number)              one case, and what comes of it after its answer
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.conform.process.faults import BackendCrash, BackendHang
from vyre.conform.process.held import held
from vyre.conform.verify.blame import LATE, failure_kind, less_patience
from vyre.conform.verify.stage import FAILED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.stage import Outcome, Stage

EARLIER = 3
"""Cases before the one at hand that may have killed the backend after they were answered."""
NOT_AGAIN = "it did not happen again when this case was run alone, nor with those before it"


def once(backend: Backend, stage: Stage, plan: RunPlan, number: int) -> Outcome:
    """One case of a stage; a backend that dies of it after its answer has failed it."""
    (outcome,) = stage.run(backend, plan, number, number + 1)
    try:
        held(backend).settle(LATE)
    except (BackendCrash, BackendHang) as error:
        return replace(
            outcome, status=FAILED, kind=failure_kind(error), expected="a result", actual=error.message
        )
    return outcome


def confirmed(
    bench: Bench, stage: Stage, plan: RunPlan, lo: int, outcomes: Sequence[Outcome]
) -> list[Outcome]:
    """Each crash and hang at the case that causes it; one that cannot be had again says so."""
    found = list(outcomes)
    for place in range(len(found)):
        if not _ended(found[place]):
            continue
        with bench.alone(), less_patience(bench.backend):
            again = once(bench.backend, stage, plan, lo + place)
            if _ended(again):
                continue
            for before in range(place - 1, max(-1, place - 1 - EARLIER), -1):
                earlier = once(bench.backend, stage, plan, lo + before)
                if _ended(earlier):
                    found[before], found[place] = earlier, again
                    break
            else:
                found[place] = replace(found[place], note=NOT_AGAIN)
    return found


def _ended(outcome: Outcome) -> bool:
    return outcome.status == FAILED and outcome.kind in ("crash", "hang")
