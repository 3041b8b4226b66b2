"""The envelope of real runs: of one run and of its shards, verified, forged, and of a wrong backend."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests.conform.certify.small_runs import Right, WrongAddition, certified, shards
from tests.conform.certify.test_forged import changed
from vyre.conform.certify.merge import merge
from vyre.conform.certify.rerun import rerun
from vyre.conform.certify.statement import write
from vyre.conform.certify.verify import verify
from vyre.conform.records.documents import canonical
from vyre.conform.records.envelope import FAILED, Condition, inside
from vyre.conform.shapes.constraints import cost
from vyre.conform.shapes.rows import ROWS, pairs_of

if TYPE_CHECKING:
    from pathlib import Path

SMALL = tuple(sorted(ROWS, key=lambda row: (cost(row), len(str(row))))[:6])
SHAPES: dict[str, Any] = {"ops": (), "stages": ("shapes",), "repeats": 1, "programs": 6}


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six cheap rows, dealt out to shards two by two."""
    monkeypatch.setattr("vyre.conform.shapes.envelope.ROWS", SMALL)
    monkeypatch.setattr("vyre.conform.verify.stages.shapes.ROWS", SMALL)
    monkeypatch.setattr("vyre.conform.verify.stages.shapes.Shapes.group", 2)


def test_the_envelope_of_merged_shards_is_that_of_one_run(tmp_path: Path) -> None:
    whole = certified(Right(), tmp_path / "whole", **SHAPES)
    parts = shards(Right(), tmp_path, 2, **SHAPES)
    assert whole.envelope is not None
    assert whole.envelope.failed == whole.envelope.refused == ()
    assert all(part.envelope is None for part in parts)
    assert merge(parts).to_json() == whole.to_json()
    assert not [f for f in verify(write(whole)).findings if f.status == "wrong"]
    (first, level), (second, other) = sorted(pairs_of(SMALL[0]), key=str)[0]
    assert inside(whole.envelope, [Condition(first, "=", level), Condition(second, "=", other)])
    assert not inside(whole.envelope, [Condition("turns", ">=", 1 << 20)])
    assert rerun(whole, Right(), share=1.0, seed=1).ok


def test_the_envelope_of_a_wrong_backend_claims_nothing(tmp_path: Path) -> None:
    made = certified(WrongAddition(), tmp_path, **SHAPES)
    assert made.envelope is not None
    assert made.envelope.failed == tuple(range(len(SMALL)))
    assert made.envelope.count == 0
    assert FAILED in made.envelope.missed
    assert not [f for f in verify(write(made)).findings if f.status == "wrong"]
    denied = made.track("integer").levels[2]
    assert any("pairs of shapes failed" in reason for reason in denied.reasons)


def test_a_forged_envelope_is_seen(tmp_path: Path) -> None:
    made = certified(WrongAddition(), tmp_path, **SHAPES)
    right = certified(Right(), tmp_path / "right", **SHAPES)
    assert made.envelope is not None
    assert right.envelope is not None

    def swap(predicate: dict[str, Any]) -> None:
        predicate["envelope"] = json.loads(canonical(json.loads(right.to_json())["envelope"]))

    def drop(predicate: dict[str, Any]) -> None:
        del predicate["envelope"]

    def claim(predicate: dict[str, Any]) -> None:
        predicate["envelope"]["pairs"][0] = "f"

    for forged in (changed(write(made), swap), changed(write(made), drop), changed(write(right), claim)):
        assert [f for f in verify(forged).findings if f.status == "wrong"]
    assert replace(right, envelope=None) != right
