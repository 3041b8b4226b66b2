"""A certification on one machine: the backend is opened, run through its plan, measured, and judged.

    with opened("cpu", plan) as (backend, target):
        certificate = certify_opened(backend, target, plan, key=None, progress=None)

A run that is finished is never lost to what comes after it: a backend that dies while it is timed, or a disk
that is full by then, is told in the notes of the certificate.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from vyre.backends.protocol import Backend, ClosingBackend
from vyre.certification.certificate import Certificate, RunNotes
from vyre.conform.certify import annex
from vyre.conform.certify.ahead import proofs_ahead
from vyre.conform.certify.baselines import confirmed, drops, given, keep, kept
from vyre.conform.certify.earned import earned
from vyre.conform.process.held import held
from vyre.conform.process.isolate import Isolated
from vyre.conform.process.load import load
from vyre.conform.records.journal import Journal, write_durably
from vyre.conform.suite import run as suite
from vyre.conform.suite.plan import chosen_ops
from vyre.conform.suite.units import ALL_STAGES, OPS
from vyre.conform.suite.workers import MOST, cores
from vyre.errors import VyreError
from vyre.files import read_document

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from vyre.certification.plan import CertifyPlan
    from vyre.conform.certify import certificate as contents
    from vyre.conform.certify.annex import Annex, Baseline, Drop
    from vyre.conform.certify.keys import SigningKey
    from vyre.conform.records.results import RunPlan
    from vyre.conform.suite.run import CertifyProgress, Run

PROCESSOR = "cpu"
"""The backend whose device is this machine's processor."""

_TIMES = "annex.json"


@contextmanager
def opened(backend: Backend | str, plan: CertifyPlan) -> Generator[tuple[Backend, str]]:
    """The backend, held as the plan says, and what a replay command names it.

    One that is named is opened here and closed at the end; an instance stays its owner's.
    """
    if not isinstance(backend, str):
        yield _checked(backend)
        return
    held = Isolated(backend, timeout=plan.timeout) if plan.isolate else load(backend)
    try:
        yield held, backend
    finally:
        if isinstance(held, ClosingBackend):
            held.close()


def _checked(backend: Backend) -> tuple[Backend, str]:
    found = cast("object", backend)
    if isinstance(found, Isolated):
        return backend, found.target
    if isinstance(found, type) or not isinstance(found, Backend):
        raise VyreError(
            f"certify() needs a backend, and got {found!r}.",
            fix="pass the name of a backend, 'module:Class', or an instance with name, describe and compile.",
        )
    kind = type(backend)
    return backend, f"{kind.__module__}:{kind.__qualname__}"


def certify_opened(
    backend: Backend,
    target: str,
    plan: CertifyPlan,
    *,
    key: SigningKey | None = None,
    progress: Callable[[CertifyProgress], None] | None = None,
) -> Certificate:
    """Runs the plan on an open backend and gives its certificate."""
    info = backend.describe()
    suite.require_exact(info)
    processes = _processes(plan, backend)
    told = progress or _silent
    before = None
    if plan.baseline is not None:
        before = given(read_document(str(plan.baseline)), info, file=str(plan.baseline))
    store = plan.store
    made = plan.run_plan(backend.name, store)
    with ExitStack() as stack:
        folder = run_folder(plan, made)
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vyre-")))
        journal = Journal(place / "journal.jsonl", {"plan": asdict(made)}, resume=plan.resume)
        work = suite.Suite(
            made,
            backend,
            journal,
            store=store,
            target=target,
            expected=plan.expected,
            progress=told,
            soak=plan.soak,
            processes=processes,
            earlier=_earlier(folder),
        )
        with proofs_ahead(made.ops if OPS in made.stages else ()) as proving:
            run = work.run()
            if proving():
                told(_after(work, run, "proving laws, which later runs find proved"))
        measured = _measured(
            backend, made, plan.baselines, before, lambda: told(_after(work, run, "measuring speed"))
        )
    if folder is not None:
        write_durably(folder / "results.json", run.results.to_json())
        write_durably(folder / _TIMES, json.dumps(asdict(run.timing), indent=2).encode() + b"\n")
    found = earned(run, baselines=[b.name for b in measured.baselines], slower=measured.slower)
    return _certificate(run, found, measured, before, plan, folder, key)


def _silent(progress: CertifyProgress) -> None:
    """Nobody is told."""


def _processes(plan: CertifyPlan, backend: Backend) -> int:
    """As many as are asked for; else one for each core where it is the processor that is certified.

    Other devices are one to all processes, and what they compile is mostly compiled by their drivers.
    """
    apart = held(backend).timeout is not None
    if plan.processes is None:
        return min(cores(), MOST) if apart and backend.name == PROCESSOR else 1
    if plan.processes > 1 and not apart:
        raise VyreError(
            f"{plan.processes} processes need a backend that is opened in a process of its own.",
            fix="name the backend and leave out --in-process, or use 1 process.",
        )
    return plan.processes


def run_folder(plan: CertifyPlan, made: RunPlan) -> Path | None:
    """Where a run of a plan keeps its files; the failures that are replayed do not make it another run."""
    if plan.folder is None:
        return None
    return plan.folder / "runs" / f"{made.backend}-{replace(made, regressions=()).digest[:16]}"


def _earlier(folder: Path | None) -> dict[str, float]:
    """Seconds by op and stage of the last run of this plan, where it left them whole. They are told ahead and
    decide nothing, so that a file which cannot be read is as good as none."""
    try:
        found: Any = json.loads((folder / _TIMES).read_bytes()) if folder is not None else {}
        groups: dict[str, float] = found["groups"]
        return {} if found["resumed_cases"] else {name: float(groups[name]) for name in groups}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _after(work: suite.Suite, run: Run, what: str) -> suite.CertifyProgress:
    """What is told of what is done when all cases have been run."""
    cases = sum(b.hi - b.lo for b in work.blocks)
    return suite.CertifyProgress(cases, cases, 0, what, len(run.results.every_failure))


@dataclass(frozen=True, slots=True)
class _Measured:
    baselines: tuple[Baseline, ...] = ()
    slower: tuple[str, ...] = ()
    why_not: str = ""


def _measured(
    backend: Backend,
    made: RunPlan,
    wanted: bool | None,
    before: Annex | None,
    begin: Callable[[], None],
) -> _Measured:
    """Measured where it was asked for, or where the run is for a full certificate; and what is slower.

    A backend that dies meanwhile has no baselines; the run that is behind it stays.
    """
    everything = made.ops == chosen_ops(()) and made.stages == ALL_STAGES
    if not (everything or before is not None if wanted is None else wanted):
        return _Measured()
    begin()
    try:
        found = annex.measure(backend)
        slower = confirmed(before, found, lambda: annex.measure(backend)) if before is not None else ()
    except VyreError as error:
        return _Measured(why_not=error.message)
    return _Measured(found, slower)


def _certificate(
    run: Run,
    found: Sequence[contents.CertificateContents],
    measured: _Measured,
    before: Annex | None,
    plan: CertifyPlan,
    folder: Path | None,
    key: SigningKey | None,
) -> Certificate:
    strict, *others = [Certificate.of(one, key=key) for one in found]
    notes = RunNotes(run.results, run.timing, folder, unmeasured=measured.why_not)
    try:
        if measured.baselines:
            slower = _kept(measured.baselines, before, found[0], plan.folder)
            data = annex.write_annex(measured.baselines, found[0], drops=slower, key=key)
            notes = replace(notes, performance=data, drops=slower)
            if folder is not None:
                write_durably(folder / "performance.json", data)
    except Exception as error:  # figures may be lost in any way: the run is worth more
        notes = replace(notes, trouble=error)
    return replace(strict, approximate=others[0] if others else None, run=notes)


def _kept(
    found: tuple[Baseline, ...],
    before: Annex | None,
    certificate: contents.CertificateContents,
    state: Path | None,
) -> tuple[Drop, ...]:
    """What is slower than the baseline that was given, or else than the one kept here; the best is kept."""
    earlier = before
    if state is not None:
        earlier = before if before is not None else kept(state / "baselines", certificate.backend)
        keep(state / "baselines", found, certificate)
    return drops(earlier, found) if earlier is not None else ()
