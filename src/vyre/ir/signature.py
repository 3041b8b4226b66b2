"""Calling contracts: the types of an op, and the convention between host and operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.types import DataType


@dataclass(frozen=True, slots=True)
class V1:
    """Input (read), output (read_write), params (uniform)."""


@dataclass(frozen=True, slots=True)
class V2:
    """V1 plus a lookup table (read) at `lookup_binding`."""

    lookup_binding: int


Convention = V1 | V2


@dataclass(frozen=True, slots=True)
class OpSignature:
    """Input types and output type of an operation."""

    inputs: tuple[DataType, ...]
    output: DataType

    def min_input_bytes(self) -> int:
        """Bytes that one value of each input takes together."""
        return sum(t.min_bytes() for t in self.inputs)
