"""Hashes and checksums are those of the libraries that people trust, on every backend."""

from __future__ import annotations

import hashlib
import hmac
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre.errors import DispatchError
from vyre.library import hashing

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(17)
LENGTHS = (
    0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1023,
    1024, 1025, 2048, 2049, 3072, 4095, 4096, 4097, 5121, 8193, 20_000,
)  # fmt: skip
MESSAGES = [rng.bytes(n) for n in LENGTHS]
FEW = [b"", b"a", b"message digest"]


def crc32c(message: bytes) -> int:
    """Bit by bit."""
    found = 0xFFFFFFFF
    for byte in message:
        found ^= byte
        for _ in range(8):
            found = (found >> 1) ^ (0x82F63B78 if found & 1 else 0)
    return found ^ 0xFFFFFFFF


def fnv(message: bytes, bits: int) -> int:
    found, prime = (0x811C9DC5, 0x01000193) if bits == 32 else (0xCBF29CE484222325, 0x100000001B3)
    for byte in message:
        found = (found ^ byte) * prime % (1 << bits)
    return found


def sha256(message: bytes) -> bytes:
    return hashlib.sha256(message).digest()


def hexadecimal(found: Any) -> list[str]:
    return [bytes(row).hex() for row in np.asarray(found)]


def test_digests_are_those_of_hashlib(backend: str) -> None:
    assert hexadecimal(hashing.sha256(MESSAGES, backend=backend)) == [sha256(m).hex() for m in MESSAGES]


def test_workgroups_of_long_and_of_short_messages(backend: str) -> None:
    """One goes on for its longest message, and messages that ended before keep their digests."""
    messages = [rng.bytes(n % 7 if n < 64 else n) for n in range(140)]
    messages[3] = rng.bytes(500)
    assert hexadecimal(hashing.sha256(messages, backend=backend)) == [sha256(m).hex() for m in messages]


@pytest.mark.parametrize("size", [0, 20, 63, 64, 65, 200])
def test_codes_are_those_of_hmac(size: int, backend: str) -> None:
    key = rng.bytes(size)
    expected = [hmac.new(key, m, "sha256").hexdigest() for m in MESSAGES]
    assert hexadecimal(hashing.hmac_sha256(key, MESSAGES, backend=backend)) == expected


def test_each_message_may_have_a_key_of_its_own() -> None:
    keys = [rng.bytes(3 * n) for n in range(len(MESSAGES))]
    expected = [hmac.new(k, m, "sha256").hexdigest() for k, m in zip(keys, MESSAGES, strict=True)]
    assert hexadecimal(hashing.hmac_sha256(keys, MESSAGES)) == expected
    with pytest.raises(DispatchError, match="2 keys for 3 messages"):
        hashing.hmac_sha256(keys[:2], FEW)


@pytest.mark.parametrize("key", [None, bytes(range(32))])
def test_trees_are_those_of_blake3(key: bytes | None, backend: str) -> None:
    theirs: Any = pytest.importorskip("blake3")
    expected = [theirs.blake3(m, key=key).hexdigest() for m in MESSAGES]
    assert hexadecimal(hashing.blake3(MESSAGES, key=key, backend=backend)) == expected


def test_published_digests() -> None:
    """The examples of FIPS 180-4 and RFC 4231, and the first of BLAKE3's."""
    two = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    assert hexadecimal(hashing.sha256([b"abc", two])) == [
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ]
    code = hashing.hmac_sha256(b"Jefe", b"what do ya want for nothing?")
    assert bytes(code).hex() == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    assert bytes(hashing.blake3(b"")).hex() == empty


def test_checksums_are_those_of_zlib_and_of_the_definition(backend: str) -> None:
    assert hashing.crc32(MESSAGES, backend=backend).tolist() == [zlib.crc32(m) for m in MESSAGES]
    assert hashing.crc32c(MESSAGES, backend=backend).tolist() == [crc32c(m) for m in MESSAGES]
    assert int(hashing.crc32c(b"123456789", backend=backend)) == 0xE3069283


@pytest.mark.parametrize("seed", [0, 1, 0xFFFFFFFF])
def test_xxhash_is_that_of_xxhash(seed: int, backend: str) -> None:
    theirs: Any = pytest.importorskip("xxhash")
    wide = seed << 32 | 7
    found = hashing.xxh32(MESSAGES, seed=seed, backend=backend)
    assert found.tolist() == [theirs.xxh32_intdigest(m, seed) for m in MESSAGES]
    found = hashing.xxh64(MESSAGES, seed=wide, backend=backend)
    assert found.tolist() == [theirs.xxh64_intdigest(m, wide) for m in MESSAGES]


def test_fnv_is_that_of_its_definition(backend: str) -> None:
    for bits, function in ((32, hashing.fnv1a_32), (64, hashing.fnv1a_64)):
        assert function(MESSAGES, backend=backend).tolist() == [fnv(m, bits) for m in MESSAGES]


def test_whole_parts_of_checksums_at_any_place(backend: str) -> None:
    data = rng.bytes(4 * 8192 + 3)
    ends = np.array([0, 8192, 8193, 16_385, 24_578, 4 * 8192 + 3])
    expected = [zlib.crc32(data[a:b]) for a, b in pairwise(ends)]
    assert hashing.crc32(data, offsets=ends, backend=backend).tolist() == expected


def test_the_reference_gives_the_same() -> None:
    short = [b"", b"abc", rng.bytes(70)]
    assert hexadecimal(hashing.sha256(short, backend="reference")) == [sha256(m).hex() for m in short]
    assert hashing.crc32(short, backend="reference").tolist() == [zlib.crc32(m) for m in short]
    for function in (hashing.blake3, hashing.xxh32, hashing.xxh64, hashing.fnv1a_32, hashing.fnv1a_64):
        assert (function(short, backend="reference") == function(short)).all()


def test_every_way_to_pass_messages_is_the_same(backend: str) -> None:
    rows = rng.integers(0, 256, (12, 20), dtype=np.uint8)
    expected = [sha256(bytes(r)).hex() for r in rows]
    device = vyre.to_device(rows, backend=backend)
    ends = np.arange(13) * 20
    ways: list[Callable[[], Any]] = [
        lambda: hashing.sha256(rows, backend=backend),
        lambda: hashing.sha256([bytes(r) for r in rows], backend=backend),
        lambda: hashing.sha256(rows.tobytes(), offsets=ends, backend=backend),
        lambda: hashing.sha256(rows.reshape(-1), offsets=ends, backend=backend),
        lambda: hashing.sha256(device).numpy(),
        lambda: hashing.sha256(device, offsets=ends).numpy(),
    ]
    for way in ways:
        found = way()
        assert found.shape == (12, 32)
        assert hexadecimal(found) == expected
    one = hashing.sha256(rows[0], backend=backend)
    assert one.shape == (32,)
    assert bytes(one).hex() == expected[0]
    odd = vyre.to_device(rows[0, :7], backend=backend)
    assert bytes(hashing.sha256(odd).numpy()) == sha256(bytes(rows[0, :7]))


def test_a_gap_before_the_first_message_and_after_the_last_is_left_out() -> None:
    text = b"--one.two--"
    assert hashing.crc32(text, offsets=[2, 5, 5, 9]).tolist() == [
        zlib.crc32(b"one"), zlib.crc32(b""), zlib.crc32(b".two"),
    ]  # fmt: skip


def test_no_messages_have_no_digests() -> None:
    assert hashing.sha256([]).shape == (0, 32)
    assert hashing.blake3([]).shape == (0, 32)
    assert hashing.crc32([]).shape == (0,)


@pytest.mark.parametrize(
    ("messages", "offsets", "said"),
    [
        ("text", None, "is text"),
        (None, None, "messages is NoneType, not bytes"),
        (5, None, "messages is int, not bytes"),
        (["a", "b"], None, r"messages\[0\] is str"),
        (np.zeros(3, np.uint32), None, "uint32, not uint8"),
        (np.zeros((1, 1, 1), np.uint8), None, "3 dimensions"),
        (b"abc", [0, 4], "do not ascend"),
        (b"abc", [2, 1], "do not ascend"),
        (b"abc", [-1, 1], "do not ascend"),
        (b"abc", [0.0, 1.0], "one-dimensional array of integers"),
        ([b"abc"], [0, 1], "takes no offsets"),
    ],
)
def test_what_is_no_message_is_refused(messages: Any, offsets: Any, said: str) -> None:
    with pytest.raises(DispatchError, match=said) as raised:
        hashing.crc32(messages, offsets=offsets)
    assert raised.value.fix


def test_seeds_and_keys_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DispatchError, match="more than 32 bits"):
        hashing.xxh32(FEW, seed=1 << 32)
    with pytest.raises(DispatchError, match="16 bytes, not 32"):
        hashing.blake3(FEW, key=bytes(16))
    with pytest.raises(DispatchError, match="seed is 'x', a value of str"):
        hashing.xxh64(FEW, seed="x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(DispatchError, match=r"stream is 0\.5"):
        hashing.philox_u32(3, seed=1, stream=0.5)  # pyright: ignore[reportArgumentType]
    for key in ("k" * 32, 7):
        with pytest.raises(DispatchError, match=r"a key is (str|int), not bytes"):
            hashing.blake3(FEW, key=key)  # pyright: ignore[reportArgumentType]
    with pytest.raises(DispatchError, match="a key is str, not bytes"):
        hashing.hmac_sha256("key", FEW)  # pyright: ignore[reportArgumentType]
