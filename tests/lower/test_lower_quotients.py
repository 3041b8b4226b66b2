"""The quotients and roots of formulas over doubles on CUDA: rounded once, without a branch."""

from __future__ import annotations

import math
import random
import re
import struct
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import pytest

from vyre.engines import elementwise
from vyre.ir.expr import BinOp, Expr, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.lower.languages import lower
from vyre.lower.native_c import CUDA

if TYPE_CHECKING:
    from collections.abc import Callable

F32 = DataType.F32
SEED_ERROR = 2.0**-18
"""More than the device's own estimates of a reciprocal and of an inverse root are off."""


def rounded(value: Fraction) -> float:
    """To the nearest double, by Python's own division of integers."""
    return value.numerator / value.denominator


def fma(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact or (a and b):
        return rounded(exact)
    return a * b + c  # of zeros, whose signs count


def words(value: float) -> tuple[int, int]:
    high, low = struct.unpack(">iI", struct.pack(">d", value))
    return high, low


def high_word(value: float) -> int:
    return words(value)[0]


def low_word(value: float) -> int:
    return words(value)[1]


def joined(high: int, low: int) -> float:
    return struct.unpack(">d", struct.pack(">iI", high, low))[0]


def run(statements: str, seed: Callable[[float], float], **given: float) -> float:
    """Executes statements of C that are expressions, calls and one estimate."""
    python = re.sub(r'asm\("[^"]*" : "=d"\(r\) : "d"\((\w)\)\)', r"r = seed(\1)", statements)
    lines = [x.strip().removeprefix("double ") for x in python.split(";")]
    lines = [x.replace("return ", "result = ") for x in lines if x and x != "r"]
    known: dict[str, object] = {
        "seed": seed,
        "__fma_rn": fma,
        "__dmul_rn": float.__mul__,
        "__double2hiint": high_word,
        "__double2loint": low_word,
        "__hiloint2double": joined,
        **given,
    }
    exec("\n".join(lines), known)
    result = known["result"]
    assert isinstance(result, float)
    return result


def estimate(exact: float, error: float) -> float:
    """As the device has them: 20 bits behind the first, the rest zero."""
    return joined(high_word(exact * (1 + error)), 0)


def short(rng: random.Random) -> float:
    return math.ldexp(rng.getrandbits(32) | 1 << 31, rng.randrange(-180, 120))


def near_a_midpoint(rng: random.Random) -> tuple[float, float]:
    """Numbers of 32 bits whose quotient is as near as it gets to where two doubles meet."""
    y = rng.getrandbits(32) | 1 << 31 | 1
    x = (pow(2, -54, y) * rng.choice((1, y - 1))) % y
    return float(x), float(y)


def test_quotients_of_short_numbers_are_rounded_once() -> None:
    rng = random.Random(1)
    cases = [(short(rng), short(rng)) for _ in range(2000)] + [near_a_midpoint(rng) for _ in range(2000)]
    cases += [(0.0, 3.0), (-1.0, 3.0), (1.0, float.fromhex("0x1.fffffffep0"))]
    for x, y in cases:
        error = rng.uniform(-SEED_ERROR, SEED_ERROR)
        for steps in (CUDA.short_quotient, CUDA.quotient):
            found = run(steps, lambda y, error=error: estimate(1 / y, error), x=x, y=y)
            assert found == x / y, (x, y)


def test_quotients_of_long_numbers_are_rounded_once() -> None:
    rng = random.Random(3)
    for _ in range(3000):
        x, y = (math.ldexp(rng.getrandbits(53) | 1 << 52, rng.randrange(-150, 50)) for _ in range(2))
        error = rng.uniform(-SEED_ERROR, SEED_ERROR)
        assert run(CUDA.quotient, lambda y, e=error: estimate(1 / y, e), x=x, y=y) == x / y, (x, y)


@pytest.mark.parametrize("x", [0.0, -0.0])
@pytest.mark.parametrize("steps", [CUDA.short_quotient, CUDA.quotient])
def test_a_zero_over_a_positive_number_keeps_its_sign(steps: str, x: float) -> None:
    """The tangent of -0 is -0."""
    found = run(steps, lambda y: estimate(1 / y, SEED_ERROR), x=x, y=3.0)
    assert (found, math.copysign(1, found)) == (0.0, math.copysign(1, x))
    other = steps.replace("__fma_rn(-r, __fma_rn(y, q, -x), q)", "__fma_rn(r, __fma_rn(-y, q, x), q)")
    assert math.copysign(1, run(other, lambda y: estimate(1 / y, SEED_ERROR), x=-0.0, y=3.0)) == 1


def test_a_step_less_would_be_noticed() -> None:
    rng = random.Random(1)
    worse = CUDA.short_quotient.replace("__fma_rn(-r, __fma_rn(y, q, -x), q)", "q")
    assert worse != CUDA.short_quotient
    cases = [(short(rng), short(rng)) for _ in range(100)]
    found = [run(worse, lambda y: estimate(1 / y, SEED_ERROR), x=x, y=y) for x, y in cases]
    assert found != [x / y for x, y in cases]


def test_roots_are_rounded_once() -> None:
    """Of (1 - x) / 2 for F32 x, which is what they are taken of."""
    rng = random.Random(2)
    for _ in range(3000):
        x = (1 - (rng.getrandbits(23) | 1 << 23) / (1 << 24)) / 2 or 2.0**-767
        error = rng.uniform(-SEED_ERROR, SEED_ERROR)
        found = run(CUDA.root, lambda x, error=error: estimate(1 / math.sqrt(x), error), x=x)
        assert found == math.sqrt(x), x


STRAIGHT: dict[str, Callable[..., Expr]] = {
    name: partial(UnOp, op)
    for name, op in {"asin": UnaryOp.FASin, "acos": UnaryOp.FACos, "atan": UnaryOp.FATan}.items()
}
ENDING: dict[str, Callable[..., Expr]] = {
    "tan": partial(UnOp, UnaryOp.FTan),
    "pow": partial(BinOp, BinaryOp.FPow),
    "atan2": partial(BinOp, BinaryOp.FATan2),
}


@pytest.mark.parametrize("name", [*STRAIGHT, *ENDING])
def test_the_compiler_finds_nothing_to_branch_for(name: str) -> None:
    """Four elements, one behind the other: from the last load to the stores, or to the shared branch."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")
    from vyre.backends.cuda.backend import compile_source

    inputs = [F32] * (2 if name in ("pow", "atan2") else 1)
    program = elementwise((STRAIGHT | ENDING)[name], *inputs, output=F32)
    ptx = compile_source(lower(program, "cuda"), "compute_90").decode()
    blocks = re.split(r"\n\$L\w+:|\n.*\bbra(?:\.uni)?\s", ptx)
    whole = [block for block in blocks if block.count("cvt.rn.f32.f64") == 4]
    assert len(whole) == 1
    assert "call" not in whole[0]
    assert not re.search(r"(div|sqrt)\.rn\.f64", ptx)
