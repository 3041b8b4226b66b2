"""Constant tables in LLVM IR: constants of the module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from vyre.lower.prepare import Prepared


def table(name: str) -> str:
    """The address of a constant table."""
    return f"@table_{name}"


def tables(prepared: Prepared) -> list[str]:
    """The definitions of the constant tables."""
    lines: list[str] = []
    for decl in prepared.buffers:
        if decl.access is BufferAccess.Constant:
            data = "".join(f"\\{byte:02X}" for byte in decl.data)
            kind = f"[{len(decl.data)} x i8]"
            lines.append(f'{table(decl.name)} = private unnamed_addr constant {kind} c"{data}", align 16')
    return lines
