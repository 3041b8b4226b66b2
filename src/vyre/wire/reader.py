"""From bytes to programs. Whatever the bytes are, the outcome is a program or a `WireError`.

Every accepted input is canonical: it is what `encode` writes for the program it holds.
"""

from __future__ import annotations

from typing import NamedTuple

from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.limits import MAX_BUFFERS, MAX_CONSTANT_BYTES, MAX_NODES, U32_MAX
from vyre.ir.program import Program
from vyre.wire.cursor import Cursor, refuse
from vyre.wire.frame import opened
from vyre.wire.layout import MAGIC, by_tag
from vyre.wire.tables import Table, build_exprs, build_nodes, scan_exprs, scan_nodes
from vyre.wire.tags import ACCESSES, TYPES

_ACCESSES = by_tag(ACCESSES.items())
_TYPES = by_tag(TYPES.items())


def decode(data: bytes | bytearray | memoryview) -> Program:
    """The program whose wire form `data` is; `WireError` for everything else."""
    with opened(data, MAGIC, "program") as cursor:
        checked = _check(cursor)
    return _build(cursor.data, checked)


class _Checked(NamedTuple):
    """A payload in which nothing is left to refuse but an entry that repeats another."""

    strings: list[str]
    workgroup_size: list[int]
    buffers: list[BufferDecl]
    exprs: Table
    nodes: Table
    entry: list[int]


def _check(cursor: Cursor) -> _Checked:
    strings = cursor.string_table(MAX_BUFFERS + MAX_NODES)
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
