"""What a host brings to a program: contents of buffers drawn from a seed, a grid, values as text."""

from __future__ import annotations

import struct
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from vyre.conform.generate.buffers import random_buffer
from vyre.ir.buffers import BufferAccess
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.ir.program import Program


def host_inputs(
    program: Program,
    given: Mapping[str, Any],
    *,
    seed: int,
    length: int,
    lengths: Mapping[str, int | tuple[str, ...]] = MappingProxyType({}),
) -> dict[str, bytes]:
    """Bytes for every storage and uniform buffer: what is given, else values that find faults.

    Given arrays are checked as for a dispatch (decision 15). Buffers named in `lengths` are made as
    a dispatch makes them: so long, and zeros.
    """
    from vyre.backends.host import bind

    drawn: dict[str, Any] = dict(given)
    for decl in program.buffers:
        if decl.access.bound and decl.name not in given and decl.name not in lengths:
            rng = drawing(seed, decl.name)
            drawn[decl.name] = random_buffer(rng, decl.element, decl.count or length)
    bound = bind(program, drawn, lengths=lengths, copy=True)
    return {name: bytes(view) for name, view in bound.views.items()}


def drawing(seed: int, name: str) -> Random:
    """Where the contents of what has this name come from: the same for a seed, whatever else is drawn."""
    return Random(f"vyre diff {seed} {name}")


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
    value = value_of(bits, t)
    return f"0x{bits:0{t.bits // 4}X}  {str(value).lower() if t is DataType.Bool else value}"


def value_of(bits: int, t: DataType) -> bool | int | float | tuple[int, ...]:
    """The value as its type reads it; lanes are a tuple."""
    match t:
        case DataType.I8 | DataType.I16 | DataType.I32 | DataType.I64:
            return bits - (1 << t.bits) if bits >> t.bits - 1 else bits
        case DataType.Bool:
            return bool(bits)
        case DataType.Vec2U32 | DataType.Vec4U32:
            return tuple((bits >> (32 * k)) & 0xFFFFFFFF for k in range(t.lanes))
        case DataType.F32:
            return struct.unpack("<f", bits.to_bytes(4, "little"))[0]
        case DataType.BF16:
            return struct.unpack("<f", (bits << 16).to_bytes(4, "little"))[0]
        case DataType.F16:
            return struct.unpack("<e", bits.to_bytes(2, "little"))[0]
        case DataType.F64:
            return struct.unpack("<d", bits.to_bytes(8, "little"))[0]
        case _:
            return bits
