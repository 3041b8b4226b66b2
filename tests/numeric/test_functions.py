"""Correctly rounded functions against the truth: every 16-bit value; spread, special and hard F32 inputs."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats.cases import specials
from lab.floats.truth import decided, decoded, encoded, truth
from lab.functions.pairs import pairs
from vyre.ir.expr import LitU32, Var, select
from vyre.ir.float_formats import BF16, F16, F32, STRICT_FORMATS, FloatFormat
from vyre.ir.operators import FUNCTION_BINARY_OPS, FUNCTION_UNARY_OPS, BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.numeric.functions import FUNCTIONS, angle, function_op, function_ops, power, undecided_op
from vyre.numeric.soft.layout import prefix
from vyre.reference import floats
from vyre.semantics.vector import evaluate
from vyre.validate import validate_op

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.expr import Expr
    from vyre.ir.op import Op

    Words = NDArray[np.uint32]

pytest.importorskip("flint")

UNARY = [name for op, name in FUNCTIONS.items() if isinstance(op, UnaryOp)]
BINARY = ["atan2", "pow"]
HARD: dict[str, list[int]] = json.loads((Path(__file__).parent / "hard_inputs.json").read_text())


def op_of(fmt: FloatFormat, name: str) -> Op:
    op = function_op(f"{prefix(fmt)}.{name}")
    assert op is not None
    return op


def layout_name(fmt: FloatFormat) -> str:
    return fmt.type.value


def differing(op: Op, name: str, fmt: FloatFormat, *arguments: Words) -> list[tuple[int, ...]]:
    """The arguments with wrong results."""
    wrong = np.flatnonzero(evaluate(op, *arguments) != truth(name, fmt, *arguments)[0])
    return [tuple(int(a[k]) for a in arguments) for k in wrong.tolist()]


def test_every_function_has_an_op() -> None:
    assert set(FUNCTIONS) == FUNCTION_UNARY_OPS | FUNCTION_BINARY_OPS
    assert len(function_ops()) == len(FUNCTIONS) * len(STRICT_FORMATS)
    assert function_op("soft.f32.add") is None
    assert function_op("sin") is None


@pytest.mark.parametrize("fmt", [F16, BF16], ids=layout_name)
@pytest.mark.parametrize(
    "name", ["erf", "tanh", "sinh", "expm1", "log1p", "cbrt", "exp", "log", "asin", "atan"]
)
def test_what_rises_everywhere_rises_on_every_16_bit_value(name: str, fmt: FloatFormat) -> None:
    numbers = np.arange(fmt.infinity + 1, dtype=np.uint32)
    ordered = np.concatenate([(numbers | np.uint32(fmt.sign))[::-1], numbers])
    found = evaluate(op_of(fmt, name), ordered)
    values = decoded(fmt, found[found & np.uint32(fmt.magnitude) <= fmt.infinity])
    assert (values[1:] >= values[:-1]).all()
    assert values.size > fmt.infinity // 2


@pytest.mark.parametrize("name", ["erf", "tanh", "sinh", "cbrt", "sin", "tan", "asin", "atan", "cosh", "cos"])
def test_symmetry(name: str) -> None:
    numbers = np.arange(0, F32.infinity, 40961, dtype=np.uint32)
    right, left = (evaluate(op_of(F32, name), numbers | np.uint32(sign)) for sign in (0, F32.sign))
    usual = right & np.uint32(F32.magnitude) <= F32.infinity
    assert np.array_equal(left[usual], right[usual] ^ np.uint32(0 if name.startswith("cos") else F32.sign))


@pytest.mark.parametrize("fmt", [F16, BF16], ids=layout_name)
@pytest.mark.parametrize("name", UNARY)
def test_every_16_bit_value(name: str, fmt: FloatFormat) -> None:
    every = np.arange(1 << 16, dtype=np.uint32)
    assert differing(op_of(fmt, name), name, fmt, every) == []


@pytest.mark.parametrize("name", UNARY)
def test_spread_and_hard_inputs(name: str) -> None:
    step = 65521
    spread = np.arange(11, 1 << 32, step, dtype=np.uint64).astype(np.uint32)
    hard = np.array(HARD[name], dtype=np.uint32)
    around = np.concatenate([hard - np.uint32(1), hard, hard + np.uint32(1)])
    assert len(HARD[name]) > 1
    assert differing(op_of(F32, name), name, F32, np.concatenate([spread, around])) == []


@pytest.mark.parametrize("name", UNARY)
def test_inputs_around_every_power_of_two_and_limit(name: str) -> None:
    powers = np.arange(0, 1 << 32, 1 << 23, dtype=np.uint64)
    near = powers[:, None] + np.arange(-6, 7, dtype=np.int64).astype(np.uint64)[None, :]
    ends = [0x42B17218, 0xC2AEAC50, 0xC2CFF1B5, 0x43000000, 0xC3160000, 0x421A209B, 0xC23369F4, 0x3FC90FDB]
    limits = np.array(ends, dtype=np.uint64)[:, None] + np.arange(-8, 9, dtype=np.int64).astype(np.uint64)
    inputs = np.concatenate([near.ravel(), limits.ravel()]).astype(np.uint32)
    assert differing(op_of(F32, name), name, F32, inputs) == []


@pytest.mark.parametrize("fmt", STRICT_FORMATS.values(), ids=layout_name)
@pytest.mark.parametrize("name", UNARY)
def test_special_values_as_the_reference_has_them(name: str, fmt: FloatFormat) -> None:
    operator = next(op for op, known in FUNCTIONS.items() if known == name)
    assert isinstance(operator, UnaryOp)
    given = specials(fmt)
    got = evaluate(op_of(fmt, name), np.array(given, dtype=np.uint32)).tolist()
    assert got == [floats.unary(operator, floats.FORMATS[fmt.type], x) for x in given]


@pytest.mark.parametrize("fmt", STRICT_FORMATS.values(), ids=layout_name)
@pytest.mark.parametrize("name", BINARY)
def test_special_values_crossed(name: str, fmt: FloatFormat) -> None:
    operator = {"atan2": BinaryOp.FATan2, "pow": BinaryOp.FPow}[name]
    given = specials(fmt)
    first, second = (axis.ravel() for axis in np.meshgrid(*[np.array(given, dtype=np.uint32)] * 2))
    got = evaluate(op_of(fmt, name), first, second).tolist()
    rows = zip(first.tolist(), second.tolist(), strict=True)
    assert got == [floats.binary(operator, floats.FORMATS[fmt.type], x, y) for x, y in rows]


@pytest.mark.parametrize("fmt", STRICT_FORMATS.values(), ids=layout_name)
@pytest.mark.parametrize("name", BINARY)
def test_pairs(name: str, fmt: FloatFormat) -> None:
    block = pairs(fmt, name, 0, 1 << 14)
    assert differing(op_of(fmt, name), name, fmt, *block) == []
    assert not evaluate(undecided_op(f"{prefix(fmt)}.{name}"), *block).any()


@pytest.mark.parametrize("name", BINARY)
def test_the_last_precision_alone_gives_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, make = (power, power.power) if name == "pow" else (angle, angle.atan2)
    monkeypatch.setattr(module, "FIRST_SLACK", 1 << 31)
    assert differing(make(F32), name, F32, *pairs(F32, name, 1 << 20, (1 << 20) + (1 << 14))) == []


@pytest.mark.parametrize("name", BINARY)
def test_a_failed_last_test_is_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, make = (power, power.power_undecided) if name == "pow" else (angle, angle.atan2_undecided)

    def coarse(_units: Expr, _limb: int, count: int) -> tuple[Expr, ...]:
        """An eighth of the last place of F32, so that about a quarter of all values cannot be decided."""
        return (LitU32(1 << 5), *[LitU32(0)] * (count - 1))

    block = pairs(F32, name, 1, 1 << 12)
    assert not evaluate(make(F32), *block).any()
    monkeypatch.setattr(module, "slack_of", coarse)
    assert 0.03 < evaluate(make(F32), *block).mean() < 0.6


def test_midpoints_of_pow_go_to_the_even_neighbour() -> None:
    odd = np.arange(4097, 8192, 2, dtype=np.float32)
    squares = odd.view(np.uint32), np.full(odd.size, 0x40000000, dtype=np.uint32)
    # 25 bits each: a midpoint of F32 wherever the square is below 2^25.
    ties = (odd.astype(np.uint64) ** 2 < 1 << 25) & (odd.astype(np.uint64) ** 2 > 1 << 24)
    assert ties.sum() > 100
    exact = encoded(F32, odd.astype(np.float64) ** 2)
    assert np.array_equal(evaluate(op_of(F32, "pow"), *squares), exact)
    assert not evaluate(undecided_op("soft.f32.pow"), *squares).any()


def test_exact_powers_with_roots_of_order_2_4_and_8() -> None:
    rows = [
        (float(r) ** 2**j * 2.0 ** (k * 2**j), n / 2**j)
        for r in (3, 5, 7)
        for j in (1, 2, 3)
        for n in range(1, 16, 2)
        for k in range(-8, 9)
    ]
    arguments = tuple(
        np.array(column, dtype=np.float32).view(np.uint32) for column in zip(*rows, strict=True)
    )
    assert differing(op_of(F32, "pow"), "pow", F32, *arguments) == []
    assert not evaluate(undecided_op("soft.f32.pow"), *arguments).any()


def test_powers_that_end_half_way_to_the_least_number() -> None:
    x = np.array([0x3F000000, 0x3E800000, 0x00800000, 0x40000000], dtype=np.uint32)
    y = np.array([150.0, 75.0, 150 / 126, -150.0], dtype=np.float32).view(np.uint32)
    assert evaluate(op_of(F32, "pow"), x, y).tolist()[:2] == [0, 0]
    assert differing(op_of(F32, "pow"), "pow", F32, x, y) == []


def test_sine_of_the_largest_power_of_two() -> None:
    huge = np.array([0x7F000000, 0xFF000000, 0x7F7FFFFF], dtype=np.uint32)
    exact = [floats.unary(UnaryOp.FSin, floats.FORMATS[DataType.F32], x) for x in huge.tolist()]
    assert evaluate(op_of(F32, "sin"), huge).tolist() == exact


def test_a_function_that_is_wrong_once_is_caught() -> None:
    op = op_of(F16, "exp")
    assert op.result is not None
    wrong = replace(op, result=select(Var("a").eq(0x3555), op.result ^ 1, op.result))
    assert differing(wrong, "exp", F16, np.arange(1 << 16, dtype=np.uint32)) == [(0x3555,)]


@pytest.mark.parametrize("op", function_ops(), ids=lambda op: op.id)
def test_the_ops_are_valid(op: Op) -> None:
    assert validate_op(op) == []


def test_the_truth_is_that_of_mpfr() -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    rng = np.random.default_rng(9)
    context = gmpy2.context(precision=24, emin=-148, emax=128, subnormalize=True)
    functions = {
        **{
            name: getattr(gmpy2, name)
            for name in UNARY
            if name in ("sin", "cos", "tan", "exp", "exp2", "exp10")
        },
        **{name: getattr(gmpy2, name) for name in ("asin", "acos", "atan", "log", "log2", "log10")},
        **{name: getattr(gmpy2, name) for name in ("erf", "tanh", "sinh", "cosh", "expm1", "log1p", "cbrt")},
    }
    with context:
        for name, function in functions.items():
            bits = np.concatenate(
                [rng.integers(0, 1 << 32, 400), rng.integers(0x3C000000, 0x42000000, 400), HARD[name]]
            ).astype(np.uint32)
            want, _ = truth(name, F32, bits)
            found = [float(function(gmpy2.mpfr(x))) for x in decoded(F32, bits).tolist()]
            assert np.array_equal(encoded(F32, np.array(found)), want), name


def test_the_truth_decides_a_value_that_doubles_cannot() -> None:
    x = decoded(F32, np.array(HARD["exp"][:1], dtype=np.uint32))
    bits, asked = truth("exp", F32, np.array(HARD["exp"][:1], dtype=np.uint32))
    assert asked == 1
    assert bits[0] == decided("exp", F32, Fraction(float(x[0])))


def test_types() -> None:
    assert {op.output for op in function_ops()} == {DataType.U32}
