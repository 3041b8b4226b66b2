"""The minimal counterexample of a law: the smallest operands at which it fails, and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.algebra.arrays import Words
from vyre.conform.generate.shrink import shrink
from vyre.conform.spec.domain import CONCRETE
from vyre.conform.spec.term import evaluate, holds, variables
from vyre.conform.spec.words import masks, split, to_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from vyre.conform.algebra.proof import Values
    from vyre.conform.spec.term import Equation, Lookup


@dataclass(frozen=True, slots=True)
class Counterexample:
    """`bits` of each variable, the equation that fails there, and the bits of its two sides."""

    bits: tuple[int, ...]
    equation: Equation
    left: int
    right: int


def minimal(equations: Sequence[Equation], values: Values, lookup: Lookup) -> Counterexample:
    """Shrinks a counterexample over all operands and replays it on plain integers."""
    types = [v.type for v in variables(equations)]

    def fails(columns: tuple[Words, ...]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        from vyre.conform.algebra.checker import satisfied

        return ~satisfied(equations, split(types, columns), len(columns[0]), lookup)

    flat = tuple(word for value in values for word in value)
    smallest = split(types, shrink(fails, flat, masks=masks(types)))
    failing = next(e for e in equations if not holds(e, CONCRETE, smallest, lookup))
    sides = [to_bits(evaluate(t, CONCRETE, smallest, lookup)) for t in (failing.lhs, failing.rhs)]
    return Counterexample(tuple(to_bits(v) for v in smallest), failing, *sides)



