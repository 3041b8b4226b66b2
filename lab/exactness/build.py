"""What the programs are made with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vyre.conform.generate.programs import GeneratedProgram
from vyre.ir.expr import Cast, Expr, InvocationId, Lane, LocalId
from vyre.ir.program import Program
from vyre.ir.types import LANE_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.node import Node

Builder = Callable[[], GeneratedProgram]
I = InvocationId(0)  # noqa: E741 - short, because it stands in every line
L = LocalId(0)


def case(
    buffers: Iterable[BufferDecl],
    size: Iterable[int],
    entry: Iterable[Node],
    grid: tuple[int, int, int] = (1, 1, 1),
    inputs: dict[str, bytes] | None = None,
    **more: bytes,
) -> GeneratedProgram:
    """A program with its inputs by buffer name."""
    return GeneratedProgram(0, Program(buffers, size, entry), {**(inputs or {}), **more}, grid)


def words(*values: int) -> bytes:
    return b"".join(v.to_bytes(4, "little") for v in values)


def words_of(value: Expr, t: DataType) -> list[Expr]:
    """A value as u32 words; F64 has none."""
    if t in LANE_TYPES:
        return [Lane(value, k) for k in range(t.lanes)]
    return [value if t is DataType.U32 else Cast(DataType.U32, value)]
