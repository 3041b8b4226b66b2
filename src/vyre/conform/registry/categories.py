"""How much of the whole registry composes (Category A) and how much is hardware (Category C).

The whole registry is every op that a program can call, those of installed packages included, and every
specified operation that is not an op of a registry: atomics, casts, conversions, lanes, loads and stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.compose.registry import default_registry
from vyre.conform.registry import specs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.op import Op


@dataclass(frozen=True, slots=True)
class Categories:
    """`composed` ops of Category A, and the ops of Category C with the different instructions behind them."""

    composed: int
    hardware: int
    instructions: int

    @property
    def total(self) -> int:
        return self.composed + self.hardware

    @property
    def share(self) -> float:
        """The share of Category A."""
        return self.composed / self.total

    def __str__(self) -> str:
        text = f"{self.share:.1%} of the registry is of Category A ({self.composed} of {self.total} ops)"
        if self.hardware == self.instructions:
            return f"{text}."
        once = self.composed / (self.composed + self.instructions)
        return (
            f"{text}; the {self.hardware} of Category C are {self.instructions} hardware instructions "
            f"in several widths or with several results ({once:.1%} with each counted once)."
        )


def categories(ops: Iterable[Op] | None = None) -> Categories:
    """Counted over `ops`, by default those of the default registry, and over the specs."""
    called = {op.id: op for op in (default_registry() if ops is None else ops)}
    hardware = [op for op in called.values() if op.category.value == "C"]
    # An instruction is an op of a registry or nothing, so only its own op tells of it.
    others = {s.id: s.category for s in specs() if s.category == "A"}
    found = {op.id: op.category.value for op in called.values()} | others
    instructions = {_instruction(op) for op in hardware}
    composed = sum(category == "A" for category in found.values())
    return Categories(composed, len(found) - composed, len(instructions))


def _instruction(op: Op) -> str:
    """What an op executes, whatever its width and whichever of several results it is."""
    unit, _, name = op.hardware.partition(".")
    if unit == "mma_f64":
        return f"{unit}.{name.partition('_')[0]}"
    return op.hardware.replace(f"subgroup{op.lanes}", "subgroup", 1)
