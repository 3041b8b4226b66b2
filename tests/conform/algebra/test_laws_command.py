"""`vyre laws`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from vyre.cli import main
from vyre.conform import registry
from vyre.conform.algebra.listing import summary
from vyre.conform.registry import spec
from vyre.conform.registry.categories import categories
from vyre.conform.spec.law import Idempotent

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["laws", *args])


def test_the_table_names_the_evidence() -> None:
    result = run("primitive.math.add")
    assert result.exit_code == 0
    assert "Identity(0)" in result.output
    assert "bitwuzla 0." in result.output
    assert "refuted at (1)" in result.output
    assert "3 laws proved; 1 property proved" in result.output
    assert "2 non-laws refuted" in result.output
    assert str(categories()) in result.output


def test_json_has_one_record_per_law() -> None:
    args = ("primitive.math.mul", "--json", "--tier", "proved", "--tier", "exhaustive", "--tier", "witnessed")
    records = json.loads(run(*args).output)
    by_law = {(r["role"], r["law"]): r for r in records}
    assert len(records) == 10
    identity = by_law["law", "Identity"]
    assert identity["op"] == "primitive.math.mul"
    assert identity["parameters"] == {"e": 1}
    assert identity["evidence"] == "proved"
    assert identity["solver"].startswith("bitwuzla")
    assert identity["seconds"] >= 0
    assert [t["evidence"].split()[0] for t in identity["tiers"]] == ["proved", "exhaustive", "witnessed"]
    assert by_law["non-law", "ZeroProduct"]["counterexample"] == [0x10000, 0x10000]


def test_the_second_run_uses_kept_proofs() -> None:
    first, second = (json.loads(run("primitive.math.sub", "--json").output) for _ in range(2))
    assert not any(r["cached"] for r in first)
    assert all(r["cached"] for r in second)
    fresh = json.loads(run("primitive.math.sub", "--json", "--fresh").output)
    assert not any(r["cached"] for r in fresh)


def test_a_law_that_does_not_hold_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(spec("primitive.math.add"), laws=(Idempotent(),), properties=(), non_laws=())
    monkeypatch.setattr(registry, "specs", lambda: (wrong,))
    result = run("primitive.math.add")
    assert result.exit_code == 1
    assert "NOT AS DECLARED" in result.output
    assert "refuted at (1)" in result.output


def test_discover_and_collisions() -> None:
    found = json.loads(run("primitive.math.negate", "--discover", "--json").output)
    assert {"Complement", "DeMorgan"} <= {r["law"] for r in found}
    text = run("primitive.math.sub", "--collisions")
    assert text.exit_code == 0
    assert "golden row" in text.output
    assert "0 without a rule" in text.output
    assert json.loads(run("primitive.math.sub", "--collisions", "--json").output)[0]["rule"]


def test_an_unknown_op_is_an_error() -> None:
    result = run("primitive.math.pow")
    assert result.exit_code == 1
    assert "no spec's id starts with 'primitive.math.pow'" in result.output


def test_help_has_an_example() -> None:
    assert "Example: vyre laws" in run("--help").output


def test_what_has_no_laws_is_said_to_have_none() -> None:
    assert summary([]) == "no laws."
