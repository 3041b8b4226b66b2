"""Which guarded operations a device is admitted to: those in which every answer was right.

Each operation is asked alone, on the edges of its range crossed and on hard numbers within it, against exact
arithmetic, then on many more against the soft way on the same device; then operations are asked together,
where a compiler could fuse or fold them. A device that flushes, fuses or rounds otherwise within the range
stays with the soft way, and so does one that refuses the kernel. What was found is kept per device, driver,
library, lowering and version of the questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.probe.guarded import CHAINED, FUSED, TOGETHER, edge_cases, guarded_probe, inside
from vyre.backends.probe.trial import Witness, difference, run_op, truth_of
from vyre.backends.probe.version import questions_version
from vyre.backends.verdicts import Verdicts, key_of_device
from vyre.disk import cache_directory
from vyre.errors import VyreError
from vyre.lower.native import CHAIN_KEY, GUARDED_KEYS, GUARDED_RANGES
from vyre.lower.version import lowering_version
from vyre.lower.ways import SOFT, Ways

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.backends.probe.cases import ProbeOp
    from vyre.backends.protocol import WaysBackend

COUNT, SWEEP = 1_000, 1 << 18


def admitted_ways(backend: WaysBackend, *, path: Path | None = None) -> Ways:
    """The operations that this device may do within their ranges, from what was kept if there is something.

    `path` is that of the file, by default one in the user's cache directory.
    """
    base = cache_directory()
    kept = Verdicts(path or (base and base / "guarded.json"))
    key = key_of_device(backend.describe(), lowering_version(), questions_version())
    found = kept.find(key)
    if found.keys() != GUARDED_KEYS:
        try:
            found = refusals(backend)
        except VyreError:  # the device refused a kernel or was lost: another time it may not be
            return SOFT
        kept.keep(key, found)
    return Ways(guarded=frozenset(k for k, why in found.items() if not why))


def refusals(backend: WaysBackend, *, count: int = COUNT, sweep: int = SWEEP) -> dict[str, str]:
    """By operation why it is refused, or nothing. Raises `VyreError` where a kernel cannot be run."""
    found = {
        key: _refusal(backend, guarded_probe(key), {key}, count, sweep) for key in sorted(GUARDED_RANGES)
    }
    for op in (TOGETHER, FUSED):
        admitted = {key for key, why in found.items() if not why}
        if op.keys[0] in admitted or op is TOGETHER:
            wrong = _refusal(backend, op, admitted, count, 0)
            found |= {key: wrong for key in op.keys if wrong and key in admitted}
    admitted = {key for key, why in found.items() if not why}
    found[CHAIN_KEY] = _refusal(backend, CHAINED, admitted | {CHAIN_KEY}, count, sweep)
    return found


def _refusal(backend: WaysBackend, op: ProbeOp, keys: set[str], count: int, sweep: int) -> str:
    if not keys.intersection(op.keys):
        return ""
    guarded = backend.compile(op.program(), ways=Ways(guarded=frozenset(keys)))
    hard = zip(*(column.tolist() for column in inside(op, count)), strict=True)
    operands, expected = truth_of(op, [*edge_cases(op), *hard])
    wrong = difference(operands, expected, run_op(guarded, op, operands))
    if wrong is None and sweep:
        many = inside(op, sweep)
        soft = backend.compile(op.program(), ways=SOFT)
        wrong = difference(many, run_op(soft, op, many), run_op(guarded, op, many))
    return "" if wrong is None else f"{op.name}: {_shown(wrong)}"


def _shown(wrong: Witness) -> str:
    operands = ", ".join(f"0x{bits:X}" for bits in wrong.operands)
    return f"({operands}) gives 0x{wrong.actual:X}, expected 0x{wrong.expected:X}"
