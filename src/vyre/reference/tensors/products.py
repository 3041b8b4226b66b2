"""Products of matrices: k ascends from +0, and the sum is rounded once (decisions 28 and 29)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Accumulator, MatMul, MulStep
from vyre.ir.types import DataType
from vyre.reference import floats
from vyre.reference.floats.arithmetic import add, mul
from vyre.reference.floats.formats import is_infinite, is_nan, is_zero, round_exact, sign_of, unpack
from vyre.reference.tensors.elements import Elements, Place, made
from vyre.reference.tensors.numbers import converted, integer

if TYPE_CHECKING:
    from collections.abc import Sequence

_F64 = floats.FORMATS[DataType.F64]
_SUMS = {Accumulator.F32: DataType.F32, Accumulator.F64: DataType.F64}
_Pair = tuple[int, int]


def multiplied(node: MatMul, of: list[Elements], elements: list[DataType], shape: Place) -> Elements:
    """`elements` are the types of the operands."""
    left, right = of[:2]
    kinds = elements[0], elements[1]

    def at(place: Place) -> int:
        *batch, row, column = place
        taken = [k for k in range(left.shape[-1]) if node.mask is None or of[2].at((*batch, row, k))]
        pairs = [(left.at((*batch, row, k)), right.at((*batch, k, column))) for k in taken]
        return _sum(node, kinds, pairs)

    return made(shape, at)


def _sum(node: MatMul, kinds: tuple[DataType, DataType], pairs: Sequence[_Pair]) -> int:
    match node.accumulator:
        case Accumulator.F32 | Accumulator.F64:
            return _float_sum(node, kinds, pairs)
        case Accumulator.Exact:
            wide = [
                tuple(converted(t, DataType.F64, x) for t, x in zip(kinds, p, strict=True)) for p in pairs
            ]
            return exact_sum(node.element, [(a, b) for a, b in wide])
        case Accumulator.I32 | Accumulator.U32:
            total = sum(integer(kinds[0], a) * integer(kinds[1], b) for a, b in pairs)
            return total & ((1 << node.element.bits) - 1)


def _float_sum(node: MatMul, kinds: tuple[DataType, DataType], pairs: Sequence[_Pair]) -> int:
    kept = _SUMS[node.accumulator]
    form = floats.FORMATS[kept]
    total = 0
    for left, right in pairs:
        a, b = converted(kinds[0], kept, left), converted(kinds[1], kept, right)
        if node.step is MulStep.FMulAdd:
            total = floats.fma(form, a, b, total)
        else:
            total = add(form, total, mul(form, a, b))
    return converted(kept, node.element, total)


def exact_sum(element: DataType, pairs: Sequence[_Pair]) -> int:
    """The sum of the products of F64 values, as a real number, rounded once to the element."""
    form = floats.FORMATS[element]
    lowest = 2 * _F64.min_exponent
    total = 0
    infinities: set[int] = set()
    for a, b in pairs:
        if is_nan(_F64, a) or is_nan(_F64, b):
            return form.nan
        if is_infinite(_F64, a) or is_infinite(_F64, b):
            if is_zero(_F64, a) or is_zero(_F64, b):
                return form.nan
            infinities.add(sign_of(_F64, a) ^ sign_of(_F64, b))
            continue
        (s, m, e), (t, n, f) = unpack(_F64, a), unpack(_F64, b)
        scaled = m * n << (e + f - lowest)
        total += -scaled if s ^ t else scaled
    if infinities:
        sign = infinities.pop()
        return form.nan if infinities else sign << (form.width - 1) | form.infinity
    return round_exact(form, 1 if total < 0 else 0, abs(total), lowest)
