"""Blocks of LZ4 unpack as the library `lz4` unpacks them, on every backend; a wrong one says where."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import lz4.block as _lz4
import numpy as np
import pytest

import vyre
from vyre.errors import VyreError
from vyre.library import decoding

lz4: Any = _lz4  # has no types
rng = random.Random(17)
TEXTS = [
    b"",
    b"a",
    b"abc" * 200,
    bytes(5000),
    rng.randbytes(3000),
    bytes(rng.choice(b"ab") for _ in range(2000)),
    rng.randbytes(15) + bytes(270) + rng.randbytes(270) + b"x" * 19,
    Path(__file__).read_bytes(),
]


def packed(text: bytes) -> bytes:
    return lz4.compress(text, store_size=False)


def unpacked(block: bytes) -> tuple[bytes, int]:
    """By the description of the format: what comes before the error, and its place or -1."""
    out, at = bytearray(), 0
    while True:
        begin = at
        try:
            token = block[at]
            at += 1
            literals, more = token >> 4, 255
            while token >> 4 == 15 and more == 255:
                more = block[at]
                literals, at = literals + more, at + 1
        except IndexError:
            return bytes(out), begin
        if len(block) - at < literals:
            return bytes(out), begin
        text, at = block[at : at + literals], at + literals
        if at == len(block):
            return bytes(out + text), -1
        if at + 2 > len(block):
            return bytes(out), begin
        offset, at = int.from_bytes(block[at : at + 2], "little"), at + 2
        if not 0 < offset <= len(out) + literals:
            return bytes(out), at - 2
        length, more = token & 15, 255
        try:
            while token & 15 == 15 and more == 255:
                more = block[at]
                length, at = length + more, at + 1
        except IndexError:
            return bytes(out), begin
        out += text
        for _ in range(length + 4):
            out.append(out[-offset])


def test_blocks_are_those_of_lz4(backend: str) -> None:
    found = decoding.decode_lz4([packed(t) for t in TEXTS], backend=backend)
    assert found.checked() == TEXTS
    assert found.offsets.tolist() == np.cumsum([0, *map(len, TEXTS)]).tolist()


def test_the_reference_gives_the_same() -> None:
    texts = [b"", b"abcabcabcabcabcabcabc", bytes(60)]
    assert decoding.decode_lz4([packed(t) for t in texts], backend="reference").checked() == texts


def damaged() -> list[bytes]:
    """Blocks cut short, with bytes changed, and random ones."""
    made = [
        b"",
        b"\x0f",
        b"\xf0",
        b"\x10a\x00\x00",
        b"\x10a\x02\x00",
        b"\x1fa\x01\x00",
        b"\xf0" + b"\xff" * 20,
    ]
    for text in TEXTS[:7]:
        block = packed(text[:400])
        for _ in range(30):
            changed = bytearray(block)
            changed[rng.randrange(len(changed))] = rng.randrange(256)
            made += [bytes(changed), block[: rng.randrange(len(block))]]
    return made + [rng.randbytes(rng.randrange(60)) for _ in range(200)]


def test_the_place_of_an_error(backend: str) -> None:
    blocks = damaged()
    found = decoding.decode_lz4(blocks, backend=backend)
    ends = found.offsets.tolist()
    got = [
        (found.values[a:b].tobytes(), int(e)) for a, b, e in zip(ends, ends[1:], found.errors, strict=False)
    ]
    assert got == [unpacked(b) for b in blocks]
    assert sum(place >= 0 for _, place in got) > 200
    assert sum(place < 0 for _, place in got) > 50


def test_what_lz4_takes_is_the_same() -> None:
    for block in damaged():
        try:
            expected = lz4.decompress(block, uncompressed_size=1 << 20)
        except lz4.LZ4BlockError:
            continue
        assert unpacked(block) == (expected, -1)


def test_every_way_to_pass_blocks() -> None:
    block = packed(b"one one one one one one one")
    whole: Any = np.frombuffer(block * 2, np.uint8)
    ends = [0, len(block), 2 * len(block)]
    texts = decoding.decode_lz4(whole, offsets=ends, backend="cpu").checked()
    assert texts == decoding.decode_lz4(block, backend="cpu").checked() * 2
    held = vyre.to_device(np.resize(whole, -(-len(whole) // 4) * 4), backend="cpu")
    assert decoding.decode_lz4(held, offsets=ends).checked() == texts
    assert decoding.decode_lz4([], backend="cpu").checked() == []


def test_an_error_is_raised_where_all_is_wanted() -> None:
    with pytest.raises(VyreError, match="block 1 cannot be decoded from byte 2 on"):
        decoding.decode_lz4([b"\x00", b"\x10a\x00\x00"], backend="cpu").checked()
