"""Which way each float operation takes on a device, and why: asked of the device itself.

Every operation runs natively where the language could, on special values crossed and on hard numbers, and
is held against exact arithmetic; then a larger sweep holds it against the soft way on the same device, which
uses integers only. One wrong bit refuses native arithmetic, and the input is kept as the witness. The way
that the backend takes is run as well, so what the table calls soft was right on the same cases.

A clean sweep does not make WGSL native: the language allows another result tomorrow, under another driver or
in a larger kernel.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.execute import execute
from vyre.backends.probe.cases import WORKGROUP, ProbeOp, cases, probe_ops
from vyre.backends.protocol import LoweredExecutable, WaysBackend
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.lower.native import ALL_KEYS, F32_KEYS, F64_KEYS
from vyre.lower.ways import OPENCL_WAYS, SOFT, Ways
from vyre.reference import floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, Executable
    from vyre.ir.types import DataType

    Bits = NDArray[np.unsignedinteger[Any]]

NATIVE, SOFT_WAY, REFUSED = "native", "soft", "refused"
CASES, SWEEP = 4_000, 1 << 18

_CANDIDATES = {"wgpu": Ways(F32_KEYS), "dawn": Ways(F32_KEYS), "opencl": OPENCL_WAYS}
"""What could be native beyond what the backend takes itself."""

_WORDS: dict[int, type[np.unsignedinteger[Any]]] = {2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, slots=True)
class Witness:
    """An input for which the device was wrong. All are bits."""

    operands: tuple[int, ...]
    expected: int
    actual: int


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
        operands, expected = _truth(op, count)
        witness = _difference(operands, expected, _run(executable, op, operands))
        if witness is not None:
            return ProbeRow(op.name, REFUSED, "the backend's own way is wrong", len(expected), witness)
        told = executable.lowering if isinstance(executable, LoweredExecutable) else ""
        way = str(told or NATIVE)
        return ProbeRow(op.name, way, "the backend's own way", len(expected))


class _Prober:
    def __init__(self, backend: WaysBackend, candidate: Ways) -> None:
        self._backend = backend
        self._candidate = candidate

    def row(self, op: ProbeOp, count: int, sweep: int) -> ProbeRow:
        only_native = F64_KEYS.issuperset(op.keys)
        if not self._candidate.native.issuperset(op.keys):
            return ProbeRow(op.name, REFUSED, "no doubles here") if only_native else _integers(op)
        operands, expected = _truth(op, count)
        tried, witness, error = 0, None, ""
        try:
            tried, witness = self._native(op, operands, expected, sweep)
        except VyreError as refusal:
            error = refusal.message.splitlines()[0]
        if self._backend.ways.native.issuperset(op.keys):
            if not witness and not error:
                return ProbeRow(op.name, NATIVE, f"guaranteed, and right on {tried:,} cases", tried)
            why = error or f"the promise is broken: wrong on one of {tried:,} cases"
            return ProbeRow(op.name, REFUSED, why, tried, witness)
        if only_native:
            return ProbeRow(op.name, REFUSED, error or f"wrong on one of {tried:,} cases", tried, witness)
        wrong = _difference(operands, expected, self._run(op, SOFT, operands))
        if wrong is not None:
            return ProbeRow(op.name, REFUSED, "the integer formula is wrong on this device", tried, wrong)
        return ProbeRow(op.name, SOFT_WAY, _why(tried, witness, error), tried, witness)

    def _native(
        self, op: ProbeOp, operands: list[Bits], expected: Bits, sweep: int
    ) -> tuple[int, Witness | None]:
        """How many cases were run natively, and the first that was wrong."""
        witness = _difference(operands, expected, self._run(op, self._candidate, operands))
        if witness is not None or not sweep or F64_KEYS.issuperset(op.keys):
            return len(expected), witness
        many = _sweep(op, sweep)
        soft, native = self._run(op, SOFT, many), self._run(op, self._candidate, many)
        return len(expected) + sweep, _difference(many, soft, native)

    def _run(self, op: ProbeOp, ways: Ways, operands: Sequence[Bits]) -> Bits:
        return _run(self._backend.compile(op.program(), ways=ways), op, operands)


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


def _truth(op: ProbeOp, count: int) -> tuple[list[Bits], Bits]:
    rows = cases(op, count)
    columns = [
        np.array(column, _words(t)) for column, t in zip(zip(*rows, strict=True), op.inputs, strict=True)
    ]
    return columns, np.array([op.truth(row) for row in rows], _words(op.output))


def _words(t: DataType) -> type[np.unsignedinteger[Any]]:
    return _WORDS[t.stride]


def _run(executable: Executable, op: ProbeOp, operands: Sequence[Bits]) -> Bits:
    out = np.zeros(len(operands[0]), _words(op.output))
    memory = {f"in{k}": x for k, x in enumerate(operands)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a compiler's remarks are no trouble of the user's
        execute(executable, op.program(), {**memory, "out": out}, (-(-len(out) // WORKGROUP), 1, 1))
    return out


def _difference(operands: Sequence[Bits], expected: Bits, actual: Bits) -> Witness | None:
    wrong = np.flatnonzero(expected != actual)
    if not len(wrong):
        return None
    k = int(wrong[0])
    return Witness(tuple(int(x[k]) for x in operands), int(expected[k]), int(actual[k]))


def _sweep(op: ProbeOp, count: int) -> list[Bits]:
    """Random bits; half of the further operands have an exponent near the first one's, or tiny."""
    rng = np.random.default_rng(count)
    columns: list[Bits] = []
    for t in op.inputs:
        words = _words(t)
        bits = rng.integers(0, 1 << t.bits, count, dtype=words)
        if columns and t.is_float:
            fraction = words(floats.FORMATS[t].fraction_bits)
            field = words((1 << (t.bits - 1 - int(fraction))) - 1)
            near = (columns[0] >> fraction & field) + rng.integers(0, 5, count).astype(words) - words(2)
            near = np.where(rng.integers(0, 4, count) == 0, near & words(1), near & field)
            kept = bits & ~(field << fraction)
            bits = np.where(rng.integers(0, 2, count) == 0, kept | near << fraction, bits).astype(words)
        columns.append(bits)
    return columns
