"""Which way each float operation takes on a device, and why: asked of the device itself.

Every operation runs natively where the language could, on special values crossed and on hard numbers, and
is held against exact arithmetic; then a larger sweep holds it against the soft way on the same device, which
uses integers only. One wrong bit refuses native arithmetic, and the input is kept as the witness. The way
that the backend takes is run as well, so what the table calls soft or guarded was right on the same cases.

A clean sweep does not make WGSL native: the language allows another result tomorrow, under another driver or
in a larger kernel. Within a range, and out of the compiler's sight, it may be guarded (`admission.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.backends.probe.cases import ProbeOp, cases, probe_ops
from vyre.backends.probe.trial import Witness, difference, random_operands, run_op, truth_of
from vyre.backends.protocol import LoweredExecutable, WaysBackend
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.lower.native import ALL_KEYS, F32_KEYS, F64_KEYS
from vyre.lower.ways import GUARDED_WAY, NATIVE_WAY, OPENCL_WAYS, SOFT, SOFT_WAY, Ways

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.probe.trial import Bits
    from vyre.backends.protocol import Backend

REFUSED = "refused"
CASES, SWEEP = 4_000, 1 << 18

_CANDIDATES = {"wgpu": Ways(F32_KEYS), "dawn": Ways(F32_KEYS), "opencl": OPENCL_WAYS}
"""What could be native beyond what the backend takes itself."""


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One operation: the way it takes here, the reason, and how many cases were run natively."""

    op: str
    way: str
    why: str
    cases: int = 0
    witness: Witness | None = None


def probe(
    backend: Backend, *, count: int = CASES, sweep: int = SWEEP, ops: Sequence[ProbeOp] | None = None
) -> tuple[ProbeRow, ...]:
    """A row for each of `ops`, all float operations if not given.

    At least `count` cases are held against exact arithmetic and `sweep` against the soft way.
    """
    ask: Callable[[ProbeOp, int, int], ProbeRow]
    if isinstance(backend, WaysBackend):
        candidate = _CANDIDATES.get(backend.name, backend.ways)
        prober = _Prober(backend, candidate)
        ask = prober.row
    else:
        ask = _Plain(backend).row
    return tuple(ask(op, count, sweep) for op in (probe_ops() if ops is None else ops))


class _Plain:
    """A backend that cannot be told which way to take is judged by what it gives."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def row(self, op: ProbeOp, count: int, sweep: int) -> ProbeRow:
        try:
            executable = self._backend.compile(op.program())
        except UnsupportedByBackend as error:
            return ProbeRow(op.name, REFUSED, error.message)
        operands, expected = truth_of(op, cases(op, count))
        witness = difference(operands, expected, run_op(executable, op, operands))
        if witness is not None:
            return ProbeRow(op.name, REFUSED, "the backend's own way is wrong", len(expected), witness)
        told = executable.lowering if isinstance(executable, LoweredExecutable) else ""
        way = str(told or NATIVE_WAY)
        return ProbeRow(op.name, way, "the backend's own way", len(expected))


class _Prober:
    def __init__(self, backend: WaysBackend, candidate: Ways) -> None:
        self._backend = backend
        self._candidate = candidate

    def row(self, op: ProbeOp, count: int, sweep: int) -> ProbeRow:
        only_native = F64_KEYS.issuperset(op.keys)
        if not self._candidate.native.issuperset(op.keys):
            return ProbeRow(op.name, REFUSED, "no doubles here") if only_native else _integers(op)
        operands, expected = truth_of(op, cases(op, count))
        tried, witness, error = 0, None, ""
        try:
            tried, witness = self._native(op, operands, expected, sweep)
        except VyreError as refusal:
            error = refusal.message.splitlines()[0]
        if self._backend.ways.native.issuperset(op.keys):
            if not witness and not error:
                return ProbeRow(op.name, NATIVE_WAY, f"guaranteed, and right on {tried:,} cases", tried)
            why = error or f"the promise is broken: wrong on one of {tried:,} cases"
            return ProbeRow(op.name, REFUSED, why, tried, witness)
        if only_native:
            return ProbeRow(op.name, REFUSED, error or f"wrong on one of {tried:,} cases", tried, witness)
        wrong = difference(operands, expected, self._run(op, SOFT, operands))
        if wrong is not None:
            return ProbeRow(op.name, REFUSED, "the integer formula is wrong on this device", tried, wrong)
        if self._backend.ways.guarded.issuperset(op.keys):
            wrong = difference(operands, expected, self._run(op, self._backend.ways, operands))
            if wrong is not None:
                return ProbeRow(op.name, REFUSED, "the guarded way is wrong on this device", tried, wrong)
            return ProbeRow(op.name, GUARDED_WAY, f"in range; {_why(tried, witness, error)}", tried, witness)
        return ProbeRow(op.name, SOFT_WAY, _why(tried, witness, error), tried, witness)

    def _native(
        self, op: ProbeOp, operands: list[Bits], expected: Bits, sweep: int
    ) -> tuple[int, Witness | None]:
        """How many cases were run natively, and the first that was wrong."""
        witness = difference(operands, expected, self._run(op, self._candidate, operands))
        if witness is not None or not sweep or F64_KEYS.issuperset(op.keys):
            return len(expected), witness
        many = random_operands(op, sweep)
        soft, native = self._run(op, SOFT, many), self._run(op, self._candidate, many)
        return len(expected) + sweep, difference(many, soft, native)

    def _run(self, op: ProbeOp, ways: Ways, operands: Sequence[Bits]) -> Bits:
        return run_op(self._backend.compile(op.program(), ways=ways), op, operands)


def _why(tried: int, witness: Witness | None, error: str) -> str:
    if witness:
        return f"native is wrong on one of {tried:,} cases"
    if error:
        return f"native is refused: {error}"
    return f"native was right on {tried:,} cases, which the language does not guarantee"


def _integers(op: ProbeOp) -> ProbeRow:
    """An operation that is not tried natively."""
    if ALL_KEYS.isdisjoint(op.keys):
        return ProbeRow(op.name, SOFT_WAY, "integers: as short, or rounding twice would be wrong")
    return ProbeRow(op.name, SOFT_WAY, "integers: the device has no such instruction, or promises nothing")
