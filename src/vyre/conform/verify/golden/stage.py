"""The golden rows, replayed: what is written down for ever must come out, bit by bit."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.conform.oracle.golden.rows import Row, load_rows
from vyre.conform.verify.blame import failure_kind
from vyre.conform.verify.golden.outcome import Status
from vyre.conform.verify.golden.replay import EXECUTABLE_KINDS, replay_all
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED, Outcome

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan

_STATUS = {Status.Passed: PASSED, Status.Failed: FAILED, Status.Refused: REFUSED}


def track_of(row: Row) -> str:
    """`strict` and `approximate` run on the backend; `language` asks the types and the validator."""
    if row.kind not in EXECUTABLE_KINDS:
        return "language"
    return "approximate" if "tolerance" in row.fields else "strict"


def subject_of(row: Row) -> str:
    """`strict primitive.math` for a row of an op of that family."""
    head, _, rest = row.stem.partition(".")
    family = f"{head}.{rest.partition('.')[0]}" if head == "primitive" else head
    return f"{track_of(row)} {family}"


@cache
def _rows() -> tuple[Row, ...]:
    return tuple(load_rows())


class Golden:
    """Every row of the documents; a case is named `golden/ROW`."""

    name = "golden"
    group = 256

    def count(self, plan: RunPlan) -> int:
        return len(_rows())

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return run_rows(backend, _rows()[lo:hi])


def run_rows(backend: Backend, rows: tuple[Row, ...]) -> list[Outcome]:
    return [
        Outcome(
            f"golden/{o.row.id}",
            subject_of(o.row),
            _STATUS[o.status],
            "" if o.status is not Status.Failed else "value" if o.error is None else failure_kind(o.error),
            (o.inputs,) if o.inputs else (),
            o.expected,
            o.actual,
            program=o.program if o.status is Status.Failed else "",
        )
        for o in replay_all(rows, backend)
    ]


def row_named(name: str) -> Row | None:
    return next((row for row in _rows() if row.id == name), None)


STAGE = Golden()
