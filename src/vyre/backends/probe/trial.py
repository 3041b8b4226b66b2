"""One operation tried on a device: its operands as columns of bits, the truth, and the first difference."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.execute import execute
from vyre.backends.probe.cases import WORKGROUP
from vyre.reference import floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.backends.probe.cases import ProbeOp
    from vyre.backends.protocol import Executable
    from vyre.ir.types import DataType

    Bits = NDArray[np.unsignedinteger[Any]]

_WORDS: dict[int, type[np.unsignedinteger[Any]]] = {2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, slots=True)
class Witness:
    """An input for which the device was wrong. All are bits."""

    operands: tuple[int, ...]
    expected: int
    actual: int


def truth_of(op: ProbeOp, rows: Sequence[tuple[int, ...]]) -> tuple[list[Bits], Bits]:
    """The cases as columns, and the exact results."""
    columns = [
        np.array(column, _words(t)) for column, t in zip(zip(*rows, strict=True), op.inputs, strict=True)
    ]
    return columns, np.array([op.truth(row) for row in rows], _words(op.output))


def _words(t: DataType) -> type[np.unsignedinteger[Any]]:
    return _WORDS[t.stride]


def run_op(executable: Executable, op: ProbeOp, operands: Sequence[Bits]) -> Bits:
    out = np.zeros(len(operands[0]), _words(op.output))
    memory = {f"in{k}": x for k, x in enumerate(operands)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a compiler's remarks do not concern the user
        execute(executable, op.program(), {**memory, "out": out}, (-(-len(out) // WORKGROUP), 1, 1))
    return out


def difference(operands: Sequence[Bits], expected: Bits, actual: Bits) -> Witness | None:
    wrong = np.flatnonzero(expected != actual)
    if not len(wrong):
        return None
    k = int(wrong[0])
    return Witness(tuple(int(x[k]) for x in operands), int(expected[k]), int(actual[k]))


def random_operands(op: ProbeOp, count: int) -> list[Bits]:
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
