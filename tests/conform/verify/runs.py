"""Short runs of the suite for the tests."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vyre.conform.records.journal import Journal
from vyre.conform.suite.regressions import Store
from vyre.conform.suite.run import Suite, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from vyre.conform.records.results import Failure, Results
    from vyre.conform.suite.run import CertifyProgress


def certify(
    backend: Any,
    folder: Path,
    *,
    ops: Sequence[str] = (),
    stages: Sequence[str] = ("ops",),
    cases: int = 4096,
    largest: int = 1 << 16,
    expected: Sequence[tuple[str, str]] = (),
    resume: bool = False,
    only: str = "",
    soak: float = 0,
    progress: Callable[[CertifyProgress], None] = lambda _: None,
    **plan: Any,
) -> Results:
    """The results of a run of these ops and stages, with journal and store below `folder`.

    `only` keeps one subject of a stage of trials, to save time.
    """
    store = Store(folder / "failures")
    made = make_plan(
        backend.name, ops=ops, stages=stages, cases=cases, largest=largest, programs=plan.pop("programs", 24),
        store=store, **plan,
    )  # fmt: skip
    journal = Journal(folder / "journal.jsonl", {"plan": asdict(made)}, resume=resume)
    try:
        suite = Suite(made, backend, journal, store=store, target=f"tests.wrong:{type(backend).__name__}",
                      expected=expected, soak=soak, progress=progress)  # fmt: skip
        if only:
            suite.blocks = [b for b in suite.blocks if _subject(suite, b.lo) == only]
        return suite.run().results
    finally:
        journal.close()


def failure_of(results: Results, op: str, *, law: str = "") -> Failure:
    """The failure of an op's parity, or of one of its laws."""
    prefix = f"{op}/{law}/" if law else f"{op}/"
    found = [f for f in results.failures if f.op == op and f.case.startswith(prefix)]
    return next(f for f in found if law or f.case.count("/") == 2)


def _subject(suite: Suite, number: int) -> str:
    stage: Any = suite.units[0].stage
    return stage.subject(number)
