"""The words and symbols of the text form, in one table for the printer and the parser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import AtomicOp, BinaryOp, ReduceOrder, UnaryOp
from vyre.ir.types import WIDE_LITERAL_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION: Final = 1
"""The number in the first line, `vyre 1`."""

COMPARE_LEVEL: Final = 3
"""Comparisons share one level and do not chain."""

PREFIX_LEVEL: Final = 10
NUMBER_LEVEL: Final = 11
"""Bare numbers bind less than `.1`, because `5.1` would read as a decimal number."""
ATOM_LEVEL: Final = 12

INFIX: Final[Mapping[BinaryOp, tuple[str, int]]] = {
    op: (op.row.symbol, op.row.level) for op in sorted(BinaryOp, key=lambda op: op.row.level) if op.row.symbol
}
"""Symbol and binding level of the infix operators; a higher level binds tighter."""

PREFIX: Final[Mapping[UnaryOp, str]] = {op: op.row.symbol for op in UnaryOp if op.row.symbol}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _function(op: BinaryOp | UnaryOp) -> str:
    """`ReverseBits` is `reverse_bits`; float operators keep their letters together, `FIsNaN` is `fisnan`."""
    return op.value.lower() if op.row.is_float else _snake(op.value)


BINARY_FUNCTIONS: Final[Mapping[BinaryOp, str]] = {op: _function(op) for op in BinaryOp if op not in INFIX}
UNARY_FUNCTIONS: Final[Mapping[UnaryOp, str]] = {op: _function(op) for op in UnaryOp if op not in PREFIX}
ATOMIC_FUNCTIONS: Final[Mapping[AtomicOp, str]] = {op: f"atomic_{_snake(op.value)}" for op in AtomicOp}
REDUCE_FUNCTIONS: Final[Mapping[ReduceOrder, str]] = {
    ReduceOrder.Strict: "freduce_strict",
    ReduceOrder.TreeBinary: "freduce_tree",
}
LITERAL_FUNCTIONS: Final[Mapping[DataType, str]] = {
    t: t.value.lower() for t in DataType if t in WIDE_LITERAL_TYPES
}
ACCESS_WORDS: Final[Mapping[BufferAccess, str]] = {
    BufferAccess.ReadOnly: "readonly",
    BufferAccess.ReadWrite: "readwrite",
    BufferAccess.Uniform: "uniform",
    BufferAccess.Workgroup: "workgroup",
    BufferAccess.WorkgroupAtomic: "workgroup_atomic",
    BufferAccess.Private: "private",
    BufferAccess.Constant: "constant",
}
AXES: Final = "xyz"

GENERIC_FUNCTIONS: Final = frozenset(
    {"cast", "convert", "make", "approx", "freduce_strict", "freduce_tree", "freduce_approx"}
)
"""Functions with `<…>`; reserved, since `cast < a` could not be told from `cast<U32>(a)`."""

KEYWORDS: Final = GENERIC_FUNCTIONS | {
    "let",
    "if",
    "else",
    "for",
    "in",
    "block",
    "barrier",
    "return",
    "call",
    "true",
    "false",
    "invocation",
    "workgroup",
    "local",
}
"""Words that a name must be quoted to use."""

PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PLAIN_OP_ID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*(?:@[1-9][0-9]*)?")
_SHORT_ESCAPES: Final = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quote(text: str, mark: str) -> str:
    """`text` between two `mark`s on one line; what cannot be seen is written as `\\u{…}`."""
    parts = [mark]
    for char in text:
        if char == mark:
            parts.append("\\" + char)
        elif char in _SHORT_ESCAPES:
            parts.append(_SHORT_ESCAPES[char])
        elif char.isprintable():
            parts.append(char)
        else:
            parts.append(f"\\u{{{ord(char):X}}}")
    return "".join([*parts, mark])


def name_text(name: str) -> str:
    if PLAIN_NAME.fullmatch(name) and name not in KEYWORDS:
        return name
    return quote(name, "`")


def op_id_text(op_id: str) -> str:
    return op_id if PLAIN_OP_ID.fullmatch(op_id) else quote(op_id, "`")
