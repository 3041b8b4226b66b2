"""Runs an op on NumPy arrays, one array operation per expression: for testing at scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import OpError
from vyre.ir.types import DataType
from vyre.semantics import operators
from vyre.semantics.arrays import NUMPY
from vyre.semantics.evaluate import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.op import Op
    from vyre.semantics.arrays import NumpyDomain, Words
    from vyre.semantics.evaluate import Spelling

_U32 = np.uint32


def evaluate(op: Op, *arguments: Words) -> Words:
    """An op over U32 applied to equally long arrays, element by element."""
    if any(p.type is not DataType.U32 for p in op.params) or op.output is not DataType.U32:
        raise OpError(
            f"{op.id} cannot run on arrays of words.", fix="give it parameters and a result of type U32."
        )
    given = [np.asarray(a, dtype=_U32) for a in arguments]
    shape = np.broadcast_shapes(*(a.shape for a in given))
    words = [(np.atleast_1d(a),) for a in given]
    (result,) = run(op, NUMPY, words, spelling=ARRAYS, never=_nowhere)
    return np.broadcast_to(result, shape or (1,)).reshape(shape)


def _nowhere(condition: Words) -> bool:
    return not condition.any()


def _wide(a: Words) -> NDArray[np.uint64]:
    return a.astype(np.uint64)


def _high_product(d: NumpyDomain, a: Words, b: Words) -> Words:
    return (_wide(a) * _wide(b) >> np.uint64(32)).astype(_U32)


def _leading_zeros(d: NumpyDomain, a: Words) -> Words:
    # A double holds every u32 exactly, so its exponent is the place of the leading bit.
    exponent = (a.astype(np.float64).view(np.uint64) >> np.uint64(52)).astype(_U32)
    return np.where(a == 0, _U32(32), _U32(1023 + 31) - exponent)


def _trailing_zeros(d: NumpyDomain, a: Words) -> Words:
    lowest: Any = a & (~a + _U32(1))
    return np.where(a == 0, _U32(32), _U32(31) - _leading_zeros(d, lowest))


def _bit_count(d: NumpyDomain, a: Words) -> Words:
    return np.bitwise_count(a).astype(_U32)


ARRAYS: Spelling = {
    operators.mul_hi: _high_product,
    operators.clz: _leading_zeros,
    operators.ctz: _trailing_zeros,
    operators.popcount: _bit_count,
}
"""Definitions for which NumPy has a faster way than many small steps."""
