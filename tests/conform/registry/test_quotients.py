"""Division of several words: Python's, the solvers', NumPy's and the one by bits are one division."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.conform.registry.library import quotients
from vyre.semantics.arrays import NUMPY
from vyre.semantics.domain import CONCRETE
from vyre.semantics.solvers import Answer, solve
from vyre.semantics.terms import SmtDomain
from vyre.semantics.words import to_bits

if TYPE_CHECKING:
    from collections.abc import Callable

EDGES = (0, 1, 2, 3, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)


def rows(count: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    rng = Random(f"quotients of {count} words")

    def words() -> tuple[int, ...]:
        used = rng.randrange(count + 1)
        drawn = [rng.choice(EDGES) if rng.randrange(2) else rng.getrandbits(32) for _ in range(used)]
        return (*drawn, *(0,) * (count - used))

    return [(words(), words()) for _ in range(200)]


@pytest.mark.parametrize("count", [2, 4])
def test_all_ways_divide_alike(count: int) -> None:
    for a, b in rows(count):
        x, y = to_bits(a), to_bits(b)
        wanted = (x // y, x % y) if y else (0, 0)
        assert tuple(map(to_bits, quotients.divided(CONCRETE, a, b))) == wanted
        assert tuple(map(to_bits, quotients.by_bits(CONCRETE, a, b))) == wanted


@pytest.mark.parametrize("count", [2, 4])
def test_arrays_divide_as_integers_do(count: int) -> None:
    cases = rows(count)
    a, b = (tuple(np.array([case[k][w] for case in cases], np.uint32) for w in range(count)) for k in (0, 1))
    for found, place in zip(quotients.divided(NUMPY, a, b), (0, 1), strict=True):
        for row, case in enumerate(cases):
            wanted = quotients.divided(CONCRETE, *case)[place]
            assert tuple(int(word[row]) for word in found) == wanted, case


@pytest.mark.parametrize("function", [quotients.divided, quotients.product])
@pytest.mark.parametrize("count", [2, 4])
def test_terms_of_solvers_are_the_integers(function: Callable[..., Any], count: int) -> None:
    d = SmtDomain()
    wrong: list[str] = []
    for a, b in rows(count)[:12]:
        terms = function(d, tuple(map(d.const, a)), tuple(map(d.const, b)))
        wanted = function(CONCRETE, a, b)
        pairs = zip(terms, wanted, strict=True) if function is quotients.divided else [(terms, wanted)]
        wrong += [
            f"(distinct {t.name} {d.const(w).name})" for ts, ws in pairs for t, w in zip(ts, ws, strict=True)
        ]
    assert solve(d.query(f"(or {' '.join(wrong)})")).answer is Answer.Unsat
