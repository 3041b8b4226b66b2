"""Every combination of declared boundary values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.generate.stream import CaseStream

if TYPE_CHECKING:
    from vyre.conform.spec.op import OpSpec

_DEFAULT = (0, 1, 0x8000_0000, 0xFFFF_FFFF)


def stream(spec: OpSpec, masks: tuple[int, ...]) -> CaseStream:
    """The product of the op's boundaries. A word beyond its operands takes those of the last operand."""
    tables = tuple(_values(spec, j, mask) for j, mask in enumerate(masks))
    length = 1
    for table in tables:
        length *= len(table)
    return CaseStream("boundary", masks, length=length, tables=tables)


def _values(spec: OpSpec, j: int, mask: int) -> tuple[int, ...]:
    declared = spec.boundaries[min(j, len(spec.boundaries) - 1)] if spec.boundaries else _DEFAULT
    return tuple(sorted({value & mask for value in declared}))
