"""Proofs made while a backend is run, in a process of their own, so that a run ends sooner.

    with proofs_ahead(ops):        starts the process, and waits for it at the end
        run = suite.run()

What it proves goes to the proof cache, where the certificate's own look at the laws finds it. It decides
nothing: what it does not get to is proved then.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

WORTHWHILE = 32
"""Ops from which a process of its own is quicker than none."""


@contextmanager
def proofs_ahead(ops: Sequence[str]) -> Generator[Callable[[], bool]]:
    """Proves the laws of these ops meanwhile; a run that is cut short ends the process as well. What it gives
    says whether there is still something to prove, for which the end of the block waits."""
    process: subprocess.Popen[bytes] | None = None
    if len(ops) >= WORTHWHILE and (os.cpu_count() or 1) > 1:
        with suppress(OSError):
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, *ops],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    try:
        yield lambda: process is not None and process.poll() is None
    except BaseException:
        if process is not None:
            process.kill()
        raise
    finally:
        if process is not None:
            process.wait()


def main(ops: Sequence[str]) -> None:
    """Fills the cache, compositions first, since a stage of the run asks for those."""
    from vyre.conform.certify.proofs import law_proofs
    from vyre.conform.verify.composition.proofs import provable_ops, prove_op
    from vyre.semantics.proof_cache import ProofCache, default_folder

    with suppress(AttributeError, OSError):
        os.nice(10)
    cache = ProofCache(default_folder())
    for op in provable_ops():
        prove_op(op, cache)
    law_proofs(ops, cache)


if __name__ == "__main__":
    main(sys.argv[1:])
