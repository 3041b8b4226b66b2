"""Runs every mutant there is.

outcome = run_all(backend)              wrong backends, false laws, wrong definitions, broken checkers
run_backends(mutants, backend)          some of the first
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from vyre.conform.algebra.cache import ProofCache
from vyre.conform.mutate import catalogue, checkers, definitions, laws
from vyre.conform.mutate.hunt import hunt
from vyre.conform.mutate.report import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vyre.conform.mutate.mutant import Mutant, Verdict


def run_backends(
    mutants: Iterable[Mutant], backend: Any, *, say: Callable[[Verdict], None] = lambda _: None
) -> list[Verdict]:
    """A verdict for each, told to `say` as soon as it is there."""
    found: list[Verdict] = []
    for mutant in mutants:
        found.append(hunt(mutant, backend))
        say(found[-1])
    return found


def run_all(
    backend: Any, *, verdicts: Sequence[Verdict] | None = None, cache: ProofCache | None = None
) -> Outcome:
    """Everything; `backend` is a right one, the mutants are made from it.

    `verdicts` are those of the wrong backends, where they are known already.
    """
    started = time.perf_counter()
    proofs = cache or ProofCache(None)
    if verdicts is None:
        verdicts = run_backends(catalogue.mutants(), backend)
    judged = [laws.judge(law, proofs) for law in laws.false_laws()]
    known = [w for w in definitions.wrong_definitions() if definitions.can_run(w, backend)]
    defined = [(w.name, definitions.caught(w, backend)) for w in known]
    noticed = [(c.name, c.noticed(backend)) for c in checkers.BROKEN]
    seconds = time.perf_counter() - started + sum(v.seconds for v in verdicts)
    return Outcome(verdicts, judged, defined, noticed, seconds)
