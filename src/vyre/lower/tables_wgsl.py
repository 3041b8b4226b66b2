"""Constant tables in WGSL: words of the uniform that holds the hidden words.

Compilers copy an array constant wherever it is indexed (Mesa takes 15 seconds for 1,024 words), so the tables
are memory. Each begins at a multiple of 16 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.types import DataType
from vyre.lower.clike import lanes_of
from vyre.lower.packed_wgsl import PACKED, taken_from, word_of

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared


def table_bytes(prepared: Prepared) -> bytes:
    """All tables, one after the other."""
    return b"".join(_padded(b) for b in prepared.buffers)


def table_functions(prepared: Prepared, first: int) -> list[str]:
    """For each table `word_NAME`, which gives one word; `first` is where they begin, in units of 16 bytes."""
    lines: list[str] = []
    for decl in prepared.buffers:
        if decl.access is BufferAccess.Constant:
            word = f"hidden[{first}u + (w >> 2u)][w & 3u]"
            lines.append(f"fn word_{decl.name}(w: u32) -> u32 {{ return {word}; }}")
            first += len(_padded(decl)) // 16
    return lines


def element_of_table(decl: BufferDecl) -> str:
    """Element `i`, which is in bounds, as an expression."""
    word = f"word_{decl.name}"
    if decl.element in PACKED:
        return taken_from(f"{word}({word_of(decl.element)})", decl.element)
    lanes = lanes_of(decl.element)
    if lanes > 1:
        parts = ", ".join(f"{word}(i * {lanes}u + {lane}u)" for lane in range(lanes))
        return f"vec{lanes}<u32>({parts})"
    return f"select(0u, 1u, {word}(i) != 0u)" if decl.element is DataType.Bool else f"{word}(i)"


def _padded(decl: BufferDecl) -> bytes:
    return decl.data + bytes(-len(decl.data) % 16)
