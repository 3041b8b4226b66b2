"""A fault is inside the envelope where a pair that meets its trigger ran, and nowhere else."""

from __future__ import annotations

import pytest

from vyre.conform.records.documents import canonical, decode, encode, parse
from vyre.conform.records.envelope import (
    BEYOND,
    COSTLY,
    FAILED,
    Condition,
    Envelope,
    EnvelopeFeature,
    Lacking,
    MissingPairs,
    inside,
    packed,
)

TURNS = EnvelopeFeature("turns", "turns", ("0", "3", "129", "65537"), counted=True, stated=3)
SIZE = EnvelopeFeature("size", "invocations", ("1", "33", "256"), counted=True, stated=3, limit=256)
ACCESS = EnvelopeFeature("access", "", ("ReadOnly", "Uniform"), counted=False, stated=2)
FEATURES = (TURNS, SIZE, ACCESS)

ROWS = ((0, 0, 0), (1, 1, 0), (2, 2, 1), (1, 2, 1), (3, 0, 0))
"""Levels by place: of turns, size and access."""
PAIRS = {(a, row[a], b, row[b]) for row in ROWS for a, b in ((0, 1), (0, 2), (1, 2))}

ENVELOPE = Envelope(
    FEATURES, 7, (5,), (), (Lacking(6, "access", "Uniform", "ReadOnly"),), packed(FEATURES, PAIRS),
    (
        MissingPairs("turns", "0", "size", ("33", "256"), FAILED),
        MissingPairs("turns", "129", "access", ("ReadOnly",), COSTLY),
        MissingPairs("size", "1", "access", ("Uniform",), BEYOND),
    ),
)  # fmt: skip


def at_least(feature: str, level: int) -> Condition:
    return Condition(feature, ">=", level)


def equal(feature: str, level: int | str) -> Condition:
    return Condition(feature, "=", level)


INSIDE = [
    [],
    [at_least("turns", 0)],
    [at_least("turns", 130)],
    [at_least("turns", 65_537)],
    [equal("turns", 129)],
    [equal("access", "Uniform")],
    [at_least("turns", 100), at_least("size", 200)],
    [at_least("size", 200), at_least("turns", 100)],
    [equal("turns", 3), equal("size", 256)],
    [at_least("turns", 4), equal("access", "Uniform")],
    [at_least("turns", 4), equal("turns", 129)],
]
OUTSIDE = [
    [at_least("turns", 65_538)],
    [equal("turns", 100)],
    [equal("access", "Workgroup")],
    [at_least("statements", 1)],
    [at_least("access", 1)],
    [at_least("turns", 130), at_least("size", 2)],
    [equal("turns", 0), equal("size", 33)],
    [equal("turns", 129), equal("access", "ReadOnly")],
    [at_least("turns", 130), equal("access", "Uniform")],
    [at_least("turns", 130), equal("turns", 129)],
    [at_least("turns", 1), at_least("size", 1), equal("access", "Uniform")],
]


@pytest.mark.parametrize("trigger", INSIDE, ids=lambda t: " and ".join(map(str, t)) or "always")
def test_a_trigger_whose_pair_ran_is_inside(trigger: list[Condition]) -> None:
    assert inside(ENVELOPE, trigger)


@pytest.mark.parametrize("trigger", OUTSIDE, ids=lambda t: " and ".join(map(str, t)))
def test_a_trigger_whose_pair_did_not_run_is_outside(trigger: list[Condition]) -> None:
    assert not inside(ENVELOPE, trigger)


def test_without_a_row_that_passed_nothing_is_inside() -> None:
    none = Envelope(FEATURES, 7, tuple(range(7)), (), (), packed(FEATURES, set()), ())
    assert not any(inside(none, trigger) for trigger in INSIDE)
    assert none.largest("turns") is None


def test_every_pair_is_found_again_and_no_other() -> None:
    for a in range(3):
        for b in range(a + 1, 3):
            for i, one in enumerate(FEATURES[a].levels):
                for j, two in enumerate(FEATURES[b].levels):
                    want = (a, i, b, j) in PAIRS
                    assert ENVELOPE.ran(FEATURES[a].name, one, FEATURES[b].name, two) == want
                    assert ENVELOPE.ran(FEATURES[b].name, two, FEATURES[a].name, one) == want
    assert ENVELOPE.count == len(PAIRS)


def test_levels_and_reasons_are_counted() -> None:
    assert ENVELOPE.levels_ran("turns") == [0, 3, 129, 65_537]
    assert ENVELOPE.levels_ran("size") == [1, 33, 256]
    assert ENVELOPE.largest("access") == "Uniform"
    assert ENVELOPE.missed == {FAILED: 2, BEYOND: 1, COSTLY: 1}
    assert ENVELOPE.missing_of("access") == {BEYOND: 1, COSTLY: 1}


def test_it_is_read_back_as_it_was_written() -> None:
    assert decode(Envelope, parse(canonical(encode(ENVELOPE)))) == ENVELOPE
