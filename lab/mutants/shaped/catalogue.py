"""The shaped mutants of this house: every fault with several triggers, by a rule without chance.

A trigger is made from the levels of the features that a run tries: just past a level, between two, equal to
one, odd, modulo a power of two; alone, and two at once where the fault needs nothing else of a program.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from lab.mutants.shaped import FAULTS
from lab.mutants.shaped.claims import FEATURE, claimed, envelope_of_all_rows
from lab.mutants.shaped.fault import ShapedMutant
from lab.mutants.shaped.trigger import Test, Trigger
from vyre.backends.protocol import BackendLimits
from vyre.conform.shapes.families import LITERALS
from vyre.conform.shapes.features import CHOSEN, NONE

if TYPE_CHECKING:
    from collections.abc import Iterator

ALONE, ALONE_WITH_NEEDS, TWO = 7, 5, 9
"""Triggers of one test for a fault that needs nothing and for one that does, and of two tests."""

_STEP = 97
"""How far apart the triggers of one fault are in the list of all: prime, so that all are used."""


@cache
def tests() -> tuple[Test, ...]:
    """Tests of one quantity, features in turn, so that neighbours are about different ones."""
    columns = [list(_of(quantity)) for quantity in sorted({*FEATURE} - {*CHOSEN} | {*CHOSEN} & {*FEATURE})]
    columns.append([Test("literal", "=", bits) for bits in LITERALS.values()])
    columns.append([Test("entrance", "=", word) for word in ("run", "run_limited", "bind")])
    columns.append([Test("memory", "=", word) for word in ("allocate", "borrow", "copy", "write")])
    columns.append([Test("launch", ">=", 2), Test("run", ">=", 2), Test("threads", ">=", 2)])
    columns.append([Test("return", "=", word) for word in ("in a loop", "outside of loops")])
    most = max(map(len, columns))
    return tuple(column[k] for k in range(most) for column in columns if k < len(column))


def _of(quantity: str) -> Iterator[Test]:
    feature = CHOSEN.get(FEATURE[quantity])
    if feature is None or quantity in {FEATURE[q] for q in FEATURE if FEATURE[q] != q}:
        return
    numbers = [n for n in feature.every if isinstance(n, int)]
    if not numbers:
        yield from (Test(quantity, "=", word) for word in feature.every if word != NONE)
        return
    for low, high in pairwise(numbers):
        yield Test(quantity, ">=", low + (high - low + 1) // 2)
        yield Test(quantity, "=", high)
    yield Test(quantity, "odd")
    yield from (Test(quantity, "mod", rest, by) for by, rest in ((4, 1), (4, 3), (8, 1), (16, 0), (64, 1)))


def mutants() -> list[ShapedMutant]:
    known, count = tests(), len(tests())
    envelope = envelope_of_all_rows(BackendLimits())
    found: dict[str, ShapedMutant] = {}
    for number, fault in enumerate(FAULTS.values()):
        at = number * 31
        for k in range(ALONE_WITH_NEEDS if fault.needs else ALONE):
            made = ShapedMutant(fault, Trigger((known[(at + k * _STEP) % count],)))
            found[made.name] = made
        pairs = 0
        while not fault.needs and pairs < TWO:
            at += _STEP
            one, two = known[at % count], known[(at * 7 + 13) % count]
            made = ShapedMutant(fault, Trigger((one, two)))
            if one.quantity != two.quantity and claimed(envelope, made):
                found[made.name] = made
                pairs += 1
    return list(found.values())
