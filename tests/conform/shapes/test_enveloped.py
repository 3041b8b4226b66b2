"""The envelope of the rows: whole where all passed, and less by what failed, was refused or is too large."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vyre.backends.protocol import BackendLimits
from vyre.conform.records.blocks import FAILED, PASSED, REFUSED
from vyre.conform.records.envelope import BEYOND, COSTLY, NOT_RUN, Condition, inside
from vyre.conform.shapes.envelope import enveloped, lacked
from vyre.conform.shapes.features import CHOSEN
from vyre.conform.shapes.lacking import DOUBLES
from vyre.conform.shapes.rows import ROWS, pairs_of, too_costly, wanted

ALL = dict.fromkeys(range(len(ROWS)), PASSED)
WHOLE = enveloped(ALL, BackendLimits())


def test_of_a_backend_without_limits_nothing_but_the_cost_is_missing() -> None:
    assert set(WHOLE.missed) <= {COSTLY}
    assert WHOLE.missed.get(COSTLY, 0) == len(too_costly() - {p for row in ROWS for p in pairs_of(row)})
    assert len(wanted()) <= WHOLE.count
    for name, feature in CHOSEN.items():
        assert WHOLE.largest(name) == feature.every[-1]


def test_every_pair_of_a_row_that_passed_is_claimed() -> None:
    for (first, level), (second, other) in pairs_of(ROWS[0]):
        assert WHOLE.ran(first, level, second, other)


@pytest.mark.parametrize("status", [FAILED, REFUSED])
def test_a_row_that_did_not_pass_takes_its_own_pairs_away(status: str) -> None:
    """The first rows of a covering array have pairs that no other has."""
    found = enveloped({**ALL, 0: status}, BackendLimits())
    others = {pair for row in ROWS[1:] for pair in pairs_of(row)}
    alone = (pairs_of(ROWS[0]) & wanted()) - others
    assert alone
    assert found.missed[status] == len(alone)
    (first, level), (second, other) = sorted(alone, key=str)[0]
    assert not found.ran(first, level, second, other)
    trigger = [Condition(first, "=", level), Condition(second, "=", other)]
    assert inside(WHOLE, trigger)
    assert not inside(found, trigger)
    assert (found.failed, found.refused) == (((0,), ()) if status == FAILED else ((), (0,)))


def test_a_row_that_was_not_run_is_none_that_passed() -> None:
    some = dict.fromkeys(range(10), PASSED)
    found = enveloped(some, BackendLimits())
    assert (found.rows, found.failed, found.refused) == (10, (), ())
    assert found.missed[NOT_RUN] == len(wanted() - {pair for row in ROWS[:10] for pair in pairs_of(row)})


def test_beyond_a_declared_limit_nothing_is_claimed() -> None:
    limits = BackendLimits(workgroup_bytes=4100)
    found = enveloped(ALL, limits)
    assert found.largest("workgroup bytes") == 4100
    assert found.missing_of("workgroup bytes")[BEYOND] > 0
    assert not inside(found, [Condition("workgroup bytes", ">=", 4101)])
    feature = next(f for f in found.features if f.name == "workgroup bytes")
    assert feature.limit == 4100
    assert replace(feature, limit=None) in WHOLE.features


def test_a_level_that_the_device_lacks_takes_nothing_else_away() -> None:
    rows = [(k, row) for k, row in enumerate(ROWS) if row["payload"] == DOUBLES]
    lacking = [one for k, row in rows for one in lacked(k, {**row, "payload": "F16"}, BackendLimits())]
    assert {one[1:] for one in lacking} == {("payload", DOUBLES, "F16")}
    found = enveloped(ALL, BackendLimits(), lacking)
    refused = [m for m in found.missing if m.reason == REFUSED]
    assert refused
    assert all(DOUBLES in (m.level, *m.levels) for m in refused)
    assert found.lacking == tuple(sorted(lacking))
