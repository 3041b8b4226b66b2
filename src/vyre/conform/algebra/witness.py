"""The minimal counterexample of a law: the smallest operands at which it fails, and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.generate.shrink import Fails, shrink, weight
from vyre.conform.spec.evaluate import evaluate, holds
from vyre.conform.spec.satisfied import satisfied
from vyre.conform.spec.term import variables
from vyre.conform.spec.words import masks, split, to_bits
from vyre.semantics.domain import CONCRETE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.algebra.proof import Values
    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.term import Equation
    from vyre.semantics.arrays import Words


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
        return ~satisfied(equations, split(types, columns), len(columns[0]), lookup)

    allowed = masks(types)
    starts = [tuple(word for value in values for word in value), *_failing_edges(fails, len(allowed))]
    smallest = split(types, min((shrink(fails, s, masks=allowed) for s in starts), key=weight))
    failing = next(e for e in equations if not holds(e, CONCRETE, smallest, lookup))
    sides = [to_bits(evaluate(t, CONCRETE, smallest, lookup)) for t in (failing.lhs, failing.rhs)]
    return Counterexample(tuple(to_bits(v) for v in smallest), failing, *sides)


_EDGES = (0, 1, 2, 0x8000, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)


def _failing_edges(fails: Fails, words: int) -> list[tuple[int, ...]]:
    """The smallest failing combination of edges: a start that no solver's choice can change."""
    if not 0 < words <= 4:
        return []
    grid = sorted(product(_EDGES, repeat=words), key=weight)
    failed = fails(tuple(np.asarray(column, np.uint32) for column in zip(*grid, strict=True)))
    return [next(case for case, bad in zip(grid, failed, strict=True) if bad)] if failed.any() else []
