"""The frame around a payload: magic, version, length, digest. Programs and graphs differ in their magic."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from vyre.errors import WireError
from vyre.sha import sha256
from vyre.wire.cursor import DAMAGED, NEWER, Cursor, refuse
from vyre.wire.layout import DIGEST_BYTES, GRAPH_MAGIC, MAGIC, VERSION, append_varint

if TYPE_CHECKING:
    from collections.abc import Generator

_LARGE = 1 << 20
"""Bytes from which the quicker digest is worth loading."""


def framed(magic: bytes, payload: bytearray) -> bytes:
    out = bytearray(magic)
    out.append(VERSION)
    append_varint(out, len(payload))
    out += _digest(payload)
    out += payload
    return bytes(out)


def _digest(payload: bytearray | memoryview) -> bytes:
    if len(payload) < _LARGE:
        return sha256(payload).digest()
    import hashlib  # slow to load, and quick for the weights of a model

    return hashlib.sha256(payload).digest()


@contextmanager
def opened(data: bytes | bytearray | memoryview, magic: bytes, what: str) -> Generator[Cursor]:
    """A cursor at the payload. Reading past the end inside is the `WireError` of a truncated input."""
    raw = _as_bytes(data)
    try:
        yield Cursor(raw, _payload_start(raw, magic, what))
    except IndexError:
        message = f"the bytes end in the middle of the {what}."
        raise WireError(message, fix=DAMAGED, offset=len(raw)) from None


def _as_bytes(data: bytes | bytearray | memoryview) -> bytes:
    if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        refuse(0, f"{type(data).__name__} is not bytes.", "pass bytes, a bytearray or a memoryview.")
    try:
        return bytes(data)
    except ValueError:
        refuse(0, "the memoryview has been released.", "pass one that is still open.")


def _payload_start(data: bytes, magic: bytes, what: str) -> int:
    """Checks the frame around the payload: magic, version, length, digest."""
    if not data.startswith(magic):
        offset = next(i for i in range(len(magic)) if data[i : i + 1] != magic[i : i + 1])
        if offset == len(data):
            refuse(offset, f"the bytes end before the {what} begins.", DAMAGED)
        for other, reader in ((MAGIC, "Program"), (GRAPH_MAGIC, "Graph")):
            if data.startswith(other):
                refuse(offset, f"this is the wire form of a {reader.lower()}.", f"use {reader}.from_wire.")
        refuse(offset, f"this is not the wire form of a {what}.", f"pass bytes that begin with {magic!r}.")
    version = data[len(magic)]
    if version != VERSION:
        refuse(len(magic), f"version {version} of the wire form is unknown; {VERSION} is known.", NEWER)
    cursor = Cursor(data, len(magic) + 1)
    length = cursor.varint((1 << 63) - 1)
    start = cursor.pos + DIGEST_BYTES
    if len(data) < start + length:
        refuse(len(data), f"{start + length} bytes were promised, {len(data)} are here.", DAMAGED)
    if len(data) > start + length:
        refuse(start + length, f"{len(data) - start - length} bytes follow the {what}.", DAMAGED)
    if _digest(memoryview(data)[start:]) != data[cursor.pos : start]:
        refuse(cursor.pos, "the digest does not fit the payload, so a byte was changed.", DAMAGED)
    return start
