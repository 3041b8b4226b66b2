"""Numbers in text become the floats that Python and exact fractions say, on every backend."""

from __future__ import annotations

import random
import struct
from decimal import Decimal, getcontext
from fractions import Fraction

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
