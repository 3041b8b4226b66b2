"""What a host brings to a program: contents of buffers drawn from a seed, a grid, values as text."""

from __future__ import annotations

import struct
from random import Random
from typing import TYPE_CHECKING, Any

from vyre.conform.generate.buffers import random_buffer
from vyre.ir.buffers import BufferAccess
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.ir.program import Program


def host_inputs(program: Program, given: Mapping[str, Any], *, seed: int, length: int) -> dict[str, bytes]:
    """Bytes for every storage and uniform buffer: what is given, else values that find faults.

    Given arrays are checked as for a dispatch (decision 15).
    """
    from vyre.backends.host import bind

    drawn: dict[str, Any] = dict(given)
    for decl in program.buffers:
        if decl.access.bound and decl.name not in given:
            rng = Random(f"vyre diff {seed} {decl.name}")
            drawn[decl.name] = random_buffer(rng, decl.element, decl.count or length)
    bound = bind(program, drawn, lengths={}, copy=True)
    return {name: bytes(view) for name, view in bound.views.items()}


def grid_for(
    program: Program, inputs: Mapping[str, bytes], workgroups: Sequence[int] | None
) -> tuple[int, int, int]:
    """The grid asked for, or the one that covers the longest ReadWrite buffer along x."""
    if workgroups is not None:
        x, y, z = (*workgroups, 1, 1)[:3]
        return x, y, z
    lengths = [
        len(inputs[b.name]) // b.element.stride for b in program.buffers if b.access is BufferAccess.ReadWrite
    ]
    return (-(-max(lengths, default=1) // program.workgroup_size[0]), 1, 1)


def value_text(bits: int, t: DataType) -> str:
    """The bits in hexadecimal, and the value as its type reads it."""
    return f"0x{bits:0{t.bits // 4}X}  {_typed(bits, t)}"


def _typed(bits: int, t: DataType) -> str:
    match t:
        case DataType.I8 | DataType.I16 | DataType.I32 | DataType.I64:
            return str(bits - (1 << t.bits) if bits >> t.bits - 1 else bits)
        case DataType.Bool:
            return "true" if bits else "false"
        case DataType.Vec2U32 | DataType.Vec4U32:
            return f"({', '.join(str((bits >> (32 * k)) & 0xFFFFFFFF) for k in range(t.lanes))})"
        case DataType.F32:
            return repr(struct.unpack("<f", bits.to_bytes(4, "little"))[0])
        case DataType.BF16:
            return repr(struct.unpack("<f", (bits << 16).to_bytes(4, "little"))[0])
        case DataType.F16:
            return repr(struct.unpack("<e", bits.to_bytes(2, "little"))[0])
        case DataType.F64:
            return repr(struct.unpack("<d", bits.to_bytes(8, "little"))[0])
        case _:
            return str(bits)
