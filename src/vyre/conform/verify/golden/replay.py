"""Replaying golden rows: on a backend for what computes, by direct questions for what does not.

    replay(row, "reference")            one row
    replay_all(load_rows(), "cpu")      all of them, rows of one operation in one dispatch

A backend that refuses an operation leaves its rows refused, which is neither passed nor failed.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from vyre.backends import compile_program, dispatch, get
from vyre.conform.verify.golden.checks import CHECKS
from vyre.conform.verify.golden.jobs import GoldenJob, element_jobs
from vyre.conform.verify.golden.memory_jobs import atomic_jobs, reduce_jobs
from vyre.conform.verify.golden.operations import ELEMENT_KINDS
from vyre.conform.verify.golden.outcome import RowOutcome, Status
from vyre.conform.verify.golden.program_jobs import layout_jobs, program_jobs
from vyre.errors import UnsupportedByBackend, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vyre.backends import Backend
    from vyre.conform.oracle.golden.rows import Row

EXECUTABLE_KINDS = ELEMENT_KINDS | {"atomic", "reduce", "layout", "program"}
"""Kinds that run on a backend; all others ask the language itself."""


def replay(row: Row, backend: str | Backend) -> RowOutcome:
    """One row on one backend; rows that run nothing are the same on every backend."""
    (outcome,) = replay_all([row], backend)
    return outcome


def replay_all(rows: Iterable[Row], backend: str | Backend) -> list[RowOutcome]:
    """The outcome of every row, in the order given."""
    wanted = list(rows)
    found = {outcome.row.id: outcome for outcome in _outcomes(wanted, _loaded(backend))}
    return [found[row.id] for row in wanted]


def replay_through_calls(rows: Iterable[Row], backend: str | Backend) -> list[RowOutcome]:
    """The rows of library ops again, each computed by a `Call` of the op that the row is named after."""
    from vyre.compose.registry import default_registry
    from vyre.conform.verify.golden.operations import operation_of

    registry = default_registry()
    loaded = _loaded(backend)
    callable_rows = [
        row
        for row in rows
        if row.kind in ELEMENT_KINDS
        and (op := registry.get(row.stem)) is not None
        and op.signature.inputs == operation_of(row).operands
    ]
    split = partial(element_jobs, through_calls=True)
    return [o for job in split(callable_rows) for o in _run(job, loaded, split)]


def jobs_of(rows: Iterable[Row]) -> Iterator[GoldenJob]:
    """The dispatches that answer for the executable rows among these."""
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kind = "element" if row.kind in ELEMENT_KINDS else row.kind
        by_kind[kind].append(row)
    yield from element_jobs(by_kind["element"])
    yield from atomic_jobs(by_kind["atomic"])
    yield from reduce_jobs(by_kind["reduce"])
    yield from layout_jobs(by_kind["layout"])
    yield from program_jobs(by_kind["program"])


def _loaded(backend: str | Backend) -> Backend:
    return get(backend) if isinstance(backend, str) else backend


def _outcomes(rows: list[Row], backend: Backend) -> Iterator[RowOutcome]:
    for row in rows:
        if row.kind not in EXECUTABLE_KINDS:
            yield CHECKS[row.kind](row)
    for job in jobs_of(rows):
        yield from _run(job, backend, jobs_of)


def _run(
    job: GoldenJob, backend: Backend, split: Callable[[Iterable[Row]], Iterable[GoldenJob]]
) -> list[RowOutcome]:
    """The outcomes of a job's rows; a crash, hang or error is that of the rows which cause it alone."""
    try:
        results = dispatch(
            job.program,
            job.buffers,
            backend=backend,
            workgroups=job.workgroups,
            registry=job.registry,
            copy=True,
        )
    except UnsupportedByBackend as refusal:
        return [
            RowOutcome(row, Status.Refused, 0, actual=str(refusal), program=str(job.program))
            for row in job.rows
        ]
    except Exception as error:  # a backend under test may raise anything; the other rows go on
        if len(job.rows) > 1 and _compiles(job, backend):
            half = len(job.rows) // 2
            parts = (job.rows[:half], job.rows[half:])
            return [o for rows in parts for part in split(rows) for o in _run(part, backend, split)]
        text = error.message if isinstance(error, VyreError) else f"{type(error).__name__}: {error}"
        shown = str(job.program)
        return [
            RowOutcome(row, Status.Failed, 0, expected="a result", actual=text, program=shown, error=error)
            for row in job.rows
        ]
    return job.judge({name: array.tobytes() for name, array in results.items()})


def _compiles(job: GoldenJob, backend: Backend) -> bool:
    """Whether it takes the data to make a backend fail; what it cannot compile, no row of it can do."""
    try:
        compile_program(job.program, backend=backend, registry=job.registry)
    except Exception:  # as above
        return False
    return True
