"""Floats read and printed are those of Python, NumPy and exact fractions, on every backend."""

from __future__ import annotations

import random
import struct
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from vyre.errors import DispatchError
from vyre.library import decoding

source = random.Random(31)
getcontext().prec = 1200

HARD = [
    "0", "-0", "1", "-2.25", ".5", "5.", "+1.5", "0.1", "1e22", "1e23", "1E-5", "9007199254740993",
    "16777217", "9007199254740992.5", "16777216.5", "1.7976931348623157e308", "1.7976931348623158e308",
    "1.8e308", "1e309", "1.7976931348623159e308", "1e99999999", "1e-99999999", "0e999", "4.9e-324",
    "2.5e-324", "1e-323", "1e-400", "2.4703282292062327e-324", "2.4703282292062328e-324",
    "2.2250738585072011e-308", "2.2250738585072012e-308", "3.4028235e38", "3.4028236e38",
    "3.4028235677973366e38", "1e-45", "7e-46", "7.006492321624085e-46", "0.000", "1" + "0" * 300,
    "0." + "0" * 300 + "1", "9" * 900, "0." + "9" * 1000, "1" + "0" * 900 + "e-900",
]  # fmt: skip


def drawn(count: int) -> list[str]:
    """Floats as they are printed, numbers of any digits, and numbers half way between two floats."""
    texts: list[str] = []
    for _ in range(count):
        bits = source.getrandbits(64) & ~(1 << 62) if source.random() < 0.5 else source.getrandbits(62)
        number: float = struct.unpack("d", struct.pack("Q", bits))[0]
        digits = [source.randrange(10 ** source.randint(1, 30)) for _ in range(2)]
        texts += [repr(number), f"{digits[0]}.{digits[1]}e{source.randint(-60, 60)}"]
        small = np.float32(source.random() * 10.0 ** source.randint(-40, 37))
        above = np.nextafter(small, np.float32(np.inf))
        half = (Decimal(float(small)) + Decimal(float(above))) / 2
        texts += [str(half), str(half + Decimal(10) ** (half.adjusted() - 300))]
    for power in (-1074, -1075, -1022, -149, -150):
        texts += [str(Decimal(2) ** power), str(Decimal(2) ** power * 3 / 2)]
    return texts


def single(text: str) -> np.float32:
    """The nearest float32, by fractions."""
    number = Fraction(Decimal(text))
    sign = -1.0 if text.startswith("-") else 1.0
    size = abs(number)
    if size >= Fraction(2) ** 128:
        return np.float32(sign * np.inf)
    exponent = -126
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - 23)
    found = float(round(size / unit) * unit)
    return np.float32(sign * (found if found < 2.0**128 else np.inf))


def test_doubles_are_those_of_python(backend: str) -> None:
    texts = HARD + drawn(200 if backend == "cpu" else 30)
    found = decoding.parse_floats([t.encode() for t in texts], backend=backend)
    assert (found.errors == -1).all()
    for text, value in zip(texts, found.values.tolist(), strict=True):
        assert struct.pack("d", value) == struct.pack("d", float(text)), text


def test_singles_are_rounded_once(backend: str) -> None:
    texts = [t for t in HARD + drawn(60 if backend == "cpu" else 10) if "e99" not in t and "e-99" not in t]
    found = decoding.parse_floats([t.encode() for t in texts], dtype=np.float32, backend=backend)
    assert found.values.dtype == np.float32
    for text, value in zip(texts, found.values, strict=True):
        assert value.tobytes() == single(text).tobytes(), text


WRONG = {
    "": 0, "-": 1, ".": 1, "1x": 1, "1.2.3": 3, "1e": 2, "1e+": 3, "1e5x": 3, "e5": 0, " 1": 0, "+-1": 1,
    "nan": 0, "1_0": 1, "0x1": 1,
}  # fmt: skip


def test_what_is_no_number_has_a_place(backend: str) -> None:
    found = decoding.parse_floats([t.encode() for t in WRONG], backend=backend)
    assert dict(zip(WRONG, found.errors.tolist(), strict=True)) == WRONG
    assert not found.values.any()


def test_one_text_is_one_number() -> None:
    found = decoding.parse_floats(b"2.5")
    assert (float(found.values), int(found.errors)) == (2.5, -1)
    with pytest.raises(DispatchError, match="float16 are not parsed"):
        decoding.parse_floats(b"1", dtype=np.float16)


EDGES = [
    0.0, -0.0, 1.0, -1.5, 0.1, 0.3, 100.0, 1e15, 1e16, 9999999999999998.0, 1e22, 1e23, 5e-324, 1e-323,
    2.0**-44, 2.2250738585072014e-308, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan"),
    0.0001, 1e-05, 123456789012345680.0, 0.00012345, 1e100, 123.456,
]  # fmt: skip


def texts_of(values: Any, backend: str) -> list[str]:
    data, offsets = decoding.print_floats(values, backend=backend)
    return [bytes(data[start:end]).decode() for start, end in pairwise(offsets.tolist())]


def test_doubles_are_printed_as_python_prints_them(backend: str) -> None:
    count = 400 if backend == "cpu" else 40
    numbers = EDGES + [2.0**k for k in range(-1074, 1024, 13)]
    numbers += [struct.unpack("d", source.randbytes(8))[0] for _ in range(count)]
    numbers += [round(source.random() * 1000, source.randint(0, 6)) for _ in range(count)]
    assert texts_of(np.array(numbers), backend) == [repr(x) for x in numbers]


def shortest(number: np.float32) -> str:
    """NumPy's digits in the form of Python's."""
    if not np.isfinite(number) or number == 0:
        return repr(float(number))
    mantissa, power = np.format_float_scientific(number, unique=True, trim="-").split("e")
    digits, point = mantissa.lstrip("-").replace(".", ""), int(power) + 1
    sign = "-" if number < 0 else ""
    if point <= -4 or point > 16:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{rest}e{point - 1:+03d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"


def test_singles_are_printed_with_their_own_digits(backend: str) -> None:
    powers = np.float32(2) ** np.arange(-149, 128, 3, dtype=np.float32)
    drawn = np.frombuffer(source.randbytes(1600), np.float32)
    values = np.concatenate(
        [np.array([0, 0.1, 0.3, 16777216, 1e-45, 3.4028235e38], np.float32), powers, drawn]
    )
    assert texts_of(values, backend) == [shortest(x) for x in values]


def test_what_is_printed_reads_back() -> None:
    values = np.frombuffer(source.randbytes(8 * 500), np.float64)
    values = values[np.isfinite(values)]
    data, offsets = decoding.print_floats(values)
    assert decoding.parse_floats(data, offsets=offsets).values.tobytes() == values.tobytes()
    assert decoding.print_floats(values[:0])[1].tolist() == [0]
    with pytest.raises(DispatchError, match="the type int64 and the shape"):
        decoding.print_floats(np.arange(3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_exponent_makes_up_for_as_many_zeros(dtype: type[np.generic]) -> None:
    """Beyond a hundred thousand, where it was cut off once."""
    many = 150_000
    texts = [b"0." + b"0" * many + b"25e%d" % (many + 1), b"25" + b"0" * many + b"e-%d" % (many + 1)]
    found = decoding.parse_floats(texts, dtype=dtype)
    assert found.values.tolist() == [2.5, 2.5]
    assert decoding.parse_floats([b"1e4000000000", b"1e-99999999999999999999"]).values.tolist() == [
        np.inf,
        0.0,
    ]
