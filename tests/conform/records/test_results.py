"""Results are canonical bytes that read back, and say no more than was run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from vyre.conform.records.evidence import KindCount, density_found, evidence
from vyre.conform.records.results import (
    BackendFacts,
    BoundaryCount,
    ClassCount,
    Coverage,
    ExpectedFailure,
    Failure,
    LawResult,
    OpResult,
    Results,
    RunPlan,
    StageResult,
    SubjectCount,
)
from vyre.errors import VyreError

PLAN = RunPlan("mine", 1, 100, (1, 1), 0, ("primitive.math.div",), "abc", ("ops",), 4, False, 1 << 16, 3)
FACTS = BackendFacts("mine", "1", "device", "driver", "tools", ("V1",), ("A",), (), "mine")
FAILURE = Failure(
    "mine", "ops", "primitive.math.div", "primitive.math.div/boundary/17",
    "primitive.math.div/inputs/0x0,0x0", "value", ("0x0", "0x0"), "0x0", "0xFFFFFFFF", ("0x5", "0x0"), 3, 1,
    "", "program", "source", "vyre certify mine",
)  # fmt: skip
OP = OpResult(
    "primitive.math.div", 1, "A", "failed", "", "native", "seen",
    (KindCount("u8", 65536, 65536, 1), KindCount("random", 100, 100, 2)),
    (LawResult("RightIdentity(1)", "property", ("div(a, 1) = a",), (KindCount("random", 100, 100, 0),)),),
    Coverage((ClassCount("b = 0", 3),), (BoundaryCount(0, 2, ()),)),
)  # fmt: skip
RESULTS = Results(
    PLAN, FACTS, (OP,), (StageResult("barrier", 5, (SubjectCount("visibility", 5, 0, 1),)),), (FAILURE,)
)


def test_results_read_back_and_are_canonical() -> None:
    data = RESULTS.to_json()
    assert Results.from_json(data) == RESULTS
    assert Results.from_json(data).to_json() == data
    assert (
        data
        == json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        + b"\n"
    )
    assert len(RESULTS.digest) == 64


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"schema":"vyre.results/2"', '"schema":"vyre.results/0"'),
        ('"schema":"vyre.results/2"', '"schema":"vyre.results/2","extra":1'),
        (',"schema":"vyre.results/2"', ""),
        ('"skip":0', '"skip":"0"'),
        ('"skip":0,', ""),
        ('"shard":[1,1]', '"shard":[1,1,1]'),
        ('"missed":[]', '"missed":{}'),
    ],
)
def test_anything_else_is_refused(old: str, new: str) -> None:
    text = RESULTS.to_json().decode()
    assert old in text
    with pytest.raises(VyreError):
        Results.from_json(text.replace(old, new))


def test_bytes_that_are_no_json_are_refused() -> None:
    with pytest.raises(VyreError, match="not results"):
        Results.from_json(b"\xff")


def test_evidence_names_only_what_was_run() -> None:
    assert evidence(OP.parity) == "exhaustive u8 + witnessed 100"
    assert evidence((KindCount("u8", 100, 65536, 0),)) == "unverified"
    assert evidence((KindCount("all", 1 << 32, 1 << 32, 0),)) == "exhaustive u32"
    assert evidence((KindCount("u16", 65536, 65536, 0), KindCount("u8", 256, 256, 0))) == "exhaustive u16"
    assert evidence(()) == "unverified"
    assert OP.laws[0].evidence == "witnessed 100"


def test_the_density_that_was_found_with_99_percent() -> None:
    d = density_found(10**6)
    assert 1 - (1 - d) ** 10**6 == pytest.approx(0.99)
    assert OP.density == pytest.approx(density_found(100))
    assert replace(OP, parity=()).density is None


def test_coverage_names_what_met_no_case() -> None:
    found = Coverage((ClassCount("b = 0", 0), ClassCount("b = 1", 2)), (BoundaryCount(1, 3, ("0x20",)),))
    assert found.missing == ("class b = 0", "boundary 0x20 of word 1")


def test_expected_failures_are_no_verdict_and_passes_are() -> None:
    assert not RESULTS.ok
    for pattern in ("primitive.math.div", "primitive.math.div/boundary", "primitive.math.div/boundary/17"):
        expected = replace(RESULTS, expected=(ExpectedFailure(pattern, "known", failed=True),))
        assert expected.ok
        assert expected.unexpected == ()
    other = replace(RESULTS, expected=(ExpectedFailure("primitive.math.di", "no such op", failed=False),))
    assert other.unexpected == (FAILURE,)
    assert not replace(other, failures=()).ok
    assert [e.pattern for e in other.unexpected_passes] == ["primitive.math.di"]
