"""From bytes to programs. Whatever the bytes are, the outcome is a program or a `WireError`.

Every accepted input is canonical: it is what `encode` writes for the program it holds.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from vyre.errors import WireError
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.limits import MAX_BUFFERS, MAX_CONSTANT_BYTES, MAX_NODES, U32_MAX
from vyre.ir.program import Program
from vyre.wire.cursor import DAMAGED, NEWER, Cursor, refuse
from vyre.wire.layout import DIGEST_BYTES, MAGIC, VERSION, by_tag
from vyre.wire.tables import Table, build_exprs, build_nodes, scan_exprs, scan_nodes
from vyre.wire.tags import ACCESSES, TYPES

_ACCESSES = by_tag(ACCESSES.items())
_TYPES = by_tag(TYPES.items())


def decode(data: bytes | bytearray | memoryview) -> Program:
    """The program whose wire form `data` is; `WireError` for everything else."""
    raw = _as_bytes(data)
    try:
        checked = _check(Cursor(raw, _payload_start(raw)))
    except IndexError:
        message = "the bytes end in the middle of the program."
        raise WireError(message, fix=DAMAGED, offset=len(raw)) from None
    return _build(raw, checked)


def _as_bytes(data: bytes | bytearray | memoryview) -> bytes:
    if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        refuse(0, f"{type(data).__name__} is not bytes.", "pass bytes, a bytearray or a memoryview.")
    try:
        return bytes(data)
    except ValueError:
        refuse(0, "the memoryview has been released.", "pass one that is still open.")


def _payload_start(data: bytes) -> int:
    """Checks the frame around the payload: magic, version, length, digest."""
    if not data.startswith(MAGIC):
        offset = next(i for i in range(len(MAGIC)) if data[i : i + 1] != MAGIC[i : i + 1])
        if offset == len(data):
            refuse(offset, "the bytes end before the program begins.", DAMAGED)
        refuse(offset, "this is no wire form of a program.", f"pass bytes that begin with {MAGIC!r}.")
    version = data[len(MAGIC)]
    if version != VERSION:
        refuse(len(MAGIC), f"version {version} of the wire form is unknown; {VERSION} is known.", NEWER)
    cursor = Cursor(data, len(MAGIC) + 1)
    length = cursor.varint((1 << 63) - 1)
    start = cursor.pos + DIGEST_BYTES
    if len(data) < start + length:
        refuse(len(data), f"{start + length} bytes were promised, {len(data)} are here.", DAMAGED)
    if len(data) > start + length:
        refuse(start + length, f"{len(data) - start - length} bytes follow the program.", DAMAGED)
    if hashlib.sha256(memoryview(data)[start:]).digest() != data[cursor.pos : start]:
        refuse(cursor.pos, "the digest does not fit the payload, so a byte was changed.", DAMAGED)
    return start


class _Checked(NamedTuple):
    """A payload in which nothing is left to refuse but an entry that repeats another."""

    strings: list[str]
    workgroup_size: list[int]
    buffers: list[BufferDecl]
    exprs: Table
    nodes: Table
    entry: list[int]


def _check(cursor: Cursor) -> _Checked:
    strings = _read_strings(cursor)
    workgroup_size = [cursor.varint(U32_MAX) for _ in range(3)]
    buffers = [_read_buffer(cursor, strings) for _ in range(cursor.count("buffers", MAX_BUFFERS, "V040"))]
    tables = sum(len(b.data) for b in buffers)
    if tables > MAX_CONSTANT_BYTES:
        message = f"V050: {tables} bytes of constant tables, where the limit is {MAX_CONSTANT_BYTES}."
        refuse(cursor.pos, message, "pass a table as a buffer.")
    exprs = scan_exprs(cursor)
    nodes = scan_nodes(cursor, exprs)
    entry = _read_entry(cursor, nodes)
    if cursor.pos != len(cursor.data):
        refuse(cursor.pos, f"{len(cursor.data) - cursor.pos} bytes follow the entry list.")
    if cursor.used != len(strings):
        refuse(len(cursor.data), f"string {cursor.used} of the table is never used.")
    nodes.check_order(entry, "statement")
    exprs.check_order(nodes.roots, "expression")
    return _Checked(strings, workgroup_size, buffers, exprs, nodes, entry)


def _build(data: bytes, checked: _Checked) -> Program:
    strings, workgroup_size, buffers, exprs, nodes, entry = checked
    expressions = build_exprs(data, exprs, strings)
    exprs.check_unique(expressions, "expression")
    statements = build_nodes(data, nodes, expressions, strings)
    nodes.check_unique(statements, "statement")
    return Program(buffers, workgroup_size, [statements[i] for i in entry])


def _read_strings(cursor: Cursor) -> list[str]:
    count = cursor.count("strings", MAX_BUFFERS + MAX_NODES, "V019")
    strings: dict[str, None] = {}
    for index in range(count):
        start = cursor.pos
        strings[cursor.string()] = None
        if len(strings) == index:
            refuse(start, f"string {index} repeats an earlier one.")
    cursor.strings = count
    return list(strings)


def _read_buffer(cursor: Cursor, strings: list[str]) -> BufferDecl:
    name = strings[cursor.name()]
    access = cursor.tag(_ACCESSES, "an access")
    element = cursor.tag(_TYPES, "a type")
    binding = cursor.varint(U32_MAX + 1)
    count = cursor.varint(U32_MAX)
    data = b""
    if access is BufferAccess.Constant:
        data = cursor.raw(count * element.stride, "a constant table")
    return BufferDecl(name, binding - 1 if binding else None, access, element, count, data)


def _read_entry(cursor: Cursor, nodes: Table) -> list[int]:
    start = cursor.pos
    entry: list[int] = []
    size = 0
    for _ in range(cursor.count("entry statements", MAX_NODES, "V019")):
        offset = cursor.pos
        index = cursor.varint(MAX_NODES)
        if index >= len(nodes):
            refuse(offset, f"statement {index} of {len(nodes)} does not exist.")
        entry.append(index)
        size += nodes.sizes[index]
    if size > MAX_NODES:
        refuse(start, f"V019: {size} nodes, where the limit is {MAX_NODES}.", "split the program.")
    return entry
