"""Which case ended a backend badly: fewer and fewer of them are run, each time a process died in a new one.

    blamed(bench, kind, checks, start, count, error)     -> what a record says of a crash, hang or error

What happens at a single case is blamed on it, by the check that shows it. Cases that only end badly together,
and what did not happen again, are named by their range, so that a replay runs the same ones as one block.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vyre.conform.process.faults import BackendCrash, BackendHang
from vyre.conform.process.held import held
from vyre.conform.records.blocks import Stop
from vyre.conform.verify.graph import PARITY
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.graph import Check

    Attempt = Callable[[int, int, float], BaseException | None]
    """Runs so many cases from one on, and waits so many seconds for a crash that comes after the answer."""

LAWS = "laws"
"""In the name of a case: parity and every law together, as a run has them."""
SINGLE = "a single case"
BRIEF, LATE = 0.02, 1.0
"""Seconds to wait for a crash after the answer: with each of many parts, and where it must be sure."""
_PARTS = 64


def failure_kind(error: BaseException) -> str:
    match error:
        case BackendCrash():
            return "crash"
        case BackendHang():
            return "hang"
        case _:
            return "error"


def stop(
    error: BaseException, number: int, words: Sequence[int], *, at: str, check: str = PARITY, cases: int = 1
) -> Stop:
    """A record of cases `number` to `number + cases - 1`, which ended badly."""
    text = error.message if isinstance(error, VyreError) else f"{type(error).__name__}: {error}"
    return Stop(failure_kind(error), text, number, tuple(words), at, check, cases)


def blamed(
    bench: Bench, kind: Kind, checks: Sequence[Check], start: int, count: int, error: BaseException
) -> Stop:
    """The case that ends a dispatch badly, or the cases that do so only together.

    The op alone is tried first, as that compiles least. A backend may die of a case after it has answered, so
    where the cases at hand are innocent those that ran last before them are tried.
    """
    suspects = [(kind, tuple(checks), start, count)]
    suspects += [one for one in reversed(tuple(bench.recent)) if one != suspects[0]]
    with bench.alone(), less_patience(bench.backend):
        for of, its, lo, n in suspects:
            tried, found = _guilty(bench, of, its, lo, n)
            if found is not None:
                attempt = partial(_bad, bench, of, tried)
                at, size, last = narrowed(attempt, lo, n, found)
                name = tried[0].name if len({c.name for c in tried}) == 1 else LAWS
                text = SINGLE if size == 1 else f"{size:,} cases together"
                made = stop(last, at, of.case(at), at=text, check=name, cases=size)
                return made if of is kind else replace(made, op=of.graph.spec.id, in_=of.name)
    return stop(error, start, kind.case(start), at=f"{count:,} cases, and not again", check=LAWS, cases=count)


def narrowed(bad: Attempt, lo: int, n: int, error: BaseException) -> tuple[int, int, BaseException]:
    """The smallest range found that still ends badly: where it begins, how many cases, and the error.

    What ends badly costs a new process each time, so the cases are cut into many parts at once.
    """
    while n > 1:
        step = -(-n // _PARTS)
        found = _first(bad, [(at, min(step, lo + n - at)) for at in range(lo, lo + n, step)])
        if found is None:
            break
        lo, n, error = found
    return lo, n, error


def _first(bad: Attempt, parts: Sequence[tuple[int, int]]) -> tuple[int, int, BaseException] | None:
    """The first part that ends badly. What kills after its answer shows in a later part, an innocent one.

    How much later depends on the load of the machine: a crash is blamed only on a part that brings it back.
    """
    for place, (at, size) in enumerate(parts):
        found = bad(at, size, BRIEF)
        if found is None:
            continue
        if not isinstance(found, BackendCrash):
            return at, size, found
        for one in reversed(parts[: place + 1]):
            again = bad(*one, LATE)
            if again is not None:
                return (*one, again)
        return None
    return None


def _guilty(
    bench: Bench, kind: Kind, checks: Sequence[Check], lo: int, n: int
) -> tuple[list[Check], BaseException | None]:
    """The one check that ends badly on these cases, or all of them where they do so only together."""
    found = None
    for tried in ([c for c in checks if c.name == PARITY], list(checks)):
        found = _bad(bench, kind, tried, lo, n) if tried else None
        if found is not None and len(tried) == 1:
            return tried, found
    if found is not None:
        for check in checks:
            alone = _bad(bench, kind, [check], lo, n)
            if alone is not None:
                return [check], alone
    return list(checks), found


def _bad(
    bench: Bench, kind: Kind, tried: Sequence[Check], lo: int, n: int, late: float = LATE
) -> BaseException | None:
    try:
        bench.compare(kind.graph, tried, kind.block(lo, n), bench.spare())
        bench.held.settle(late)
    except Exception as found:  # whatever the backend does here is what is looked for
        return found
    return None


@contextmanager
def less_patience(backend: Backend) -> Generator[None]:
    """While a hang is looked for, a part of the cases is waited for less long than all of them."""
    holder = held(backend)
    if holder.timeout is None:
        yield
        return
    with holder.patience(min(holder.timeout, max(5.0, holder.timeout / 10))):
        yield
