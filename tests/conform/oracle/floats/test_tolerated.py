"""The measure of the approximate track: its ways agree with each other and with the interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from vyre.conform.oracle.floats.layout import LAYOUTS
from vyre.conform.oracle.floats.operands import specials
from vyre.conform.oracle.floats.tolerated import function, reduction
from vyre.conform.spec.independence import LOWERINGS, _chains  # pyright: ignore[reportPrivateUsage]
from vyre.conform.verify.stages.approximate import ranges
from vyre.errors import VyreError
from vyre.ir.float_formats import FORMATS
from vyre.ir.operators import ApproxOp, ReduceOp
from vyre.ir.types import DataType
from vyre.reference.floats import approx, reduce_exact

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat

LAYOUT = pytest.mark.parametrize("of", LAYOUTS.values(), ids=lambda of: of.name)


@LAYOUT
@pytest.mark.parametrize("op", ApproxOp, ids=lambda op: op.value)
def test_functions_are_those_of_the_interpreter(op: ApproxOp, of: FloatFormat) -> None:
    bits = np.concatenate([specials(of), np.arange(3, of.magnitude, of.magnitude // 150, dtype=np.uint32)])
    fmt = FORMATS[DataType(of.name)]
    assert function(op.value, of.name, bits).tolist() == [approx(op, fmt, b) for b in bits.tolist()]


@LAYOUT
@pytest.mark.parametrize("op", ReduceOp, ids=lambda op: op.value)
def test_reductions_are_those_of_the_interpreter(op: ReduceOp, of: FloatFormat) -> None:
    fmt = FORMATS[DataType(of.name)]
    for values in ranges(of, 11)[:120]:
        assert reduction(op.value, of.name, values) == reduce_exact(op, fmt, values)


def test_an_unknown_reduction_is_an_error() -> None:
    with pytest.raises(VyreError, match="no reduction 'Sub'"):
        reduction("Sub", "F32", [0])


def test_the_measure_reaches_no_lowering() -> None:
    reached = set(_chains("vyre.conform.oracle.floats.tolerated"))
    assert not [m for m in reached if m.startswith((*LOWERINGS, "vyre.numeric"))]
