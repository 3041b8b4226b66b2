"""What the library takes as bytes and rows is taken as it is meant, or refused in a sentence."""

from __future__ import annotations

import hashlib
from array import array
from typing import Any, cast

import numpy as np
import pytest

from vyre.errors import DispatchError
from vyre.library import decoding, hashing

DATA = bytes(range(200))


@pytest.mark.parametrize(
    "given", [array("B", DATA), memoryview(DATA * 2)[::2], bytearray(DATA)], ids=lambda g: type(g).__name__
)
def test_memory_with_the_buffer_protocol_is_one_message(given: Any) -> None:
    assert bytes(hashing.sha256(given)) == hashlib.sha256(bytes(given)).digest()


def test_bytes_of_numpy_are_one_message() -> None:
    (name,) = np.array([b"long"])
    assert bytes(hashing.sha256(name)) == hashlib.sha256(b"long").digest()
    assert decoding.parse_integers(np.bytes_(b"123")).values == 123


def test_a_list_may_have_views_that_skip_bytes() -> None:
    view = memoryview(DATA)[::3]
    (found,) = hashing.sha256([view])
    assert bytes(found) == hashlib.sha256(bytes(view)).digest()


@pytest.mark.parametrize(
    "offsets",
    [
        np.array([0, 2**63 - 1, -(2**63), -1, 3]),  # differences of which wrap and are positive
        np.array([0, 2**64 - 1, 3], np.uint64),
        np.array([2**64 - 1, 3], np.uint64),
        [0, [1]],
        cast("Any", np.ma.array([0, 1, 3], mask=[False, True, False])),
    ],
    ids=["wrapping", "unsigned", "unsigned first", "ragged", "masked"],
)
def test_offsets_that_lie_are_refused(offsets: Any) -> None:
    with pytest.raises(DispatchError, match="offsets"):
        hashing.sha256(b"abc", offsets=offsets)


@pytest.mark.parametrize("key", [None, 5, np.zeros(3, np.uint8), "k", ["k"]], ids=lambda k: type(k).__name__)
def test_a_key_that_is_not_bytes_is_refused(key: Any) -> None:
    with pytest.raises(DispatchError, match=r"a key is .*, not bytes"):
        hashing.hmac_sha256(key, b"abc")


def test_a_view_is_one_key() -> None:
    assert (hashing.hmac_sha256(memoryview(b"k"), b"abc") == hashing.hmac_sha256(b"k", b"abc")).all()


def test_only_text_is_to_be_encoded() -> None:
    with pytest.raises(DispatchError, match=r"messages\[0\] is int, not bytes. Fix: pass bytes"):
        hashing.crc32([1, 2])
    with pytest.raises(DispatchError, match=r"messages\[0\] is str, not bytes. Fix: encode"):
        hashing.crc32(["a"])


@pytest.mark.parametrize("given", [[b"ab"], [1, 2], [1, [2]]], ids=["bytes", "numbers", "ragged"])
def test_a_list_where_one_message_belongs_is_refused(given: Any) -> None:
    with pytest.raises(DispatchError, match="data is list, not bytes"):
        decoding.encode_hex(given)


def test_masked_bytes_and_rows_are_refused() -> None:
    with pytest.raises(DispatchError, match="masked"):
        hashing.crc32(np.ma.array(np.zeros(2, np.uint8), mask=[True, False]))
    with pytest.raises(DispatchError, match="masked"):
        decoding.print_integers(np.ma.array([1, 2], mask=[True, False]))


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_floats_in_another_order_of_bytes_are_printed_by_value(kind: str) -> None:
    text, offsets = decoding.print_floats(np.array([1.5, -2.25], f">{kind}"))
    assert bytes(text) == b"1.5-2.25"
    assert offsets.tolist() == [0, 3, 8]


def test_rows_in_another_order_of_bytes_are_encoded_by_value() -> None:
    numbers = np.array([300, 300, 2, 65_536])
    signed, unsigned = numbers.astype(">i4"), numbers.astype(">u4")
    assert decoding.encode_zigzag(signed).tolist() == (numbers * 2).tolist()
    assert decoding.encode_delta(signed).tolist() == [300, 0, -298, 65_534]
    assert decoding.decode_delta(unsigned).tolist() == numbers.cumsum().tolist()
    assert [found.tolist() for found in decoding.encode_runs(unsigned)] == [[300, 2, 65_536], [2, 1, 1]]
    packed = decoding.pack_bits(unsigned, 17).checked()
    assert decoding.unpack_bits(packed.astype(">u4"), 4, 17).checked().tolist() == numbers.tolist()
    assert decoding.encode_utf8(unsigned).checked().tobytes().decode() == "ĬĬ\x02\U00010000"


def test_a_number_of_bits_that_is_none_is_refused() -> None:
    with pytest.raises(DispatchError, match="varints"):
        decoding.decode_varint(b"a", bits=[64])  # pyright: ignore[reportArgumentType]
