"""Runs every mutant there is.

outcome = run_all(backend)              wrong backends, false laws, wrong definitions, broken checkers
run_backends(mutants, backend)          some of the first
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lab.mutants import catalogue, checkers, definitions, laws
from lab.mutants.hunt import hunt
from lab.mutants.page import Outcome
from vyre.semantics.proof_cache import ProofCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lab.mutants.mutant import Fate, Mutant
    from vyre.backends.protocol import Backend


def run_backends(
    mutants: Iterable[Mutant], backend: Backend, *, say: Callable[[Fate], None] = lambda _: None
) -> list[Fate]:
    """A verdict for each, told to `say` as soon as it is there."""
    found: list[Fate] = []
    for mutant in mutants:
        found.append(hunt(mutant, backend))
        say(found[-1])
    return found


def run_all(
    backend: Backend, *, verdicts: Sequence[Fate] | None = None, cache: ProofCache | None = None
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
