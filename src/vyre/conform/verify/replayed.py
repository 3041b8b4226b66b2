"""Failing cases of a stage run again: made small where the stage can, and told apart from those that do not
come back.

replayed(outcome, replay)       the outcome with what its replays have shown
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.conform.records.blocks import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.records.blocks import Outcome

REPLAYS = 3
DEPENDS = "it depends on the number of runs, or on what ran before it"
"""What is said of a failure that the same case does not show each time."""


def replayed(outcome: Outcome, replay: Callable[[], str]) -> Outcome:
    """The outcome, noted as one that does not come back where `replay` does not give `failed` each time.

    A crash or a hang stays as it is: whether it comes back was asked in a process of its own
    (`verify/confirm.py`).
    """
    if outcome.kind in ("crash", "hang"):
        return outcome
    failed = 0
    for turn in range(1, REPLAYS + 1):
        failed += replay() == FAILED
        if failed == turn == 1:
            return outcome
    seldom = f"came back in {failed} of" if failed else "did not come back in"
    note = f"{seldom} {REPLAYS} replays: {DEPENDS}"
    return replace(outcome, kind="unstable", note="; ".join(text for text in (outcome.note, note) if text))
