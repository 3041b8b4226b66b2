"""Kernels under observation: `check`, `trace`, `VYRE_CHECK=1`, and warnings when they are decorated.

With `VYRE_CHECK=1` in the environment every call that is small enough is watched before it runs: a race
raises `CheckError`, an access out of bounds warns, and what was too large to watch is said once a kernel.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from vyre.errors import CheckError, DispatchError, KernelWarning, StepBudgetExceeded
from vyre.frontend.warned import note_warning, warn_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.frontend.binder import Binder
    from vyre.ir.program import Program
    from vyre.watch.checking import CheckReport
    from vyre.watch.tracing import KernelTrace

SMALL_CALL = 2_000_000
"""Steps of a call that `VYRE_CHECK` watches; the interpreter takes about a second for them."""

_skipped: set[tuple[str, str]] = set()


def checks_calls() -> bool:
    return os.environ.get("VYRE_CHECK", "") not in ("", "0")


def checked(
    call: Callable[..., Any],
    bind: Binder,
    name: str,
    arrays: tuple[Any, ...],
    workgroups: int | Sequence[int] | None,
    named: Mapping[str, Any],
    step_budget: int | None = None,
) -> CheckReport:
    from vyre.reference import DEFAULT_STEP_BUDGET
    from vyre.watch.checking import report_of
    from vyre.watch.watcher import Watcher

    extent = bind(arrays, named, None).extent if workgroups is None else None
    watcher = Watcher(step_budget=DEFAULT_STEP_BUDGET if step_budget is None else step_budget, extent=extent)
    _observe(call, arrays, workgroups, named, watcher)
    return report_of(name, watcher.seen)


def traced(
    call: Callable[..., Any],
    name: str,
    arrays: tuple[Any, ...],
    workgroups: int | Sequence[int] | None,
    named: Mapping[str, Any],
    invocation: int | Sequence[int],
    steps: int,
) -> KernelTrace:
    from vyre.watch.tracing import invocation_of, trace_of, tracer_of
    from vyre.watch.watcher import Watcher

    wanted = invocation_of(invocation)
    watcher = Watcher(detect=False, tracer_for=tracer_of(wanted, steps))
    _observe(call, arrays, workgroups, named, watcher)
    return trace_of(name, wanted, watcher)


def _observe(
    call: Callable[..., Any],
    arrays: tuple[Any, ...],
    workgroups: int | Sequence[int] | None,
    named: Mapping[str, Any],
    watcher: Any,
) -> None:
    """The call itself, on a backend that watches; what was passed stays as it is."""
    from vyre.backends.foreign import is_on_device

    if any(is_on_device(value) for value in (*arrays, *named.values())):
        raise DispatchError(
            "a watched call runs on the host, and an array is memory of a device.",
            fix="pass copies on the host, such as x.numpy() or cupy.asnumpy(x).",
        )
    call(*arrays, workgroups=workgroups, backend=watcher, copy=True, **named)


def check_first(
    call: Callable[..., Any],
    bind: Binder,
    name: str,
    arrays: tuple[Any, ...],
    workgroups: int | Sequence[int] | None,
    named: Mapping[str, Any],
) -> None:
    """Watches a call that is about to run. Raises `CheckError` where its result depends on the machine."""
    try:
        report = checked(call, bind, name, arrays, workgroups, named, SMALL_CALL)
    except StepBudgetExceeded:
        _say_skipped(name, f"it takes more than {SMALL_CALL:,} steps; check a smaller call of it")
        return
    except DispatchError as error:
        _say_skipped(name, error.message.rstrip("."))
        return
    if not report.ok:
        first = next(f for f in report.findings if not f.harmless)
        raise CheckError(report, message=f"{first.kind}: {first.message}", fix=first.fix)
    for finding in report.findings:
        warnings.warn(f"{name}: {finding}", KernelWarning, stacklevel=4)


def _say_skipped(name: str, why: str) -> None:
    if (name, why) not in _skipped:
        _skipped.add((name, why))
        warnings.warn(f"VYRE_CHECK skipped a call of {name}: {why}.", KernelWarning, stacklevel=5)


def warn_of_hazards(program: Program, name: str) -> None:
    """Warns of the races that are plain to see, at the lines where they are."""
    from vyre.watch.hazards import hazards

    for hazard in hazards(program):
        place = hazard.location
        text = f"{name}: {hazard.message} Fix: {hazard.fix}"
        if place is None:
            note_warning()
            warnings.warn(text, KernelWarning, stacklevel=4)
        else:
            warn_at(place, text)
