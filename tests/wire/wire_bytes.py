"""Bytes made by hand, right or wrong, without the writer under test."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADER = b"\x89VYRE\r\n\x01"


def varint(value: int) -> bytes:
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def frame(payload: bytes) -> bytes:
    """A payload in a frame whose length and digest are right."""
    return HEADER + varint(len(payload)) + hashlib.sha256(payload).digest() + payload


def payload_of(data: bytes) -> bytes:
    """The payload of a well-formed frame."""
    pos = len(HEADER)
    while data[pos] > 127:
        pos += 1
    return data[pos + 1 + 32 :]


def counted(entries: Sequence[bytes]) -> bytes:
    return varint(len(entries)) + b"".join(entries)


def text(value: str) -> bytes:
    return varint(len(value.encode())) + value.encode()


def program_bytes(
    *,
    strings: Sequence[bytes] = (),
    workgroup: bytes = b"\x01\x01\x01",
    buffers: Sequence[bytes] = (),
    exprs: Sequence[bytes] = (),
    nodes: Sequence[bytes] = (),
    entry: Sequence[bytes] = (),
    tail: bytes = b"",
) -> bytes:
    """A framed program from raw table entries; the tags are those of `docs/wire-form.md`."""
    tables = counted(buffers) + counted(exprs) + counted(nodes) + counted(entry)
    return frame(counted(strings) + workgroup + tables + tail)


def lit(value: int) -> bytes:
    return b"\x01" + varint(value)


def add(left_back: int, right_back: int) -> bytes:
    return b"\x0b\x01" + varint(left_back) + varint(right_back)


def let(name: int, expr: int) -> bytes:
    return b"\x01" + varint(name) + varint(expr)


RETURN, BARRIER = b"\x06", b"\x08"
