"""`EngineSpec`: what a program of several dispatches promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.ir.signature import V1, Convention

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.conform.spec.invariant import EngineInvariant
    from vyre.ir.program import Program
    from vyre.ir.types import DataType


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One step of an engine: a program, its grid, and which engine buffer each program buffer is."""

    program: Program
    workgroups: tuple[int, int, int]
    bindings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """An engine by its plan and its meaning.

    `plan(lengths)` lists the dispatches for inputs of these lengths (elements per buffer);
    `reference(inputs)` computes the outputs without any of them, on plain Python lists of bits.
    """

    id: str
    inputs: Mapping[str, DataType]
    outputs: Mapping[str, DataType]
    plan: Callable[[Mapping[str, int]], Sequence[Dispatch]]
    reference: Callable[[Mapping[str, Sequence[int]]], Mapping[str, Sequence[int]]]
    invariants: tuple[EngineInvariant, ...]
    doc: str
    scratch: Callable[[Mapping[str, int]], Mapping[str, tuple[DataType, int]]] | None = None
    """Buffers between the dispatches: element type and length, for inputs of these lengths."""
    convention: Convention = field(default_factory=V1)

    @property
    def version(self) -> int:
        return int(self.id.partition("@")[2] or 1)
