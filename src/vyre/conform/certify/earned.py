"""The certificates of a finished run, with what the laws rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.certify.certificate import certificates
from vyre.conform.certify.promises import registry_now
from vyre.conform.certify.proofs import law_proofs
from vyre.semantics.proof_cache import ProofCache, default_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.suite.run import Run


def earned(
    run: Run, *, baselines: Sequence[str] = (), slower: Sequence[str] = ()
) -> Sequence[CertificateContents]:
    """What the run has earned; a shard takes along what `vyre merge` adds up."""
    results = run.results
    proofs = law_proofs([op.id for op in results.ops], ProofCache(default_folder()))
    sharded = results.plan.shard != (1, 1)
    return certificates(
        results,
        promised=registry_now(),
        proofs=proofs,
        baselines=baselines,
        slower=slower,
        blocks=run.blocks if sharded else (),
    )
