"""Blocks that are packed are valid LZ4, the same on every backend, and about as small as those of lz4."""

from __future__ import annotations

import argparse
import inspect
import random
from itertools import pairwise
from typing import Any

import lz4.block as _lz4
import numpy as np
import pytest

import vyre
from vyre.conform.registry.engine.blocks import LZ4_PACKED
from vyre.errors import DispatchError
from vyre.library import decoding
from vyre.library.decoding import lz4_packing

lz4: Any = _lz4  # has no types
rng = random.Random(23)
SOURCE = inspect.getsource(argparse).encode()
TEXTS = [
    b"",
    b"a",
    *(b"x" * n for n in (4, 5, 11, 12, 13, 14, 17, 18, 19, 31, 32)),
    *(b"abcde" * 3 + b"z" * n for n in range(14)),
    *(rng.randbytes(n) for n in (14, 15, 16, 269, 270, 271, 524, 525, 526, 3000)),
    *(bytes(n) for n in (273, 274, 275, 529, 5000)),
    rng.randbytes(40) * 30,
    bytes(rng.choice(b"ab") for _ in range(2000)),
    rng.randbytes(400) + bytes(400) + rng.randbytes(400),
    SOURCE[:20_000],
]


def blocks_of(found: tuple[Any, Any]) -> list[bytes]:
    values, offsets = found
    return [values[a:b].tobytes() for a, b in pairwise(offsets)]


def unpacked(block: bytes, size: int) -> bytes:
    return lz4.decompress(block, uncompressed_size=size)


def sequences(block: bytes) -> list[tuple[int, int, int]]:
    """Of each sequence its literals, how far back its match lies, and the length of that; 0 for none."""

    def length(at: int, low: int) -> tuple[int, int]:
        while low >= 15 and (low == 15 or block[at - 1] == 255):
            low, at = low + block[at], at + 1
            if block[at - 1] < 255:
                break
        return low, at

    found, at = list[tuple[int, int, int]](), 0
    while True:
        token = block[at]
        literals, at = length(at + 1, token >> 4)
        at += literals
        if at == len(block):
            return [*found, (literals, 0, 0)]
        back = int.from_bytes(block[at : at + 2], "little")
        size, at = length(at + 2, token & 15)
        found.append((literals, back, size + 4))


def test_lz4_unpacks_what_was_packed(backend: str) -> None:
    blocks = blocks_of(decoding.encode_lz4(TEXTS, backend=backend))
    assert [unpacked(b, len(t)) for b, t in zip(blocks, TEXTS, strict=True)] == TEXTS


def test_the_bytes_are_those_of_the_same_search_in_plain_python(backend: str) -> None:
    for index, text in enumerate([SOURCE[:3000], rng.randbytes(900), b"abcabd" * 90]):
        inputs = {"input": np.frombuffer(text, np.uint8)}
        found = LZ4_PACKED.items(inputs, LZ4_PACKED.call(inputs, index, backend))
        assert np.array_equal(found, LZ4_PACKED.oracle(inputs, index))


def test_the_reference_gives_the_same() -> None:
    texts = [b"", b"abcabcabcabcabcabcabc", bytes(60)]
    found = decoding.encode_lz4(texts, backend="reference")
    assert blocks_of(found) == blocks_of(decoding.encode_lz4(texts, backend="cpu"))


def test_our_decoder_takes_the_pair(backend: str) -> None:
    values, offsets = decoding.encode_lz4(TEXTS, backend=backend)
    assert decoding.decode_lz4(values, offsets=offsets, backend=backend).checked() == TEXTS


def test_the_end_of_a_block_keeps_the_rules_of_fast_decoders() -> None:
    texts = [*TEXTS, *(b"ab" * 20 + bytes(n) for n in range(40)), *(b"q" * n for n in range(60))]
    for text, block in zip(texts, blocks_of(decoding.encode_lz4(texts, backend="cpu")), strict=True):
        *matches, (tail, _, _) = sequences(block)
        assert tail >= min(5, len(text))
        place = 0
        for literals, back, length in matches:
            place += literals
            assert 1 <= back <= min(place, 65_535)
            assert place <= len(text) - 12
            place += length
        assert place + tail == len(text)


def test_a_match_is_at_most_65535_bytes_back() -> None:
    """Places are kept modulo 2^16, so that one from 2^16 bytes ago looks as if it were here."""
    head = rng.randbytes(64)
    for gap in (65_471, 65_472, 65_473, 2 * 65_536 - 64):
        text = head + rng.randbytes(gap - 64 + 64) + head + b"." * 20
        (block,) = blocks_of(decoding.encode_lz4(text, backend="cpu"))
        assert unpacked(block, len(text)) == text
        assert all(back <= 65_535 for _, back, _ in sequences(block))


def test_a_long_text_of_zeros_is_one_match() -> None:
    (block,) = blocks_of(decoding.encode_lz4(bytes(1 << 20), backend="cpu"))
    assert sequences(block) == [(1, 1, (1 << 20) - 6), (5, 0, 0)]


def test_blocks_are_about_as_small_as_those_of_lz4() -> None:
    parts = [SOURCE[k : k + 65_536] for k in range(0, len(SOURCE), 65_536)]
    ours = len(decoding.encode_lz4(parts, backend="cpu")[0])
    theirs = sum(len(lz4.compress(p, store_size=False)) for p in parts)
    assert ours < 1.02 * theirs < 0.4 * len(SOURCE)


def test_what_cannot_be_packed_grows_by_a_byte_in_255_at_most() -> None:
    text = rng.randbytes(100_000)
    values, _ = decoding.encode_lz4(text, backend="cpu")
    assert len(text) < len(values) <= len(text) + len(text) // 255 + 16


def test_every_way_to_pass_messages() -> None:
    both: Any = np.frombuffer(b"one one one one one one two two two two two two ", np.uint8)
    expected = blocks_of(decoding.encode_lz4([both[:24].tobytes(), both[24:].tobytes()], backend="cpu"))
    assert blocks_of(decoding.encode_lz4(both, offsets=[0, 24, 48], backend="cpu")) == expected
    assert blocks_of(decoding.encode_lz4(both.reshape(2, 24), backend="cpu")) == expected
    held = vyre.to_device(both, backend="cpu")
    assert blocks_of(decoding.encode_lz4(held, offsets=[0, 24, 48])) == expected
    values, offsets = decoding.encode_lz4([], backend="cpu")
    assert (values.tolist(), offsets.tolist()) == ([], [0])


def test_what_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lz4_packing, "_MOST", 600)
    with pytest.raises(DispatchError, match=r"a block of 601 bytes is more than the 600 of LZ4"):
        decoding.encode_lz4([bytes(600), bytes(601)], backend="cpu")
    monkeypatch.setattr(lz4_packing, "MOST_BYTES", 1235)
    with pytest.raises(DispatchError, match=r"could take 1236 bytes, more than the 1235 of one call"):
        decoding.encode_lz4([bytes(600), bytes(600)], backend="cpu")
