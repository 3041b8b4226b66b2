"""What judges a backend besides the stages of a run, by the name of one question.

    truth/exp/0x3F3504F3        `vyre certify --exhaustive exp`: the chunk of this input, narrowed to it
    probe/FMul then FAdd F32    `vyre probe`: one operation on its cases
    canaries/float sums         the canary of this name, as a device is asked when it is opened

Each says whether the backend is found wrong there.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from vyre.backends.canaries import run as canaries
from vyre.backends.canaries.every import CANARIES
from vyre.backends.probe import cases as probe_cases
from vyre.backends.probe import run as probe
from vyre.conform.oracle.digest import CHUNK
from vyre.conform.oracle.truth import check
from vyre.conform.oracle.truth.functions import FUNCTIONS
from vyre.conform.oracle.truth.runner import Runner
from vyre.conform.process.locked import Locked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.backends.protocol import Backend
    from vyre.conform.oracle.truth.check import Checked

_PROBED = 2000


def in_chunk(backend: Backend, function: str, bits: int) -> Checked:
    """The verdict on the chunk of inputs that holds this one."""
    runner = Runner(Locked(backend), batch=1)
    lo = bits // CHUNK * CHUNK
    try:
        return check.check(runner, FUNCTIONS[function], lo=lo, hi=lo + CHUNK)
    finally:
        runner.close()


def _truth(backend: Backend, rest: str) -> bool:
    function, _, bits = rest.partition("/")
    verdict = in_chunk(backend, function, int(bits, 0))
    return any(wrong.input == int(bits, 0) for chunk in verdict.chunks for wrong in chunk.shown)


def _probe(backend: Backend, rest: str) -> bool:
    asked = [op for op in probe_cases.probe_ops() if op.name == rest]
    return any(row.witness is not None for row in probe.probe(backend, count=_PROBED, sweep=0, ops=asked))


def _canary(backend: Backend, rest: str) -> bool:
    asked = [c for c in CANARIES if c.name == rest]
    with TemporaryDirectory() as folder:
        found = canaries.examine(backend, canaries=asked, cache=Path(folder) / "canaries.json")
    return rest in found.failures


JUDGES: Mapping[str, Callable[[Any, str], bool]] = {"truth": _truth, "probe": _probe, "canaries": _canary}
