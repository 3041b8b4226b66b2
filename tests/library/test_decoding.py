"""Decoders give what Python's give, stop where those stop, and undo their encoders, on every backend."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre.errors import DispatchError, VyreError
from vyre.library import decoding

if TYPE_CHECKING:
    from vyre.library.decoding import Decoded

rng = np.random.default_rng(23)
SIZES = (*range(26), 1000)

Found = tuple[int | None, list[int]]


def found(decoded: Decoded) -> Found:
    return decoded.error, decoded.values.tolist()


def test_hexadecimal_is_that_of_python(backend: str) -> None:
    for size in SIZES:
        data = rng.bytes(size)
        assert bytes(decoding.encode_hex(data, backend=backend)) == data.hex().encode()
        for text in (data.hex(), data.hex().upper()):
            assert found(decoding.decode_hex(text.encode(), backend=backend)) == (None, list(data))


def test_every_byte_that_is_no_digit_is_found(backend: str) -> None:
    for byte in range(256):
        text = b"00ab4" + bytes([byte]) + b"zz"
        digit = bytes([byte]) in b"0123456789abcdefABCDEF"
        expected = bytes.fromhex(text[:6].decode()) if digit else b"\x00\xab"
        assert found(decoding.decode_hex(text, backend=backend)) == (6 if digit else 5, list(expected))
    assert found(decoding.decode_hex(b"abc", backend=backend)) == (2, [0xAB])


@pytest.mark.parametrize("url", [False, True])
def test_base64_is_that_of_python(url: bool, backend: str) -> None:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    for size in SIZES:
        data = rng.bytes(size)
        text = encode(data)
        assert bytes(decoding.encode_base64(data, url=url, backend=backend)) == text
        assert found(decoding.decode_base64(text, url=url, backend=backend)) == (None, list(data))


def test_every_byte_that_is_no_base64_is_found(backend: str) -> None:
    for byte in range(256):
        text = b"QUJDQ" + bytes([byte]) + b"JD"
        try:
            expected: Found = (None, list(base64.b64decode(text, validate=True)))
        except binascii.Error:
            expected = (5, list(b"ABC"))
        assert found(decoding.decode_base64(text, backend=backend)) == expected


@pytest.mark.parametrize(
    ("text", "error", "before"),
    [
        (b"QQ==QQ==", 2, b""),
        (b"QQ=Q", 2, b""),
        (b"Q===", 1, b""),
        (b"QUJDQQ==\n", 6, b"ABC"),
        (b"QUI=Q", 3, b""),
        (b"====", 0, b""),
        (b"QUJDQ", 4, b"ABC"),
        (b"QUJDQU=", 4, b"ABC"),
        (b"QUJD\nUJD", 4, b"ABC"),
        (b"QR==", None, b"A"),
        (b"", None, b""),
    ],
)
def test_padding_belongs_at_the_end(text: bytes, error: int | None, before: bytes) -> None:
    assert found(decoding.decode_base64(text)) == (error, list(before))


def points_of(text: bytes) -> Found:
    try:
        return None, [ord(c) for c in text.decode()]
    except UnicodeDecodeError as error:
        return error.start, [ord(c) for c in text[: error.start].decode()]


EDGES = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
HEADS = [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF]
FOURS = [0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]


def test_utf8_stops_where_python_stops(backend: str) -> None:
    for turn in range(300 if backend == "cpu" else 40):
        valid = "".join(map(chr, rng.choice(EDGES, 6))).encode()
        wrong = bytes(rng.choice([*HEADS, *FOURS], int(rng.integers(0, 9))).astype(np.uint8))
        text = valid[: int(rng.integers(0, 20))] + wrong if turn % 3 else valid
        expected = points_of(text)
        assert found(decoding.decode_utf8(text, backend=backend)) == expected
        assert decoding.validate_utf8(text, backend=backend) == expected[0]


def test_every_second_byte_is_judged_as_by_python() -> None:
    for first in (0x80, *HEADS[7:], *FOURS):
        for second in range(256):
            text = bytes([first, second, 0x80, 0x80, 0x41])
            assert decoding.validate_utf8(text) == points_of(text)[0]


def test_code_points_become_what_python_makes_of_them(backend: str) -> None:
    points = np.array([*EDGES, 65, 0xE9, 0x20AC, 0x1F600], np.uint32)
    text = "".join(map(chr, points)).encode()
    assert found(decoding.encode_utf8(points, backend=backend)) == (None, list(text))
    for wrong in (0xD800, 0xDFFF, 0x110000, 0xFFFFFFFF):
        given = np.array([65, wrong, 66], np.uint32)
        assert found(decoding.encode_utf8(given, backend=backend)) == (1, [65])


def varints_of(data: bytes, bits: int) -> Found:
    """From left to right."""
    numbers: list[int] = []
    longest, largest = (5, 15) if bits == 32 else (10, 1)
    start = 0
    while start < len(data):
        number, count = 0, 0
        while True:
            if start + count == len(data):
                return start, numbers
            byte = data[start + count]
            if count + 1 == longest and byte > largest:
                return start + count, numbers
            number |= (byte & 127) << (7 * count)
            count += 1
            if byte < 128:
                break
        numbers.append(number)
        start += count
    return None, numbers


def test_varints_are_those_of_a_plain_loop(backend: str) -> None:
    choices = np.array([0, 1, 2, 15, 16, 127, 128, 143, 255], np.uint8)
    for turn in range(300 if backend == "cpu" else 40):
        odds = [1, 1, 1, 1, 1, 1, 2, 2, 4 + turn % 20]
        data = bytes(rng.choice(choices, int(rng.integers(0, 25)), p=np.array(odds) / sum(odds)))
        for bits in (32, 64):
            assert found(decoding.decode_varint(data, bits=bits, backend=backend)) == varints_of(data, bits)


def test_varints_are_as_short_as_can_be(backend: str) -> None:
    numbers = np.array([0, 1, 127, 128, (1 << 64) - 1, *(1 << k for k in range(64))], np.uint64)
    data = decoding.encode_varint(numbers, backend=backend)
    assert len(data) == sum(max(-(-int(n).bit_length() // 7), 1) for n in numbers)
    assert (decoding.decode_varint(data, backend=backend).checked() == numbers).all()
    small = numbers[numbers < 1 << 32].astype(np.uint32)
    data = decoding.encode_varint(small, backend=backend)
    assert (decoding.decode_varint(data, bits=32, backend=backend).checked() == small).all()


@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 100, 5000])
def test_rows_come_back(count: int, backend: str) -> None:
    bits = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    signed = bits.view(np.int32)
    zigzag = decoding.encode_zigzag(signed, backend=backend)
    assert zigzag.tolist() == [2 * v if v >= 0 else -2 * v - 1 for v in signed.tolist()]
    assert (decoding.decode_zigzag(zigzag, backend=backend) == signed).all()
    steps = decoding.encode_delta(signed, backend=backend)
    assert (steps == np.diff(signed, prepend=np.int32(0))).all()
    assert (decoding.decode_delta(steps, backend=backend) == signed).all()
    row = rng.integers(0, 2, count, dtype=np.uint32)
    values, lengths = decoding.encode_runs(row, backend=backend)
    assert (np.repeat(values, lengths) == row).all()
    assert (values[1:] != values[:-1]).all()
    assert (decoding.decode_runs(values, lengths, backend=backend) == row).all()
    often = rng.integers(0, 3, count, dtype=np.uint32)
    assert (decoding.decode_runs(bits, often, backend=backend) == np.repeat(bits, often)).all()


@pytest.mark.parametrize("width", [1, 3, 7, 8, 13, 17, 31, 32])
def test_packed_bits_are_those_of_one_long_number(width: int, backend: str) -> None:
    for count in (0, 1, 32, 33, 101):
        row = rng.integers(0, 1 << width, count, dtype=np.uint32)
        whole = sum(int(v) << (width * i) for i, v in enumerate(row.tolist()))
        packed = decoding.pack_bits(row, width, backend=backend)
        assert packed.error is None
        assert packed.values.tobytes() == whole.to_bytes(-(-count * width // 32) * 4, "little")
        assert found(decoding.unpack_bits(packed.values, count, width, backend=backend)) == (
            None,
            row.tolist(),
        )


def test_what_does_not_fit_a_width_has_a_place() -> None:
    packed = decoding.pack_bits(np.array([1, 2, 3, 9, 1], np.uint32), 3)
    assert found(packed) == (3, [0b011_010_001])
    assert found(decoding.unpack_bits(packed.values, 11, 3)) == (10, [1, 2, 3, 0, 0, 0, 0, 0, 0, 0])


def test_the_reference_gives_the_same() -> None:
    text = "aé€😀".encode() + b"\x80"
    assert found(decoding.decode_utf8(text, backend="reference")) == points_of(text)
    assert found(decoding.decode_hex(b"0aFg", backend="reference")) == (3, [10])
    assert found(decoding.decode_base64(b"QUI=", backend="reference")) == (None, [65, 66])
    assert found(decoding.decode_varint(b"\xac\x02\x80", backend="reference")) == (2, [300])
    row = np.array([5, 5, 2], np.uint32)
    values, lengths = decoding.encode_runs(row, backend="reference")
    assert (values.tolist(), lengths.tolist()) == ([5, 2], [2, 1])


def test_bytes_may_be_on_a_device(backend: str) -> None:
    text = vyre.to_device(np.frombuffer(b"48656c6C6f21", np.uint8), backend=backend)
    assert bytes(decoding.decode_hex(text).checked()) == b"Hello!"
    text = vyre.to_device(np.frombuffer(b"SGk=", np.uint8), backend=backend)
    assert bytes(decoding.decode_base64(text).checked()) == b"Hi"


def test_an_error_can_be_raised() -> None:
    with pytest.raises(VyreError, match="from element 3 on"):
        decoding.decode_hex(b"0aFg").checked()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: decoding.decode_hex("00"), "text, not bytes"),
        (lambda: decoding.encode_utf8([65]), "the type int64 and the shape"),
        (lambda: decoding.encode_varint(np.zeros(1, np.int32)), "the type int32 and the shape"),
        (lambda: decoding.decode_varint(b"", bits=16), "16 bits"),
        (lambda: decoding.encode_zigzag(np.zeros(1, np.uint32)), "the type uint32 and the shape"),
        (lambda: decoding.pack_bits(np.zeros(1, np.uint32), 33), "width of 33"),
        (lambda: decoding.decode_runs(np.zeros(1, np.uint32), np.zeros(2, np.uint32)), "2 lengths for 1"),
        (lambda: decoding.pack_bits(np.zeros(1, np.uint32), "3"), "width is '3', a value of str"),  # pyright: ignore[reportArgumentType]
        (lambda: decoding.unpack_bits(np.zeros(1, np.uint32), -1, 3), "-1 elements cannot be unpacked"),
        (lambda: decoding.unpack_bits(np.zeros(1, np.uint32), 1.5, 3), "count is 1.5"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_cannot_be_taken_is_refused(call: Any, said: str) -> None:
    with pytest.raises(DispatchError, match=said) as raised:
        call()
    assert raised.value.fix
