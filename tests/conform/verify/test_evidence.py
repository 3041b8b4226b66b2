"""A function whose definition is not the one that was run on every input is unverified, and has no level."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.wrong.definitions import definition, flipped, literals, planted, swapped
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.oracle.truth import store
from vyre.conform.spec.track import FLOAT, subject_track
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.stage import FAILED, PASSED
from vyre.conform.verify.stages.evidence import STAGE, subject_of
from vyre.numeric import evidence
from vyre.numeric.evidence import EXHAUSTIVE, WITNESSED

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.conform.verify.stage import Outcome

PLAN = make_plan("cpu", ops=("float.sin",))


def run() -> list[Outcome]:
    return STAGE.run(ReferenceBackend(), PLAN, 0, STAGE.count(PLAN))


def test_every_definition_of_today_was_run() -> None:
    assert evidence.unverified() == {}
    assert [o.status for o in run()] == [PASSED] * 84


@pytest.mark.parametrize("op_id", evidence.definitions())
def test_the_record_says_what_was_run(op_id: str) -> None:
    found = evidence.load()[op_id]
    _, kind, name = op_id.split(".")
    if name in ("pow", "atan2"):
        assert (found["kind"], found["cases"] >= 1 << 22) == (WITNESSED, True)
    else:
        assert (found["kind"], found["cases"]) == (EXHAUSTIVE, 1 << (32 if kind == "f32" else 16))
        if kind == "f32":
            assert store.load(name).sha256[:16] in found["against"]
    assert found["by"]
    assert found["date"] >= "2026-11-15"
    assert found.get("open", 0) == 0


def test_there_is_a_record_for_nothing_else() -> None:
    assert set(evidence.load()) == set(evidence.definitions())


@pytest.mark.parametrize("op_id", ["double.f32.atan", "double.f32.log10", "soft.f32.sin", "soft.bf16.pow"])
def test_a_changed_definition_is_unverified(op_id: str) -> None:
    right = definition(op_id)
    constant = literals(right)[0]
    with planted(swapped(right, constant, flipped(constant, 0))):
        wrong = [o for o in run() if o.status == FAILED]
    assert subject_of(op_id) in [o.subject for o in wrong]
    assert all(o.kind == "unverified" and "unverified: " in o.actual for o in wrong)
    assert all(subject_track(o.subject) == FLOAT for o in wrong)
    assert "lab.functions.prove" in wrong[0].note


def test_a_function_in_doubles_that_falls_back_is_bound_to_what_it_falls_back_to() -> None:
    right = definition("soft.f32.sin")
    constant = literals(right)[0]
    with planted(swapped(right, constant, flipped(constant, 0))):
        assert {"soft.f32.sin", "double.f32.sin"} <= set(evidence.unverified())


def test_a_missing_record_is_unverified(tmp_path: Path) -> None:
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps({k: v for k, v in evidence.load().items() if k != "soft.f16.exp"}))
    assert evidence.unverified(evidence.load(path)) == {"soft.f16.exp": "there is no record of it"}


def test_names_are_no_part_of_a_digest() -> None:
    from vyre.ir.expr import Var
    from vyre.ir.node import Let
    from vyre.ir.op import Op, Param
    from vyre.ir.types import DataType

    def op(name: str) -> Op:
        body = (Let(name, Var("x") + 1),)
        return Op("soft.f16.sin", (Param("x", DataType.U32),), DataType.U32, Var(name) * 3, body=body)

    digests: set[str] = set()
    for name in ("first", "second"):
        with planted(op(name)):
            digests.add(evidence.digest("soft.f16.sin"))
    assert len(digests) == 1
