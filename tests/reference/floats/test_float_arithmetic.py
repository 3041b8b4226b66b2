"""Add, sub, mul, div, sqrt and fma against hardware, NumPy, ml_dtypes and MPFR."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from tests.reference.floats.float_oracles import (
    ALL_FORMATS,
    differences,
    lookup,
    mpfr_oracle,
    sample,
    specials,
)
from vyre.errors import InterpreterError
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.reference.floats import BF16, F16, F32, F64, Format, binary, fma, unary

if TYPE_CHECKING:
    from collections.abc import Callable

_NUMPY: dict[str, tuple[Any, Any]] = {
    "F16": (np.float16, np.uint16),
    "BF16": (ml_dtypes.bfloat16, np.uint16),
    "F32": (np.float32, np.uint32),
    "F64": (np.float64, np.uint64),
}
_UFUNCS: dict[BinaryOp, Any] = {
    BinaryOp.FAdd: np.add,
    BinaryOp.FSub: np.subtract,
    BinaryOp.FMul: np.multiply,
    BinaryOp.FDiv: np.divide,
}


def _pairs(fmt: Format, count: int) -> list[tuple[int, ...]]:
    """Specials crossed, random bits, and operands of close exponents, where sums cancel and tie."""
    crossed = list(product(specials(fmt), repeat=2))
    a, b = sample(fmt, count, seed=1), sample(fmt, count, seed=2)
    close = [(x, (x + d * 5) & ((1 << fmt.width) - 1)) for d, x in enumerate(a[: count // 4])]
    return crossed + list(zip(a, b, strict=True)) + close


def _through_numpy(fmt: Format, ufunc: Any, *columns: list[int]) -> list[int]:
    float_type, word_type = _NUMPY[fmt.name]
    arrays = [np.array(column, dtype=word_type).view(float_type) for column in columns]
    with np.errstate(all="ignore"):
        result = ufunc(*arrays)
    assert result.dtype == float_type
    bits: list[int] = result.view(word_type).tolist()
    return [fmt.canonical_nan if fmt.is_nan(b) else b for b in bits]


@pytest.mark.parametrize("op", _UFUNCS, ids=lambda op: op.value)
@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_four_operations_agree_with_hardware(fmt: Format, op: BinaryOp) -> None:
    # Halves go through binary32, whose 24 bits suffice for one operation on 11 or 8.
    cases = _pairs(fmt, 20_000 if fmt in (F32, F64) else 8_000)
    left, right = [c[0] for c in cases], [c[1] for c in cases]
    table = dict(zip(cases, _through_numpy(fmt, _UFUNCS[op], left, right), strict=True))
    assert not differences(lookup(table), partial(binary, op, fmt), cases)


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_square_roots_agree_with_hardware(fmt: Format) -> None:
    operands = specials(fmt) + sample(fmt, 20_000, seed=3)
    cases = [(a,) for a in operands]
    table = dict(zip(cases, _through_numpy(fmt, np.sqrt, operands), strict=True))
    assert not differences(lookup(table), partial(unary, UnaryOp.FSqrt, fmt), cases)


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_fma_agrees_with_mpfr(fmt: Format) -> None:
    some = specials(fmt)[::2]
    crossed = list(product(some, repeat=3))
    drawn = zip(*(sample(fmt, 4_000, seed=s) for s in (4, 5, 6)), strict=True)
    # c near -a*b, so that the product's low half decides the result.
    cancelling = [
        (a, b, binary(BinaryOp.FMul, fmt, a, b) ^ fmt.sign_bit ^ (i & 3))
        for i, (a, b) in enumerate(_pairs(fmt, 2_000)[-2_000:])
    ]
    oracle = mpfr_oracle(fmt, "fma")
    assert not differences(oracle, partial(fma, fmt), [*crossed, *drawn, *cancelling])


def test_fma_of_halves_is_rounded_once() -> None:
    a, b, c = 0x2801, 0x23FE, 0x3C01
    assert fma(F16, a, b, c) == 0x3C01

    def through_f32(x: int, y: int, z: int) -> int:
        wide = [np.array(v, dtype=np.uint16).view(np.float16).astype(np.float32) for v in (x, y, z)]
        return int((wide[0] * wide[1] + wide[2]).astype(np.float16).view(np.uint16))

    assert through_f32(a, b, c) == 0x3C02


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_sign_operations_move_the_bits_of_nan_untouched(fmt: Format) -> None:
    for bits in [*specials(fmt), *sample(fmt, 100, seed=7)]:
        assert unary(UnaryOp.FNeg, fmt, bits) == bits ^ fmt.sign_bit
        assert unary(UnaryOp.FAbs, fmt, bits) == bits & ~fmt.sign_bit


@pytest.mark.parametrize("fmt", ALL_FORMATS, ids=lambda f: f.name)
def test_every_nan_produced_is_canonical(fmt: Format) -> None:
    nans = [b for b in specials(fmt) if fmt.is_nan(b)]
    inf, negative_inf = fmt.infinity, fmt.infinity | fmt.sign_bit
    produced = [binary(op, fmt, nan, fmt.one) for op in _UFUNCS for nan in nans]
    produced += [binary(op, fmt, fmt.one, nan) for op in _UFUNCS for nan in nans]
    produced += [fma(fmt, *operands) for nan in nans for operands in ((nan, 0, 0), (0, nan, 0), (0, 0, nan))]
    produced += [
        binary(BinaryOp.FAdd, fmt, inf, negative_inf),
        binary(BinaryOp.FMul, fmt, 0, negative_inf),
        binary(BinaryOp.FDiv, fmt, 0, 0),
        binary(BinaryOp.FDiv, fmt, inf, negative_inf),
        fma(fmt, 0, inf, nans[0]),
        fma(fmt, fmt.one, inf, negative_inf),
        unary(UnaryOp.FSqrt, fmt, fmt.one | fmt.sign_bit),
        unary(UnaryOp.FSqrt, fmt, negative_inf),
    ]
    produced += [unary(UnaryOp.FSqrt, fmt, nan) for nan in nans]
    assert set(produced) == {fmt.canonical_nan}


@pytest.mark.parametrize(
    "call",
    [lambda: binary(BinaryOp.Add, F32, 0, 0), lambda: unary(UnaryOp.Negate, BF16, 0)],
    ids=["binary", "unary"],
)
def test_integer_operators_are_refused_with_a_remedy(call: Callable[[], int]) -> None:
    with pytest.raises(InterpreterError, match="Fix:"):
        call()
