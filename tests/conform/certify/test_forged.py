"""A certificate changed by somebody who makes its digests anew: what follows from the rest is missed."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests.conform.certify.small_runs import DIV, Right, WrongDivision, certified, shards, small
from vyre.conform.certify.merge import merge
from vyre.conform.certify.statement import read, sealed_record, write
from vyre.conform.certify.verify import Verification, verify
from vyre.conform.records.documents import canonical
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["small"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, bytes]]:
    """A whole run with a failure, one without, and a shard, in blocks as small as the fixture's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vyre.conform.verify.cases.PER_CLASS", 4)
        patch.setattr("vyre.conform.verify.cases.SHAPED", 24)
        patch.setattr("vyre.conform.verify.cases.BOUNDARY_LIMIT", 1 << 11)
        patch.setattr("vyre.conform.suite.units.BLOCK", 16)
        folder = tmp_path_factory.mktemp("made")
        stages = ("ops", "barrier")
        options: dict[str, Any] = {"ops": (DIV,), "stages": stages, "expected": [("no/such", "a reason")]}
        yield {
            "right": write(certified(Right(), folder / "right", **options)),
            "wrong": write(certified(WrongDivision(), folder / "wrong", **options)),
            **{
                f"shard{k}": write(c)
                for k, c in enumerate(shards(WrongDivision(), folder, 2, ops=(DIV,), stages=stages), 1)
            },
        }


def changed(data: bytes, change: Any) -> bytes:
    record = json.loads(data)
    predicate = {k: v for k, v in record["predicate"].items() if k != "digests"}
    change(predicate)
    backend = predicate["backend"]
    digest = hashlib.sha256(canonical(backend)).hexdigest()
    record["predicate"] = sealed_record(predicate)
    record["subject"] = [{"name": backend["name"], "digest": {"sha256": digest}}]
    return canonical(record)


def told(report: Verification) -> str:
    return " | ".join(f"{f.check} {f.status}: {f.text}" for f in report.findings if f.status == "wrong")


def put(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(predicate: dict[str, Any]) -> None:
        at: Any = predicate
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = to

    return change


def alter(*path: Any, by: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def change(predicate: dict[str, Any]) -> None:
        at: Any = predicate
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = by(at[path[-1]])

    return change


def test_the_honest_ones_hold(made: dict[str, bytes]) -> None:
    assert verify(made["right"]).holds, told(verify(made["right"]))
    assert verify(made["wrong"]).holds, told(verify(made["wrong"]))
    assert verify(made["shard1"]).ok, told(verify(made["shard1"]))
    assert not verify(made["shard1"]).holds  # the plan is open


FORGED: list[tuple[str, Any, str]] = [
    ("right", put("settings", to=[]), "the section settings does not follow"),
    ("right", put("conditions", "isolation", to="process"), "how the backend was held"),
    ("right", put("conditions", to={"isolation": "unknown", "timeout_ms": 0}), "how the backend was held"),
    ("right", put("plan", "seed", to=-1), "plan.seed: expected a whole number"),
    ("right", put("plan", "cases", to=1 << 20), "other cases"),
    ("right", put("plan", "programs", to=4096), "the section tracks does not follow"),
    ("right", put("plan", "registry", to="0" * 64), "its plan is of another registry"),
    ("right", put("registry", "digest", to="0" * 64), "the digest of its registry"),
    ("right", put("registry", "ops", 0, "non_laws", to=[]), "the digest of its registry"),
    ("right", put("baselines", to=["warp"]), "baselines that are not measured"),
    ("right", put("ops", 0, "status", to="failed"), "is called failed and no failure is listed"),
    ("right", put("ops", 0, "status", to="not run"), "is called not run and has cases"),
    ("right", put("ops", 0, "status", to="excellent"), "ops[0].status: expected one of"),
    ("right", put("ops", 0, "refusal", to="tired"), "reason for a refusal"),
    (
        "right",
        alter("ops", 0, "coverage", "classes", by=lambda c: c[1:]),
        "classes or boundaries than its plan",
    ),
    ("right", put("ops", 0, "coverage", "boundaries", to=[]), "classes or boundaries than its plan"),
    ("right", put("ops", 0, "coverage", "classes", 0, "cases", to=0), "the coverage of"),
    ("right", alter("ops", 0, "laws", by=lambda laws: laws[1:]), "other cases, laws"),
    ("right", alter("ops", 0, "parity", 0, "cases", by=lambda n: n - 1), "was not run on all its cases"),
    ("right", put("stages", 0, "subjects", 0, "refused", to=1 << 20), "stages[0].subjects: expected"),
    ("right", put("stages", 0, "subjects", 0, "cases", to=1 << 20), "more cases than were planned"),
    ("right", alter("stages", 0, "subjects", by=lambda s: [*s, s[0]]), "a subject twice"),
    ("right", put("stages", 0, "subjects", 0, "subject", to="another"), "is about other cases than its plan"),
    ("right", alter("stages", 0, "subjects", by=lambda s: s[1:]), "is about other cases than its plan"),
    ("right", put("ops", 0, "instruction", to="surely"), "the instruction of"),
    ("right", put("ops", 0, "laws", 0, "proof", to="obvious"), "the proof of"),
    ("right", put("ops", 0, "laws", 0, "proof", to="proved"), "by nobody"),
    ("right", put("expected", 0, "failed", to=True), "is called failed wrongly"),
    ("wrong", put("failures", to=[]), "no failure is listed"),
    ("wrong", alter("failures", by=lambda f: f[1:]), "its failures say otherwise"),
    ("wrong", put("failures", 0, "count", to=1), "its failures say otherwise"),
    ("wrong", put("ops", 0, "parity", 0, "failed", to=0), "its failures say otherwise"),
    ("wrong", put("failures", 0, "op", to="no.such"), "nothing that was run"),
    ("wrong", put("failures", 0, "stage", to="golden"), "nothing that was run"),
    ("wrong", put("failures", 0, "seed", to=1), "is of another run"),
    ("wrong", put("failures", 0, "failing", to=[]), "does not say where all failing"),
    ("wrong", put("failures", 0, "failing", 0, "count", to=0), "does not say where all failing"),
    ("right", put("conditions", "timeout_ms", to=-1), "conditions.timeout_ms: expected a whole number"),
    ("right", put("conditions", "timeout_ms", to=1), "how the backend was held"),
    ("right", put("conditions", "isolation", to="cell"), "conditions.isolation: expected one of"),
    ("right", put("backend", "limits", to=[7]), "backend.limits[0]: expected a string"),
    ("right", put("slower", to=["copy"]), "it calls copy slower, which is not one of its baselines"),
    ("right", put("backend", "approximate", to=[DIV]), "which is not approximate by name"),
    ("wrong", put("failures", 0, "failing", 0, "first", to=-1), "failing[0].first: expected a whole number"),
    ("shard1", put("plan", "shard", to=[1, 1]), "blocks of a shard"),
    ("shard1", put("plan", "shard", to=[0, 0]), "plan.shard: expected [i, n]"),
    ("shard1", put("plan", "cases", to=1 << 62), "other cases"),
    ("shard1", alter("blocks", by=lambda b: b[1:]), "other blocks than its plan"),
    ("shard1", alter("blocks", by=lambda b: [*b, b[0]]), "is there twice"),
    ("shard1", put("blocks", 0, "record", "cases", to=1), "does not say why"),
    ("shard1", put("blocks", 0, "record", to={}), "blocks[0].record.cases: this field is missing"),
]


@pytest.mark.parametrize(("which", "change", "message"), FORGED)
def test_what_follows_from_the_rest_is_worked_out_again(
    made: dict[str, bytes], which: str, change: Any, message: str
) -> None:
    report = verify(changed(made[which], change))
    assert not report.ok
    assert message in told(report)


def test_failures_taken_out_of_the_blocks_of_a_shard_are_missed(made: dict[str, bytes]) -> None:
    def clean(predicate: dict[str, Any]) -> None:
        for block in predicate["blocks"]:
            if "fails" in block["record"]:
                block["record"]["fails"] = []

    forged = changed(made["shard1"], clean)
    assert "do not add up" in told(verify(forged))
    with pytest.raises(CertificateError, match="contradicts itself"):
        merge([read(forged).certificate, read(made["shard2"]).certificate])


def test_another_version_is_no_excuse(made: dict[str, bytes]) -> None:
    """A plan that cannot be recounted is not wrong, and is not a success."""

    def older(predicate: dict[str, Any]) -> None:
        predicate["vyre"] = "0.0.1"
        predicate["plan"]["cases"] = 1 << 20
        predicate["settings"] = [s for s in predicate["settings"] if "of an op or law" not in s]

    report = verify(changed(made["right"], older))
    assert not report.holds
    assert "cannot be recounted" in next(f.text for f in report.findings if f.check == "plan")
