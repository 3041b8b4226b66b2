"""The oracles of the float operations against MPFR, Arb and the reference interpreter."""

from __future__ import annotations

import importlib
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.conform.oracle.floats import functions
from vyre.conform.oracle.floats.decide import by_arb, by_mpfr, by_reference, decide, nearest_dyadic, value_of
from vyre.conform.oracle.floats.layout import LAYOUTS, doubles, nearest
from vyre.conform.oracle.floats.operands import operands, specials
from vyre.conform.oracle.floats.oracle import between, expected, from_integer, to_integer
from vyre.errors import VyreError
from vyre.ir.float_formats import BF16, F16, F32, FloatFormat
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

gmpy2: Any = importlib.import_module("gmpy2")
FORMATS = list(LAYOUTS.values())
ELEMENTARY = [op for op in functions.FUNCTIONS if op not in ("FPow", "FATan2")]


def words(*bits: int) -> NDArray[np.uint32]:
    return np.array(bits, np.uint32)


def sample(of: FloatFormat, arity: int, count: int = 700) -> tuple[NDArray[np.uint32], ...]:
    """Cases from all over the mixed inputs."""
    whole = operands(DataType(of.name), arity, 1 << 17)
    step = (1 << 17) // count
    return tuple(v[::step][:count] for v in whole)


def mpfr(of: FloatFormat, name: str, *cases: NDArray[np.uint32]) -> list[int]:
    rows: list[tuple[int, ...]] = list(zip(*(c.tolist() for c in cases), strict=True))
    return by_mpfr(name, of, rows)


@pytest.mark.parametrize("of", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize(("op", "arity"), [("FAdd", 2), ("FSub", 2), ("FMul", 2), ("FDiv", 2), ("FSqrt", 1)])
def test_arithmetic_is_that_of_mpfr(of: FloatFormat, op: str, arity: int) -> None:
    x = sample(of, arity)
    assert expected(op, of.name, *x).tolist() == mpfr(of, op, *x)


@pytest.mark.parametrize("of", FORMATS, ids=lambda f: f.name)
def test_the_fused_product_is_rounded_once(of: FloatFormat) -> None:
    x = sample(of, 3, 3000)
    assert expected("FMulAdd", of.name, *x).tolist() == mpfr(of, "Ffma", *x)


def test_a_fused_half_is_not_rounded_twice() -> None:
    """2^-5 (1 + 2^-10) * 2^-6 (1 - 2^-10) + 1 + 2^-10: through F32 it would be 0x3C02."""
    assert expected("FMulAdd", "F16", words(0x2801), words(0x23FE), words(0x3C01)).tolist() == [0x3C01]


@pytest.mark.parametrize("of", FORMATS, ids=lambda f: f.name)
def test_a_signalling_nan_is_any_other_nan(of: FloatFormat) -> None:
    """NumPy's halves keep the signal on some processors, and some C libraries then give NaN for `1**NaN`."""
    signalling = words(of.infinity + 1, of.infinity + 1 | of.sign)
    quiet_bit = np.uint64(1 << 51)
    assert (doubles(of, signalling).view(np.uint64) & quiet_bit).all()
    ones, zeros = words(of.one, of.one), words(0, of.sign)
    assert expected("FPow", of.name, ones, signalling).tolist() == [of.one, of.one]
    assert expected("FPow", of.name, signalling, zeros).tolist() == [of.one, of.one]


@pytest.mark.parametrize("of", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("op", functions.FUNCTIONS)
def test_functions_are_those_of_mpfr(of: FloatFormat, op: str) -> None:
    x = sample(of, 2 if op in ("FPow", "FATan2") else 1)
    assert expected(op, of.name, *x).tolist() == mpfr(of, op, *x)


@pytest.mark.parametrize("op", ELEMENTARY)
def test_open_cases_are_decided_alike(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide margin leaves many cases open; MPFR, Arb and the reference agree on them."""
    monkeypatch.setattr(functions, "MARGIN", 2.0**-30)
    x = operands(DataType.F32, 1, 1 << 14)[0]
    _, open_ = functions.filtered(op, F32, x)
    cases = [(int(v),) for v in x[open_][:40]]
    assert len(cases) >= 20
    found = by_mpfr(op, F32, cases)
    assert by_arb(op, F32, cases) == found
    assert by_reference(op, F32, cases[:8]) == found[:8]


def test_the_filter_leaves_open_what_it_cannot_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """With doubles beyond the margin the filter is wrong, and the comparison with MPFR shows it."""
    x = operands(DataType.F32, 1, 1 << 14)[0]
    right = by_mpfr("FExp", F32, [(int(v),) for v in x[::8]])

    def off_by(error: float) -> Callable[[Any], Any]:
        return lambda v: np.exp(v) * (1 + error)

    monkeypatch.setitem(functions.FUNCTIONS, "FExp", off_by(2.0**-25))
    assert expected("FExp", "F32", x[::8]).tolist() != right
    monkeypatch.setitem(functions.FUNCTIONS, "FExp", off_by(2.0**-46))
    assert expected("FExp", "F32", x[::8]).tolist() == right


def test_half_of_the_smallest_value_is_exact() -> None:
    """2^-150 lies between 0 and 2^-149, and no interval around it would ever decide."""
    tie = int.from_bytes(struct.pack("<f", -150.0), "little")
    above = tie - 1
    assert by_arb("FExp2", F32, [(tie,), (above,)]) == [0, 1]
    assert expected("FExp2", "F32", words(tie, above)).tolist() == [0, 1]


def test_without_libraries_the_reference_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(op: str, of: FloatFormat, cases: Any) -> list[int]:
        raise ImportError

    one = int.from_bytes(struct.pack("<f", 1.0), "little")
    wanted = by_mpfr("FExp", F32, [(one,)])
    for way in ("by_mpfr", "by_arb"):
        monkeypatch.setattr(f"vyre.conform.oracle.floats.decide.{way}", missing)
    assert decide("FExp", F32, [(one,)]) == wanted


@pytest.mark.parametrize("of", FORMATS, ids=lambda f: f.name)
def test_every_value_is_its_own_nearest(of: FloatFormat) -> None:
    bits = np.arange(1 << 16, dtype=np.uint32)
    bits = bits if of.width == 16 else bits * np.uint32(65537)
    numbers = bits[bits & np.uint32(of.magnitude) <= np.uint32(of.infinity)]
    assert (nearest(of, doubles(of, numbers)) == numbers).all()
    assert set(nearest(of, np.full(3, np.nan)).tolist()) == {of.nan}


@pytest.mark.parametrize("of", FORMATS, ids=lambda f: f.name)
def test_doubles_are_rounded_once(of: FloatFormat) -> None:
    """Doubles next to the middle of two neighbours: rounding through F32 first would lose the side."""
    bits = np.array([1, 2, 0x3C01 % of.infinity, of.one, of.one + 1, of.infinity - 1], np.uint32)
    low, high = doubles(of, bits), doubles(of, bits + np.uint32(1))
    high = np.where(np.isinf(high), 2 * low - doubles(of, bits - np.uint32(1)), high)
    middle = (low + high) / 2
    below, above = np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf)
    even = np.where(bits & 1 == 0, bits, bits + 1)
    assert nearest(of, middle).tolist() == even.tolist()
    assert nearest(of, below).tolist() == bits.tolist()
    assert nearest(of, above).tolist() == (bits + 1).tolist()


@pytest.mark.parametrize("of", FORMATS, ids=lambda f: f.name)
def test_dyadic_rounding_is_that_of_doubles(of: FloatFormat) -> None:
    rng = np.random.default_rng(3)
    bottom = 1 - of.bias - of.fraction_bits
    for _ in range(2000):
        size, exponent = int(rng.integers(-(1 << 40), 1 << 40)), int(rng.integers(bottom - 45, of.bias))
        value = np.array([size * 2.0**exponent])
        assert nearest_dyadic(of, size, exponent) == int(nearest(of, value)[0]) or size == 0


def test_integers_saturate_and_nan_is_zero() -> None:
    x = words(0x7FC00000, 0x4F000000, 0xCF000001, 0xBF800000, 0x3FC00000, 0x40200000, 0xBFC00000)
    assert to_integer("I32", "Nearest", "F32", x).tolist() == [
        *(0, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 2, 2, 0xFFFF_FFFE),
    ]
    assert to_integer("U32", "Truncate", "F32", x).tolist() == [0, 0x8000_0000, 0, 0, 1, 2, 0]
    assert to_integer("I32", "Floor", "F32", words(0xBF000000, 0x3F000000)).tolist() == [0xFFFF_FFFF, 0]
    assert to_integer("I32", "Ceil", "F16", words(0xB800, 0x3800)).tolist() == [0, 1]


def test_integers_become_floats() -> None:
    assert from_integer("U32", "F32", words(0xFFFF_FFFF, 0x0100_0001)).tolist() == [0x4F80_0000, 0x4B80_0000]
    assert from_integer("I32", "F32", words(0xFFFF_FFFF)).tolist() == [0xBF80_0000]
    assert from_integer("U32", "F16", words(65519, 65520)).tolist() == [0x7BFF, 0x7C00]


def test_casts_round_once() -> None:
    assert between("F32", "F16", words(0x477F_F000, 0x3380_0000, 0x3300_0000)).tolist() == [0x7C00, 1, 0]
    assert between("F32", "BF16", words(0x3F80_8000, 0x3F81_8000, 0x7F80_0001)).tolist() == [
        *(0x3F80, 0x3F82, 0x7FC0),
    ]
    assert between("F16", "F32", words(1, 0xFE01)).tolist() == [0x3380_0000, 0x7FC0_0000]


@pytest.mark.parametrize(
    ("op", "given", "wanted"),
    [
        ("FMin", (0x0000_0000, 0x8000_0000), 0x8000_0000),
        ("FMax", (0x8000_0000, 0x0000_0000), 0x0000_0000),
        ("FMin", (0x7F80_0001, 0x3F80_0000), 0x3F80_0000),
        ("FMax", (0xFFFF_FFFF, 0x7F80_0001), 0x7FC0_0000),
        ("FNe", (0x7FC0_0000, 0x7FC0_0000), 1),
        ("FLe", (0x8000_0000, 0x0000_0000), 1),
        ("FNeg", (0x7F80_0001,), 0xFF80_0001),
        ("FAbs", (0xFF80_0001,), 0x7F80_0001),
        ("FRound", (0x4020_0000,), 0x4000_0000),
        ("FCeil", (0xBF00_0000,), 0x8000_0000),
        ("FIsInf", (0xFF80_0000,), 1),
    ],
)
def test_decided_semantics(op: str, given: tuple[int, ...], wanted: int) -> None:
    assert expected(op, "F32", *(words(x) for x in given)).tolist() == [wanted]


def test_an_unknown_operator_is_an_error() -> None:
    with pytest.raises(VyreError, match="no oracle for FGamma"):
        expected("FGamma", "F32", words(1))


def test_values_of_bits() -> None:
    assert (value_of(F32, 0x3F800000), value_of(F16, 0x3C00), value_of(BF16, 0x3F80)) == (1.0, 1.0, 1.0)


def _share(chosen: NDArray[np.bool_]) -> float:
    return int(chosen.sum()) / chosen.size


@pytest.mark.parametrize("of", FORMATS, ids=lambda f: f.name)
def test_inputs_are_mixed(of: FloatFormat) -> None:
    a, b = operands(DataType(of.name), 2, 1 << 15)
    magnitude = np.uint32(of.magnitude)
    assert _share(a & magnitude < np.uint32(1 << of.fraction_bits)) > 0.1
    assert _share(a & magnitude > np.uint32(of.infinity)) > 0.003
    assert 0.4 < _share(a & np.uint32(of.sign) != 0) < 0.6
    assert _share((a ^ b) & magnitude < 8) > 0.1
    crossed = set(zip(a.tolist(), b.tolist(), strict=True))
    wanted = specials(of).tolist()
    assert all((x, y) in crossed for x in wanted for y in wanted)
    again = operands(DataType(of.name), 2, 1 << 15)
    assert (again[0] == a).all()
    assert (again[1] == b).all()
