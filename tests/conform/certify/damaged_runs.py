"""Runs from which something is missing, each with the level that it loses and the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.conform.certify.made_up import ADD, NOT, failure, full, op, stage
from vyre.conform.records.results import (
    ExpectedFailure,
    KindCount,
    Results,
    StageResult,
    SubjectCount,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def with_op(results: Results, op_id: str, **changed: Any) -> Results:
    return replace(results, ops=tuple(replace(o, **changed) if o.id == op_id else o for o in results.ops))


def with_stage(results: Results, name: str, change: Callable[[StageResult], StageResult | None]) -> Results:
    found = [change(s) if s.stage == name else s for s in results.stages]
    return replace(results, stages=tuple(s for s in found if s is not None))


def damaged(op_id: str, **changed: Any) -> Callable[[Results], Results]:
    return lambda results: with_op(results, op_id, **changed)


def one_law(**changed: Any) -> Callable[[Results], Results]:
    first, second = op(ADD).laws
    return damaged(ADD, laws=(replace(first, **changed), second))


def subject(name: str, subject: str, *, failed: int = 0, refused: int = 0) -> Callable[[Results], Results]:
    def changed(found: StageResult) -> StageResult:
        return replace(
            found,
            subjects=tuple(
                replace(s, failed=failed, refused=refused) if s.subject == subject else s
                for s in found.subjects
            ),
        )

    return lambda results: with_stage(results, name, changed)


def without(name: str) -> Callable[[Results], Results]:
    return lambda results: with_stage(results, name, lambda _: None)


def shorter(name: str) -> Callable[[Results], Results]:
    return lambda results: with_stage(results, name, lambda s: replace(s, planned=s.planned + 1))


def fewer(name: str, cases: int) -> Callable[[Results], Results]:
    """The stage with so many cases in all, planned and run."""
    made = StageResult(name, cases, (SubjectCount("integer", cases, 0, 0),))
    return lambda results: with_stage(results, name, lambda _: made)


def planned(**changed: Any) -> Callable[[Results], Results]:
    return lambda results: replace(results, plan=replace(results.plan, **changed))


WRONG_PARITY = (full("u8", 65536), KindCount("boundary", 900, 900, 2))
SHORT_PARITY = (full("u8", 65536), KindCount("random", 10, 20, 0))
FEW = (full("u8", 65536), full("random", 999_999))
MISSING: list[tuple[Callable[[Results], Results], str, str]] = [
    (planned(shard=(2, 3)), "L1", "this is shard 2 of 3; merge them all"),
    (lambda r: replace(r, ops=r.ops[1:]), "L1", f"1 op was not run: {ADD}"),
    (damaged(NOT, status="not run"), "L1", f"1 op was not run: {NOT}"),
    (damaged(ADD, status="refused", refusal="no adder"), "L1", f"{ADD} is refused: no adder"),
    (
        damaged(ADD, status="failed", parity=WRONG_PARITY),
        "L1",
        f"{ADD} differs from its definition in 2 cases",
    ),
    (damaged(ADD, parity=SHORT_PARITY), "L1", f"{ADD} ran only 10 of 20 random cases"),
    (damaged(ADD, status="failed"), "L1", f"{ADD} failed"),
    (lambda r: replace(r, failures=(failure(ADD, kind="crash"),)), "L1", f"{ADD}: crash at {ADD}/"),
    (lambda r: replace(r, failures=(failure(ADD, kind="coverage"),)), "L1", f"{ADD}: 0x5 met no case"),
    (
        lambda r: replace(r, failures=(failure(ADD),), expected=(ExpectedFailure(ADD, "known", True),)),
        "L1",
        f"a failure is expected: {ADD} (known)",
    ),
    (planned(stages=("golden", "ops")), "L1", "the stage regressions was not run"),
    (
        lambda r: replace(
            r, stages=(StageResult("regressions", 1, (SubjectCount(ADD, 1, 1, 0),)), *r.stages)
        ),
        "L1",
        f"the stage regressions failed in 1 case: {ADD}",
    ),
    (without("golden"), "L1", "the stage golden was not run"),
    (shorter("golden"), "L1", "the stage golden ran 8,000 of 8,001 cases"),
    (subject("golden", "strict primitive.math", failed=1), "L1", "the stage golden failed in 1 case"),
    (subject("golden", "strict primitive.math", refused=2), "L1", "the stage golden was refused in 2 cases"),
    (planned(cases=999_999), "L1", "999,999 random cases were planned; 1,000,000 are needed"),
    (planned(repeats=1), "L2", "1 repeat was planned; 3 are needed"),
    (planned(programs=47), "L2", "47 programs were planned; 48 are needed"),
    (planned(programs=255), "L3", "255 programs were planned; 256 are needed"),
    (damaged(ADD, parity=()), "L1", f"{ADD} met no case"),
    (damaged(ADD, parity=FEW), "L1", f"{ADD} has 999,999 uniform cases; 1,000,000 are needed"),
    (damaged(ADD, parity=(full("boundary", 10),)), "L1", f"{ADD} has 0 uniform cases"),
    (fewer("golden", 966), "L1", "the stage golden has 966 results of the integer track; 967 are needed"),
    (fewer("folding", 93), "L2", "the stage folding has 93 results of the integer track; 94 are needed"),
    (fewer("convention", 2), "L2", "the stage convention has 2 results of the integer track; 15 are"),
    (fewer("programs", 1), "L3", "the stage programs has 1 result of the integer track; 256 are needed"),
    (fewer("convention", 26), "L4", "the stage convention has 26 results of the integer track; 27 are"),
    (fewer("composition", 94), "L4", "the stage composition has 94 results"),
    (subject("folding", "literals alone", refused=2000), "L2", "the stage folding was refused in 2,000"),
    (subject("dispatches", "lengths", refused=1), "L2", "the stage dispatches was refused in 1 case"),
    (subject("convention", "V2", refused=1), "L2", "the stage convention was refused in 1 case: V2"),
    (planned(largest=1 << 16), "L2", "exhaustive kinds of more than 65,536 cases were left out"),
    (damaged(ADD, laws=op(ADD).laws[1:]), "L2", f"{ADD}: Commutative was not run"),
    (one_law(counts=(KindCount("u8", 65536, 65536, 3),)), "L2", f"{ADD}: Commutative fails in 3 cases"),
    (one_law(counts=(KindCount("u8", 5, 65536, 0),)), "L2", "Commutative ran only 5 of 65,536 u8 cases"),
    (one_law(counts=()), "L2", f"{ADD}: Commutative met no case"),
    (one_law(counts=FEW), "L2", "Commutative has 999,999 uniform cases; 1,000,000 are needed"),
    (one_law(counts=(full("boundary", 10),)), "L2", "Commutative has 0 uniform cases"),
    (damaged(ADD, instruction="not seen"), "L2", f"{ADD}: its instruction is not in the compiled kernel"),
    *(
        (without(name), "L2", f"the stage {name} was not run")
        for name in ("determinism", "wire", "barrier", "atomics", "bounds", "races", "alternates", "folding")
    ),
    (subject("barrier", "visibility", failed=4), "L2", "the stage barrier failed in 4 cases: visibility"),
    (subject("determinism", ADD, refused=4), "L2", f"the stage determinism was refused in 4 cases: {ADD}"),
    (without("engines"), "L3", "the stage engines was not run"),
    (shorter("engines"), "L3", "the stage engines ran 18,000 of 18,001 cases"),
    (
        lambda r: with_stage(r, "engines", lambda _: stage("engines", "engine.scan/Deterministic")),
        "L3",
        "NoOutputLost, NoDuplicate, Ordered, Bounded, Termination, AtomicLinearizable and"
        " WorkgroupInvariant were checked on no engine",
    ),
    (without("programs"), "L3", "the stage programs was not run"),
    (subject("programs", "integer", failed=1), "L3", "the stage programs failed in 1 case: integer"),
    (without("composition"), "L4", "the stage composition was not run"),
]  # fmt: skip
