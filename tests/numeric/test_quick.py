"""The quick exponentials: right wherever they say so, open rarely, and the same as the 64-bit ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats.truth import decoded, enclosure, truth
from lab.functions import quick_errors
from vyre.ir.expr import LitU32
from vyre.ir.float_formats import F32
from vyre.ir.node import If
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import expressions
from vyre.numeric.functions import exponentials, function_op, quick
from vyre.numeric.functions import quick_coefficients as constants
from vyre.numeric.functions.script import Script
from vyre.semantics.vector import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.op import Op
    from vyre.numeric.functions.quick import QuickBase, Sum, Try

    Words = NDArray[np.uint32]

pytest.importorskip("flint")

BASES = {"exp": quick.E, "exp2": quick.TWO, "exp10": quick.TEN}
LEAST = 102 << 23
"""The bits of 2^-25, where the quick way begins."""


def arguments(name: str, count: int, *, least: int = LEAST) -> Words:
    """Random arguments of both signs and all sizes that the quick way takes."""
    rng = np.random.default_rng(count)
    sign = rng.integers(0, 2, count, np.uint32) << np.uint32(31)
    return rng.integers(least, BASES[name].limit, count, dtype=np.uint32) | sign


def sums(base: QuickBase, given: Words) -> tuple[list[int], list[int]]:
    """The unrounded significands in units of 2^-34, without slack and half a place, and the octaves."""

    def part(choose: Callable[[Sum], Expr]) -> NDArray[np.int64]:
        s = Script("soft.test.quick", "a", doc="")
        return evaluate(s.gives(choose(quick.unrounded(s, s.params[0], base))), given).astype(np.int64)

    high = part(lambda v: v.high)
    high -= (high >> 31) << 32
    totals = high * 2048 + part(lambda v: v.low) - 1024 - base.slack
    return totals.tolist(), (part(lambda v: v.n) // 8 - 128).tolist()


def largest_error(name: str, base: QuickBase, given: Words) -> float:
    """In units of 2^-34 of a significand between 1 and 2."""
    largest = Fraction(0)
    for total, octave, x in zip(*sums(base, given), decoded(F32, given).tolist(), strict=True):
        true = enclosure(name, 120, Fraction(x))[0] / Fraction(2) ** octave * 2**34
        largest = max(largest, abs(total - true))
    return float(largest)


def tried(base: QuickBase, given: Words) -> tuple[Words, NDArray[np.bool_]]:
    def part(choose: Callable[[Try], Expr]) -> Words:
        s = Script("soft.test.quick", "a", doc="")
        return evaluate(s.gives(choose(quick.first_try(s, s.params[0], base))), given)

    return part(lambda t: t.bits), part(lambda t: t.open).astype(bool)


def never_quick(name: str, patch: pytest.MonkeyPatch) -> Op:
    """The op with a quick way that leaves everything open."""

    def nothing(_s: Script, _a: Expr, _base: QuickBase) -> Try:
        return quick.Try(LitU32(0xDEADBEEF), LitU32(1))

    patch.setattr(quick, "first_try", nothing)
    return getattr(exponentials, name)(F32)


@pytest.mark.parametrize("name", BASES)
def test_an_error_is_less_than_the_slack_and_one(name: str) -> None:
    base = BASES[name]
    assert largest_error(name, base, arguments(name, 1500)) < base.slack + 1
    assert largest_error(name, base, arguments(name, 1501, least=0x3F000000)) < base.slack + 1


def test_the_tool_for_all_arguments_measures_the_same() -> None:
    pytest.importorskip("llvmlite")
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("long doubles are too short here")
    part = quick_errors.Part("exp", 0, 0x40000000, 0x40400000, 4001)
    least, most = quick_errors.measured(part)
    given = np.arange(part.lo, part.hi, part.step, dtype=np.uint32)
    assert max(-least, most) == pytest.approx(largest_error("exp", quick.E, given), abs=1e-4)


@pytest.mark.parametrize("which", range(4))
def test_a_wrong_coefficient_is_seen(which: int, monkeypatch: pytest.MonkeyPatch) -> None:
    places = (7, 8, 22, 8)
    series = tuple(
        c + (k == which) * (1 << p)
        for k, (c, p) in enumerate(zip(constants.QUICK_SERIES, places, strict=True))
    )
    monkeypatch.setattr(constants, "QUICK_SERIES", series)
    assert largest_error("exp", quick.E, arguments("exp", 3000, least=0x3F000000)) > quick.E.slack + 1


@pytest.mark.parametrize("name", BASES)
def test_what_is_not_open_is_right(name: str) -> None:
    given = arguments(name, 1 << 18)
    bits, left = tried(BASES[name], given)
    assert np.array_equal(bits[~left], truth(name, F32, given[~left])[0])


@pytest.mark.parametrize("name", BASES)
def test_few_usual_arguments_are_left_open(name: str) -> None:
    _, left = tried(BASES[name], arguments(name, 1 << 18, least=0x3A000000))
    expected = (2 * BASES[name].slack + 1) / 2048
    assert 0.8 * expected < left.mean() < 1.2 * expected


def test_without_slack_something_is_wrong() -> None:
    given = arguments("exp", 1 << 18, least=0x3F000000)
    bits, left = tried(replace(quick.E, slack=0), given)
    assert (bits[~left] != truth("exp", F32, given[~left])[0]).any()


@pytest.mark.parametrize("name", BASES)
def test_the_quick_way_and_the_64_bit_way_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op = function_op(f"soft.f32.{name}")
    assert op is not None
    slow = never_quick(name, monkeypatch)
    near = np.arange(-400, 400, dtype=np.int64)
    ends = [0, 1 << 23, exponentials.TINY, LEAST, BASES[name].limit, 0x43800000, F32.infinity]
    around = np.concatenate([e + near for e in ends]).astype(np.uint32) & np.uint32(F32.magnitude)
    whole = np.arange(0, 512, dtype=np.float32).view(np.uint32)
    given = np.concatenate([arguments(name, 1 << 18), around, whole])
    given = np.concatenate([given, given ^ np.uint32(F32.sign)])
    assert np.array_equal(evaluate(op, given), evaluate(slow, given))


@pytest.mark.parametrize("name", BASES)
def test_outside_of_its_range_it_is_open(name: str) -> None:
    limit = BASES[name].limit
    sizes = np.array([0, 1, LEAST - 1, limit, limit + 1, 0x43800000, F32.infinity, F32.nan], np.uint32)
    for sign in (0, F32.sign):
        assert tried(BASES[name], sizes | np.uint32(sign))[1].all()


@pytest.mark.parametrize("name", BASES)
def test_no_upper_half_of_a_product_is_needed_outside_of_the_branches(name: str) -> None:
    def upper_halves(body: list[Node]) -> int:
        return sum(getattr(x, "op", None) is BinaryOp.MulHi for x in expressions(body))

    op = function_op(f"soft.f32.{name}")
    assert op is not None
    branches: list[Node] = [node for node in op.body if isinstance(node, If)]
    assert len(branches) == 2
    assert upper_halves([node for node in op.body if not isinstance(node, If)]) == 0
    assert upper_halves(branches) > 20
