"""The measure of the approximate track: its ways agree with each other and with the interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.conform.oracle.floats import tolerated
from vyre.conform.oracle.floats.layout import BF16, F16, F32, LAYOUTS
from vyre.conform.oracle.floats.operands import specials
from vyre.conform.oracle.floats.tolerated import function, reduction
from vyre.conform.spec.independence import LOWERINGS, _chains  # pyright: ignore[reportPrivateUsage]
from vyre.conform.verify.stages.approximate import ranges
from vyre.errors import VyreError
from vyre.ir.operators import ApproxOp, ReduceOp
from vyre.ir.types import DataType
from vyre.reference.floats import FORMATS, approx, reduce_exact

if TYPE_CHECKING:
    from vyre.conform.oracle.floats.layout import Layout

LAYOUT = pytest.mark.parametrize("of", LAYOUTS.values(), ids=lambda of: of.name)


@LAYOUT
@pytest.mark.parametrize("op", ApproxOp, ids=lambda op: op.value)
def test_functions_are_those_of_the_interpreter(op: ApproxOp, of: Layout) -> None:
    bits = np.concatenate([specials(of), np.arange(3, of.magnitude, of.magnitude // 150, dtype=np.uint32)])
    fmt = FORMATS[DataType(of.name)]
    assert function(op.value, of.name, bits).tolist() == [approx(op, fmt, b) for b in bits.tolist()]


@LAYOUT
@pytest.mark.parametrize("op", ReduceOp, ids=lambda op: op.value)
def test_reductions_are_those_of_the_interpreter(op: ReduceOp, of: Layout) -> None:
    fmt = FORMATS[DataType(of.name)]
    for values in ranges(of, 11)[:120]:
        assert reduction(op.value, of.name, values) == reduce_exact(op, fmt, values)


def test_three_ways_decide_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gmpy2")
    pytest.importorskip("flint")
    asked: list[str] = []
    ways = {
        name: getattr(tolerated, name) for name in ("_tanh_by_mpfr", "_tanh_by_arb", "_tanh_by_reference")
    }
    bits = [(F32, 0x3F000000), (F32, 0x3A000123), (F16, 0x3801), (BF16, 0x3F81), (F32, 0x410FFFFF)]
    for of, b in bits:
        assert len({way(of, b) for way in ways.values()}) == 1

    def missing(name: str) -> Any:
        def way(_of: Layout, _bits: int) -> int:
            asked.append(name)
            raise ImportError(name)

        return way

    for name in ("_tanh_by_mpfr", "_tanh_by_arb"):
        monkeypatch.setattr(tolerated, name, missing(name))
    # Next to a midpoint: the filter leaves it open, and the last way decides.
    monkeypatch.setattr(tolerated, "MARGIN", 2.0**-20)
    found = function("FTanhApprox", "F32", np.array([0x3F000000, 0x3EFFFFFF], np.uint32))
    assert found.tolist() == [ways["_tanh_by_reference"](F32, b) for b in (0x3F000000, 0x3EFFFFFF)]
    assert set(asked) == {"_tanh_by_mpfr", "_tanh_by_arb"}


def test_an_unknown_reduction_is_an_error() -> None:
    with pytest.raises(VyreError, match="no reduction 'Sub'"):
        reduction("Sub", "F32", [0])


def test_the_measure_reaches_no_lowering() -> None:
    reached = set(_chains("vyre.conform.oracle.floats.tolerated"))
    assert not [m for m in reached if m.startswith((*LOWERINGS, "vyre.numeric"))]
