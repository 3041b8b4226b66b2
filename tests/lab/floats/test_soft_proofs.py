"""Solvers prove the soft floats; wrong ones are refuted; records belong to the code they were made for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats import records
from lab.floats.claims import Claim, expressible
from lab.floats.evidence_page import evidence_table, with_table
from lab.floats.lemmas import lemmas
from lab.floats.mutants import mutants
from tests.numeric.numeric_truth import reference
from vyre.errors import OpError
from vyre.ir.expr import Call, LitU32, Var
from vyre.ir.node import Block
from vyre.numeric.smt import PRELUDE, definitions, word
from vyre.numeric.soft import soft_ops
from vyre.numeric.vector import evaluate

if TYPE_CHECKING:
    from vyre.ir.op import Op

OPS = {op.id: op for op in soft_ops()}
RECORDS = records.load()

ARITHMETIC = ("add", "mul", "div", "fma")
FLUSH = "flushes subnormal operands"
STICKY = "forgets the sticky bit of the smaller summand"

QUICK = [
    "soft.f32.eq",
    "soft.f32.round",
    "soft.f32.to_u32_truncate",
    "soft.f32.from_i32",
    "soft.f32.to_f16",
    "soft.f16.to_f32",
    "soft.f16.min",
    "soft.bf16.max",
    "soft.bf16.lt",
    "soft.bf16.floor",
]


def value(op: Op, operands: list[int]) -> int:
    return int(evaluate(op, *(np.array([x], dtype=np.uint32) for x in operands))[0])


@pytest.mark.parametrize("op_id", QUICK)
def test_proved_for_all_inputs(op_id: str) -> None:
    pytest.importorskip("bitwuzla")
    from lab.floats.solve import ask_bitwuzla

    assert ask_bitwuzla(Claim(OPS[op_id]).script(), time_limit=60).verdict == "proved"


CHAINS = [(op.id, step) for op in OPS.values() for step in lemmas(op)]
LONG = {("soft.f32.fma", "align"), ("soft.f32.fma", "round"), ("soft.f16.fma", "round")}
"""Ten seconds and more; their records are bound to the scripts."""


@pytest.mark.parametrize(("op_id", "step"), [chain for chain in CHAINS if chain not in LONG])
def test_steps_of_the_lemma_chains(op_id: str, step: str) -> None:
    pytest.importorskip("bitwuzla")
    from lab.floats.solve import ask_bitwuzla

    assert ask_bitwuzla(lemmas(OPS[op_id])[step], time_limit=120).verdict == "proved"


@pytest.mark.parametrize(("op_id", "step"), [chain for chain in CHAINS if "negated" not in chain[1]])
def test_the_conditions_of_a_step_can_be_met(op_id: str, step: str) -> None:
    pytest.importorskip("bitwuzla")
    from lab.floats.solve import ask_bitwuzla

    assumed, negated, _ = lemmas(OPS[op_id])[step].rpartition("(assert (not ")
    assert negated
    assert ask_bitwuzla(f"{assumed}(check-sat)", time_limit=60).verdict == "refuted"


WRONG_STEPS = [
    *((f"soft.{of}.{name}", "unpack", FLUSH) for of in ("f32", "bf16") for name in ARITHMETIC),
    *((f"soft.{of}.{name}", "round", "truncates") for of in ("f32", "f16", "bf16") for name in ARITHMETIC),
    *((f"soft.{of}.fma", "round", "goes past infinity") for of in ("f32", "f16", "bf16")),
    *((f"soft.{of}.fma", "align", STICKY) for of in ("f32", "f16", "bf16")),
    *((f"soft.{of}.add", "align", STICKY) for of in ("f32", "f16", "bf16")),
]


@pytest.mark.parametrize(("op_id", "step", "mistake"), WRONG_STEPS)
def test_a_step_of_a_chain_can_fail(op_id: str, step: str, mistake: str) -> None:
    pytest.importorskip("bitwuzla")
    from lab.floats.solve import ask_bitwuzla

    wrong = dict(mutants(OPS[op_id]))[mistake]
    assert ask_bitwuzla(lemmas(wrong)[step], time_limit=60).verdict == "refuted"


@pytest.mark.parametrize("op_id", QUICK)
def test_a_wrong_version_is_refuted_and_its_counterexample_replays(op_id: str) -> None:
    pytest.importorskip("bitwuzla")
    from lab.floats.solve import ask_bitwuzla

    wrong = dict(mutants(OPS[op_id]))[RECORDS[op_id]["refuted"][0]["mutant"]]
    answer = ask_bitwuzla(Claim(wrong).script(), time_limit=60)
    assert answer.verdict == "refuted"
    operands = [answer.counterexample.get(p.name, 0) for p in wrong.params]
    assert value(wrong, operands) != reference(op_id, operands)
    assert value(OPS[op_id], operands) == reference(op_id, operands)


@pytest.mark.parametrize("op_id", ["soft.f32.fma", "soft.f32.div", "soft.f16.div", "soft.f32.sqrt"])
def test_the_solver_and_the_arrays_read_a_definition_alike(op_id: str) -> None:
    pytest.importorskip("bitwuzla")
    from lab.floats.solve import ask_bitwuzla

    op = OPS[op_id]
    operands = [0x3F1D2C3B, 0x00012345, 0x80ABCDEF] if op_id.startswith("soft.f32") else [0x3456, 0x0023]
    operands = operands[: len(op.params)]
    given = "".join(
        f"(define-fun {p.name} () (_ BitVec 32) {word(x)})\n"
        for p, x in zip(op.params, operands, strict=True)
    )
    for expected, verdict in ((value(op, operands), "proved"), (value(op, operands) ^ 1, "refuted")):
        script = f"{PRELUDE}{given}{definitions(op)}(assert (distinct result {word(expected)}))(check-sat)"
        assert ask_bitwuzla(script, time_limit=60).verdict == verdict


def test_what_is_not_plain_arithmetic_is_refused() -> None:
    op = OPS["soft.f32.neg"]
    calling = replace(op, result=Call("soft.f32.neg", (Var("a"),)))
    nested = replace(op, body=(Block(()),))
    for wrong in (calling, nested, replace(op, result=None)):
        with pytest.raises(OpError, match="cannot be translated"):
            definitions(wrong)
        with pytest.raises(OpError, match="cannot run on arrays"):
            evaluate(wrong, np.zeros(1, dtype=np.uint32))


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.id)
def test_every_op_has_evidence_for_its_present_definition(op: Op) -> None:
    record = RECORDS[op.id]
    assert record["digest"] == records.digest(op), f"run python -m lab.floats.prove for {op.id}"
    assert record["evidence"]
    assert record["refuted"]


def test_a_changed_definition_has_another_digest() -> None:
    for op in OPS.values():
        _, wrong = mutants(op)[0]
        assert records.digest(wrong) != records.digest(op)


@pytest.mark.parametrize("op_id", sorted(RECORDS))
def test_recorded_counterexamples_replay(op_id: str) -> None:
    wrong_versions = mutants(OPS[op_id])
    for refutation in RECORDS[op_id]["refuted"]:
        operands = refutation["operands"]
        expected = reference(op_id, operands)
        versions = [wrong for name, wrong in wrong_versions if name == refutation["mutant"]]
        assert any(value(wrong, operands) != expected for wrong in versions)
        assert value(OPS[op_id], operands) == expected


@pytest.mark.parametrize("op_id", sorted(RECORDS))
def test_recorded_proofs_are_of_the_present_claim(op_id: str) -> None:
    op = OPS[op_id]
    for item in RECORDS[op_id]["evidence"]:
        if item["kind"] == "proved":
            assert expressible(op)
            assert item.get("script") == records.script_digest(Claim(op).script())
        if item["kind"] == "lemma":
            assert item.get("script") == records.script_digest(lemmas(op)[item["claim"]])


def test_every_op_is_proved_or_every_input_was_run() -> None:
    for op in OPS.values():
        evidence = RECORDS[op.id]["evidence"]
        kinds = {item["kind"] for item in evidence}
        steps = {item["claim"] for item in evidence if item["kind"] == "lemma"}
        assert steps == set(lemmas(op))
        assert steps or kinds & {"proved", "exhaustive"}


def test_every_pair_of_a_16_bit_sum_product_or_quotient_was_run() -> None:
    for of in ("f16", "bf16"):
        for name in ("add", "sub", "mul", "div"):
            evidence = RECORDS[f"soft.{of}.{name}"]["evidence"]
            assert [item.get("cases") for item in evidence if item["kind"] == "exhaustive"] == [1 << 32]


def test_a_chain_with_a_step_missing_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "lemma chain" in line_of("soft.f32.fma")
    kept = [item for item in RECORDS["soft.f32.fma"]["evidence"] if item["claim"] != "align"]
    partial = {**RECORDS, "soft.f32.fma": {**RECORDS["soft.f32.fma"], "evidence": kept}}
    monkeypatch.setattr(records, "load", lambda: partial)
    assert "lemma chain" not in line_of("soft.f32.fma")


def line_of(op_id: str) -> str:
    return evidence_table().partition(f"`{op_id}`")[2].splitlines()[0]


def test_evidence_for_an_old_definition_is_dropped() -> None:
    op = OPS["soft.f32.neg"]
    changed = replace(op, result=LitU32(0))
    found: dict[str, records.Record] = {}
    item: records.Evidence = {"kind": "proved", "claim": "old", "by": "nobody", "seconds": 0.0}
    records.add(found, op, item)
    records.add(found, changed, {**item, "claim": "new"})
    assert [kept["claim"] for kept in found[op.id]["evidence"]] == ["new"]
    assert found[op.id]["digest"] == records.digest(changed)


def test_the_page_shows_the_records() -> None:
    page = (Path(__file__).parents[3] / "docs" / "numeric.md").read_text()
    assert with_table(page) == page, "run python -m lab.floats.prove table"
    assert with_table(page.replace("proved", "guessed")) != page.replace("proved", "guessed")
