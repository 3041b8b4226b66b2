"""Exact sums and long products: the steps of their loops, and the one rounding at the end."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats.truth import decoded, nearest
from vyre.ir.expr import Expr, LitU32
from vyre.numeric.functions import totals
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.totals import ONE, Product, added, multiplied, noted, state, sum_limbs, total_op
from vyre.numeric.registry import SoftRegistry
from vyre.numeric.soft.layout import BF16, F16, F32, LAYOUTS, Layout
from vyre.numeric.vector import evaluate
from vyre.validate import validate_op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.op import Op

FORMATS = pytest.mark.parametrize("fmt", LAYOUTS.values(), ids=lambda fmt: fmt.type.value)


def op_of(op_id: str) -> Op:
    op = total_op(op_id)
    assert op is not None
    return op


def run(op: Op, *words: int) -> int:
    return int(evaluate(op, *(np.array([w], np.uint32) for w in words))[0])


class Kept(Script):
    """Steps over constants, each asked for its value."""

    def __init__(self, *names: str) -> None:
        super().__init__("soft.test.step", *names, doc="")

    def asked(self, results: Sequence[Expr], given: Sequence[int]) -> list[int]:
        return [run(self.gives(r), *given) for r in results]


def summed(fmt: Layout, values: Sequence[int]) -> tuple[list[int], int]:
    """The limbs and marks after all elements, by the step of the loop."""
    words, seen = [0] * sum_limbs(fmt), 0
    names = [f"word_{k}" for k in range(len(words))]
    s = Kept(*names, "seen", "bits")
    *limbs, marks, bits = s.params
    step = [*added(s, fmt, tuple(limbs), bits), noted(s, fmt, marks, bits)]
    for value in values:
        *words, seen = s.asked(step, [*words, seen, value])
    return words, seen


def as_integer(words: Sequence[int]) -> int:
    whole = 0
    for word in words:
        whole = whole << 32 | word
    return whole - (1 << 32 * len(words) if words[0] >> 31 else 0)


def exactly(fmt: Layout, bits: int) -> Fraction:
    return Fraction(float(decoded(fmt, np.array([bits], np.uint32))[0]))


@FORMATS
def test_a_sum_has_room_for_the_longest_range(fmt: Layout) -> None:
    largest = exactly(fmt, fmt.infinity - 1) / exactly(fmt, 1)
    assert largest * (2**32 - 1) < 2 ** (32 * sum_limbs(fmt) - 1)
    assert largest * (2**32 - 1) >= 2 ** (32 * (sum_limbs(fmt) - 1) - 1)


@FORMATS
def test_sums_lose_nothing(fmt: Layout) -> None:
    rng = np.random.default_rng(fmt.width + fmt.fraction_bits)
    values = rng.integers(0, 2 * fmt.sign, 24).tolist()
    values = [v if v & fmt.magnitude < fmt.infinity else v & (fmt.sign | fmt.fraction) for v in values]
    values += [fmt.infinity - 1, fmt.infinity - 1, fmt.sign | 1, 1, 1, fmt.sign]
    words, _ = summed(fmt, values)
    assert as_integer(words) * exactly(fmt, 1) == sum(exactly(fmt, v) for v in values)


@FORMATS
def test_totals_are_rounded_once(fmt: Layout) -> None:
    op = op_of(f"{fmt.prefix}.total")
    count = sum_limbs(fmt)
    unit = exactly(fmt, 1)
    rng = np.random.default_rng(7)
    for turn in range(60):
        # Around a midpoint of every length, and anywhere.
        length = 1 + turn * (32 * count - 2) // 60
        whole = 1 << length | 1 << max(0, length - fmt.fraction_bits - 1) | int(rng.integers(-1, 2))
        whole = -whole if turn & 1 else whole
        words = [whole >> 32 * k & 0xFFFFFFFF for k in reversed(range(count))]
        assert run(op, *words, totals.OTHER) == nearest(fmt, whole * unit)


@FORMATS
def test_marks_decide_zeros_and_specials(fmt: Layout) -> None:
    op, zero = op_of(f"{fmt.prefix}.total"), [0] * sum_limbs(fmt)
    minus = fmt.sign | fmt.infinity
    for values, expected in [
        ([fmt.sign, fmt.sign], fmt.sign),
        ([fmt.sign, 0], 0),
        ([fmt.one, fmt.sign | fmt.one], 0),
        ([fmt.infinity, fmt.one], fmt.infinity),
        ([minus, minus], minus),
        ([fmt.infinity, minus], fmt.nan),
        ([fmt.infinity + 1], fmt.nan),
    ]:
        words, seen = summed(fmt, values)
        assert words == zero or fmt.one in values
        assert run(op, *words, seen) == expected


def multiplied_out(fmt: Layout, values: Sequence[int]) -> tuple[list[int], int]:
    names = [*Product.__slots__, "seen", "bits"]
    s = Kept(*names)
    *parts, marks, bits = s.params
    step = [*state(multiplied(s, fmt, Product(*parts), bits)), noted(s, fmt, marks, bits)]
    now = [x.value for x in state(ONE) if isinstance(x, LitU32)] + [0]
    for value in values:
        now = s.asked(step, [*now, value])
    return now[:-1], now[-1]


def test_products_of_few_factors_are_correctly_rounded() -> None:
    rng = np.random.default_rng(3)
    for fmt in (F32, F16, BF16):
        op = op_of(f"{fmt.prefix}.scaled")
        for count in (1, 2, 3, 9, 40):
            near = rng.integers(fmt.bias - 2, fmt.bias + 2, count) << fmt.fraction_bits
            values = (
                rng.integers(0, fmt.hidden, count) | near | rng.integers(0, 2, count) * fmt.sign
            ).tolist()
            parts, seen = multiplied_out(fmt, values)
            exact = nearest(fmt, prod((exactly(fmt, v) for v in values), start=Fraction(1)))
            assert run(op, *parts, count, seen) == exact


def test_each_factor_cuts_off_less_than_the_last_place() -> None:
    """The bound from which one float follows for 2^32 factors."""
    values = [0x3F800001 + 977 * k for k in range(60)]
    exact = Fraction(1)
    for count in range(1, len(values) + 1):
        exact *= exactly(F32, values[count - 1])
        if count % 12 == 0:
            (high, low, lost, power_high, power_low, _), _ = multiplied_out(F32, values[:count])
            power = (power_high << 32 | power_low) - count * (F32.bias + F32.fraction_bits)
            kept = Fraction(high << 32 | low, 1 << 63) * Fraction(2) ** power
            assert high >> 31 == 1
            assert lost
            assert 0 < exact / kept - 1 < Fraction(count, 1 << 63)


def test_a_product_cut_by_nothing_is_exact() -> None:
    parts, seen = multiplied_out(F16, [0x3E00] * 8)
    assert parts[2] == 0
    assert run(op_of("soft.f16.scaled"), *parts, 8, seen) == nearest(F16, Fraction(3, 2) ** 8)
    parts, _ = multiplied_out(F32, [0x3FFFFFFF] * 3)
    assert parts[2] != 0


@pytest.mark.parametrize(
    ("raised", "expected"),
    [(1, F32.infinity), (-1, 0), (0, F32.one)],
    ids=["all 2", "all 1/2", "as many of both"],
)
def test_exponents_of_the_longest_product_do_not_wrap(raised: int, expected: int) -> None:
    count = 2**32 - 1
    power = count * (F32.bias + F32.fraction_bits + raised)
    state_ = (1 << 31, 0, 0, power >> 32, power & 0xFFFFFFFF, 0)
    assert run(op_of("soft.f32.scaled"), *state_, count, totals.OTHER) == expected


@FORMATS
def test_zeros_infinities_and_nans_of_products(fmt: Layout) -> None:
    op = op_of(f"{fmt.prefix}.scaled")
    minus = fmt.sign | fmt.one
    for values, expected in [
        ([0, minus], fmt.sign),
        ([fmt.infinity, minus], fmt.sign | fmt.infinity),
        ([fmt.infinity, 0], fmt.nan),
        ([fmt.one, fmt.magnitude], fmt.nan),
        ([fmt.sign | 1, fmt.one], fmt.sign | 1),
    ]:
        parts, seen = multiplied_out(fmt, values)
        assert run(op, *parts, len(values), seen) == expected


@FORMATS
def test_they_are_lawful_ops(fmt: Layout) -> None:
    for name in ("total", "scaled"):
        assert validate_op(SoftRegistry()[f"{fmt.prefix}.{name}"]) == []
    assert total_op(f"{fmt.prefix}.add") is None
