"""The comparisons above can fail: broken floats are caught by the same `differences`.

And Ziv's loop earns its keep: begun far too low it still gives the same bits, without the check of both
ends it does not.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from tests.reference.floats.float_hard_cases import HARD_F32
from tests.reference.floats.float_oracles import (
    FUNCTION_FORMATS,
    differences,
    lookup,
    mpfr_oracle,
    sample,
    specials,
)
from tests.reference.floats.test_float_functions import FUNCTIONS, ours
from vyre.ir.float_formats import F16, F32, FloatFormat
from vyre.ir.operators import BinaryOp
from vyre.reference.floats import arithmetic, binary, fma, ziv
from vyre.reference.floats.formats import round_exact

if TYPE_CHECKING:
    from collections.abc import Callable


def _truncate(fmt: FloatFormat, sign: int, significand: int, exponent: int, *, sticky: bool = False) -> int:
    excess = max(significand.bit_length() - fmt.precision, fmt.min_exponent - exponent, 0)
    return round_exact(fmt, sign, significand >> excess, exponent + excess)


def _ties_away(fmt: FloatFormat, sign: int, significand: int, exponent: int, *, sticky: bool = False) -> int:
    return round_exact(fmt, sign, significand << 60 | 1, exponent - 60)


def _without_sticky(
    fmt: FloatFormat, sign: int, significand: int, exponent: int, *, sticky: bool = False
) -> int:
    return round_exact(fmt, sign, significand, exponent)


def _flush(fmt: FloatFormat, sign: int, significand: int, exponent: int, *, sticky: bool = False) -> int:
    bits = round_exact(fmt, sign, significand, exponent, sticky=sticky)
    return bits if bits & fmt.magnitude >> fmt.fraction_bits << fmt.fraction_bits else bits & fmt.sign


def _arithmetic_differences(fmt: FloatFormat) -> list[str]:
    drawn = zip(*(sample(fmt, 2_000, seed=s) for s in (71, 72, 73)), strict=True)
    cases = [*product(specials(fmt)[::3], repeat=3), *drawn]
    pairs = [case[:2] for case in cases]
    found = differences(mpfr_oracle(fmt, "fma"), partial(fma, fmt), cases)
    for op, name in ((BinaryOp.FAdd, "add"), (BinaryOp.FMul, "mul"), (BinaryOp.FDiv, "div")):
        found += differences(mpfr_oracle(fmt, name), partial(binary, op, fmt), pairs)
    return found


def test_arithmetic_as_it_stands_agrees() -> None:
    assert not _arithmetic_differences(F32)
    assert not _arithmetic_differences(F16)


@pytest.mark.parametrize("mutant", [_truncate, _ties_away, _flush], ids=lambda m: m.__name__)
def test_broken_rounding_is_caught(mutant: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "round_exact", mutant)
    assert _arithmetic_differences(F32)


@pytest.mark.parametrize("name", ["div", "sqrt"])
def test_a_lost_sticky_bit_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, function = mpfr_oracle(F16, name), getattr(arithmetic, name)
    ones = range(F16.one, F16.one + 2048, 7)
    cases = [(a,) for a in range(F16.infinity)] if name == "sqrt" else list(product(ones, ones))[::9]
    assert not differences(oracle, partial(function, F16), cases)
    monkeypatch.setattr(arithmetic, "round_exact", _without_sticky)
    assert differences(oracle, partial(function, F16), cases)


@pytest.mark.parametrize("mutant", [_truncate, _flush], ids=lambda m: m.__name__)
def test_broken_rounding_of_functions_is_caught(
    mutant: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ziv, "round_exact", mutant)
    cases = [(b,) for b in (*specials(F32), *sample(F32, 400, seed=74))]
    assert differences(mpfr_oracle(F32, "atan"), ours(F32, "atan"), cases)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("fmt", FUNCTION_FORMATS, ids=lambda f: f.name)
def test_the_result_does_not_depend_on_where_the_loop_begins(
    fmt: FloatFormat, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [(b,) for b in (*sample(fmt, 400, seed=75), *(HARD_F32[name] if fmt is F32 else ()))]
    usual = {case: ours(fmt, name)(*case) for case in cases}
    rounds: list[int] = []

    def barely(fmt: FloatFormat) -> int:
        rounds.append(fmt.precision)
        return fmt.precision + 1

    monkeypatch.setattr(ziv, "first_precision", barely)
    assert not differences(lookup(usual), ours(fmt, name), cases)
    assert rounds or name == "cbrt", "a cube root is exact before it is rounded"


def test_a_loop_that_believes_its_first_value_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def believe(fmt: FloatFormat, enclose: Callable[[int], Any]) -> int:
        low, high, exponent = enclose(fmt.precision + 8)
        middle = low + high
        return round_exact(fmt, 1 if middle < 0 else 0, abs(middle), exponent - 1)

    from vyre.reference.floats import exponentials

    cases = [(b,) for b in HARD_F32["exp"]]
    assert not differences(mpfr_oracle(F32, "exp"), ours(F32, "exp"), cases)
    monkeypatch.setattr(exponentials, "correctly_rounded", believe)
    assert differences(mpfr_oracle(F32, "exp"), ours(F32, "exp"), cases)
