"""The hardest operands of F32 arithmetic, by class: each aims at one thing that float code gets wrong.

    classes("fma")[3].operand(0)       an op of (number, seed) that gives `a` of the class's cases

Operands are solved for, not searched: the inverse of an odd significand modulo 2^23 makes a product end in
any bits that one likes, so products, sums and quotients lie within a few units of the exact result's own last
place from a midpoint, or on it. A case is a pure function of its number and the seed, and the generators are
ops, so whatever runs ops can make its own operands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.floats.hardest.fused import FUSED
from lab.floats.hardest.parts import Source, random_bits, small_operands
from lab.floats.hardest.products import PRODUCTS
from lab.floats.hardest.quotients import QUOTIENTS
from lab.floats.hardest.sums import DIFFERENCES, SUMS

if TYPE_CHECKING:
    from lab.floats.hardest.parts import Maker
    from vyre.ir.op import Op

ARITHMETIC = ("add", "sub", "mul", "div", "fma")


@dataclass(frozen=True, slots=True)
class HardClass:
    """A kind of hard case of one operation; `make` gives its operands from random words."""

    operation: str
    name: str
    make: Maker

    @property
    def arity(self) -> int:
        return 3 if self.operation == "fma" else 2

    def operand(self, index: int) -> Op:
        """The op that gives operand `index` of a case from its number and the seed."""
        given = Source(f"cases.f32.{self.operation}.{'_'.join(self.name.split())}.{'abc'[index]}")
        return given.f.gives(self.make(given)[index])


def classes(operation: str) -> tuple[HardClass, ...]:
    """All classes of an operation of `ARITHMETIC`, in the order in which blocks of cases take turns."""
    return _CLASSES[operation]


def _listed(operation: str, makers: tuple[tuple[str, Maker], ...]) -> tuple[HardClass, ...]:
    arity = 3 if operation == "fma" else 2
    common = (("random bits", random_bits(arity)), ("subnormal operand", small_operands(arity)))
    return tuple(HardClass(operation, name, make) for name, make in (*makers, *common))


_MAKERS = {"add": SUMS, "sub": DIFFERENCES, "mul": PRODUCTS, "div": QUOTIENTS, "fma": FUSED}
_CLASSES = {operation: _listed(operation, makers) for operation, makers in _MAKERS.items()}
