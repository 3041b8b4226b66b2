"""The unrounded results are as good as `docs/functions.md` says: their errors are measured against Arb."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats.truth import decoded, enclosure, truth
from lab.functions.pairs import pairs
from vyre.ir.expr import LitU32
from vyre.ir.float_formats import F32, FloatFormat
from vyre.numeric.functions import (
    angle,
    circular,
    error,
    exponentials,
    hyperbolic,
    inverse,
    logarithms,
    power,
    roots,
)
from vyre.numeric.functions.ending import Unrounded, taken_apart
from vyre.numeric.functions.limbs import literal
from vyre.numeric.functions.quotient import long_division, reciprocal, root
from vyre.numeric.functions.script import Script
from vyre.semantics.vector import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from numpy.typing import NDArray

    from vyre.ir.expr import Expr
    from vyre.ir.op import Op

    Words = NDArray[np.uint32]

pytest.importorskip("flint")

HOME: dict[str, ModuleType] = {
    **dict.fromkeys(("exp", "exp2", "exp10"), exponentials),
    **dict.fromkeys(("log", "log2", "log10"), logarithms),
    **dict.fromkeys(("sin", "cos", "tan"), circular),
    **dict.fromkeys(("asin", "acos"), inverse),
    "atan": angle,
    "erf": error,
    **dict.fromkeys(("tanh", "sinh", "cosh", "expm1"), hyperbolic),
    "log1p": logarithms,
    "cbrt": roots,
}

COMPUTED = {
    "erf": (1, 0x40800000),
    "tanh": (0x39000000, 0x41800000),
    "sinh": (0x39800000, 0x42B00000),
    "cosh": (0x39800000, 0x42B00000),
    "expm1": (0x33000000, 0x42B00000),
    "log1p": (0x33000000, 0x7F800000),
}
"""Sizes of arguments from which, and below which, the result comes from the core."""

BOUNDS = {
    "exp": 30,
    "exp2": 30,
    "exp10": 30,
    "log": 31,
    "log2": 22,
    "log10": 71,
    "sin": 42,
    "cos": 22,
    "tan": 74,
    "asin": 149,
    "acos": 149,
    "atan": 19,
    "erf": 36,
    "tanh": 18,
    "sinh": 2,
    "cosh": 2,
    "expm1": 2,
    "log1p": 60,
    "cbrt": 12,
}
"""In units of 2^-63 of the result, as counted in `docs/functions.md`."""


class Caught(Exception):
    """Ends the building of an op where its result is about to be rounded."""

    def __init__(self, s: Script, value: Unrounded) -> None:
        self.ops = [s.gives(word) for word in (value.exponent, *value.words)]


def caught(module: ModuleType, name: str, patch: pytest.MonkeyPatch) -> list[Op]:
    def catch(s: Script, _fmt: FloatFormat, value: Unrounded) -> Expr:
        raise Caught(s, value)

    patch.setattr(module, "nearest", catch)
    with pytest.raises(Caught) as found:
        getattr(module, name)(F32)
    return found.value.ops


def usual(name: str, *arguments: Words) -> NDArray[np.intp]:
    """The numbers of the arguments with finite nonzero results in the normal range."""
    bits, _ = truth(name, F32, *arguments)
    size = bits & np.uint32(F32.magnitude)
    good = (size >= F32.hidden) & (size < F32.infinity)
    for a in arguments:
        good &= (a & np.uint32(F32.magnitude)) < F32.infinity
    return np.flatnonzero(good)


def worst(name: str, ops: list[Op], *arguments: Words) -> float:
    """The largest error of the words, in units of the last place of the second one."""
    exponents, *words = (evaluate(op, *arguments).tolist() for op in ops)
    values = [decoded(F32, a).tolist() for a in arguments]
    largest = Fraction(0)
    for k, exponent in enumerate(exponents):
        digits = 0
        for word in words:
            digits = digits << 32 | word[k]
        signed = exponent - (1 << 32 if exponent >> 31 else 0)
        got = Fraction(digits, 1 << 32 * len(words) - 1) * Fraction(2) ** signed
        true = abs(enclosure(name, 400, *(Fraction(v[k]) for v in values))[0])
        assert digits >> 32 * len(words) - 1 == 1
        largest = max(largest, abs(got / true - 1))
    return float(largest * 2**63)


def spread(name: str, count: int) -> Words:
    """Arguments over the whole range, and as many of moderate size."""
    a, _ = pairs(F32, "atan2", 0, 8 * count)
    if name.startswith("log"):
        a = a & np.uint32(F32.magnitude)
    if name in COMPUTED:
        a = _computed(name, 16 * count)
    return a[usual(name, a)][:count]


def _computed(name: str, count: int) -> Words:
    """Random arguments that the core of a function computes, of every exponent and both signs."""
    rng = np.random.default_rng(11)
    sign = rng.integers(0, 2, count, np.uint32) << np.uint32(31)
    return rng.integers(*COMPUTED[name], count, dtype=np.uint32) | sign


@pytest.mark.parametrize("name", HOME)
def test_errors_of_one_argument(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = worst(name, caught(HOME[name], name, monkeypatch), spread(name, 600))
    assert error < BOUNDS[name]


def estimated(name: str, *, last: bool) -> list[Op]:
    s = Script(f"soft.f32.{name}", "a", "b", doc="")
    a, b = taken_apart(s, F32, s.params[0], "a"), taken_apart(s, F32, s.params[1], "b")
    if name == "pow":
        value, _, _ = power.estimate(s, a, b, *((4, 3) if last else (3, 2)))
    else:
        value, _ = angle.angle_of(s, angle.ratio_of(s, F32, a, b), 3 if last else 2)
    return Caught(s, value).ops


@pytest.mark.parametrize("name", ["atan2", "pow"])
@pytest.mark.parametrize("last", [False, True])
def test_errors_of_two_arguments_stay_within_a_quarter_of_the_slack(name: str, last: bool) -> None:
    a, b = pairs(F32, name, 0, 4000)
    a = a & np.uint32(F32.magnitude) if name == "pow" else a
    chosen = usual(name, a, b)[:700]
    error = worst(name, estimated(name, last=last), a[chosen], b[chosen])
    module = power if name == "pow" else angle
    allowed = module.LAST_SLACK / 2**32 if last else module.FIRST_SLACK
    assert error < allowed / 4


def test_a_wrong_coefficient_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    series = tuple(c ^ (k == 3) << 12 for k, c in enumerate(circular.SINE))
    monkeypatch.setattr(circular, "SINE", series)
    assert worst("tan", caught(circular, "tan", monkeypatch), spread("tan", 300)) > BOUNDS["tan"]


def outputs(build: Callable[[Script], tuple[Expr, ...]], *arguments: Words) -> list[list[int]]:
    s = Script("soft.test.parts", *"ab"[: len(arguments)], doc="")
    return [evaluate(s.gives(word), *arguments).tolist() for word in build(s)]


def test_long_division_is_exact() -> None:
    rng = np.random.default_rng(5)
    b = (rng.integers(1 << 26, 1 << 27, 4000) << 5).astype(np.uint32)
    b[:3] = (1 << 31, (1 << 32) - 32, (1 << 31) + 32)
    a = (rng.random(4000) * b).astype(np.uint32)
    a[3:6] = 0, 1, b[5] - 1

    def build(s: Script) -> tuple[Expr, ...]:
        digits, rest = long_division(s, s.params[0], s.params[1], 3)
        return (*digits, rest)

    for x, y, *found in zip(a.tolist(), b.tolist(), *outputs(build, a, b), strict=True):
        quotient, rest = divmod(x << 96, y)
        assert found == [quotient >> 64, quotient >> 32 & 0xFFFFFFFF, quotient & 0xFFFFFFFF, rest]


def test_roots_are_never_too_large_and_close() -> None:
    n = np.random.default_rng(6).integers(1 << 30, 1 << 32, 4000).astype(np.uint32)
    n[:3] = 1 << 30, (1 << 32) - 1, 1 << 31
    for x, high, low in zip(n.tolist(), *outputs(lambda s: root(s, s.params[0]), n), strict=True):
        found = high << 32 | low
        assert found**2 <= x << 96 < (found + 4) ** 2


def test_reciprocals_are_close() -> None:
    b = np.random.default_rng(7).integers(1 << 31, 1 << 32, 4000).astype(np.uint32)
    b[:2] = 1 << 31, (1 << 32) - 1
    low = np.random.default_rng(8).integers(0, 1 << 32, 4000).astype(np.uint32)
    found = outputs(lambda s: reciprocal(s, s.params), b, low)
    for x, y, high, rest in zip(b.tolist(), low.tolist(), *found, strict=True):
        error = Fraction(high << 32 | rest, 1 << 64) - Fraction(1 << 63, x << 32 | y)
        assert -8 <= error * 2**64 <= 2


def test_literals_keep_their_limbs() -> None:
    assert literal(0x1_00000002, 3) == (LitU32(0), LitU32(1), LitU32(2))
