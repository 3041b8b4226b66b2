"""Results that nobody ran: of a perfect backend over a small registry, for the rules to judge."""

from __future__ import annotations

from vyre.backends.protocol import BackendLimits
from vyre.conform.certify.promises import PromisedOp, Promises, promises
from vyre.conform.records.blocks import PASSED
from vyre.conform.records.evidence import KindCount
from vyre.conform.records.results import (
    BackendFacts,
    CanaryResult,
    ClassCount,
    Conditions,
    Coverage,
    FailingRange,
    Failure,
    LawResult,
    OpResult,
    Results,
    RunPlan,
    StageResult,
    SubjectCount,
)
from vyre.conform.shapes.envelope import enveloped
from vyre.conform.shapes.rows import ROWS
from vyre.conform.spec.invariant import EngineInvariant

ADD, NOT, SHUFFLE = "primitive.math.add", "primitive.bitwise.not", "subgroup.shuffle"
FADD, FSIN = "float.add.f32", "FSinApprox"
CATEGORIES = {ADD: "A", NOT: "A", SHUFFLE: "C"}
"""Of the others: A."""
LAWS = {
    ADD: ("Commutative", "Associative"),
    NOT: ("Involution",),
    FADD: ("Commutative",),
    "float.f16.floor": ("Idempotent",),
}
MILLION = 1 << 20
STAGES = (
    "regressions", "golden", "ops", "determinism", "wire", "barrier", "atomics", "bounds", "races", "engines",
    "programs", "shapes", "composition", "tensors", "networks", "approximate", "float_folding", "folding",
    "dispatches", "convention", "alternates", "hardest", "evidence", "float_programs",
)  # fmt: skip

FACTS = BackendFacts(
    "mine", "1.0", "a device", "a driver", "a toolchain", ("V1", "V2"), ("A", "C"), (FSIN,), "mine",
    (CanaryResult("long loops", ""), CanaryResult("fusion", "word 0 is 0x1, expected 0x0")),
)  # fmt: skip


def registry(*ops: str) -> Promises:
    return promises(
        [PromisedOp(op, CATEGORIES.get(op, "A"), LAWS.get(op, ()), f"{n:064x}") for n, op in enumerate(ops)]
    )


def full(kind: str, cases: int) -> KindCount:
    return KindCount(kind, cases, cases, 0)


def op(op_id: str) -> OpResult:
    parity = (full("u8", 65536), full("boundary", 900), full("random", MILLION))
    laws = tuple(
        LawResult(
            name,
            "law",
            (f"{name} holds",),
            (full("u8x3" if name == "Associative" else "u8", 1 << 24), full("random", MILLION)),
        )
        for name in LAWS.get(op_id, ())
    )
    coverage = Coverage((ClassCount("carry", 12),), ())
    category = CATEGORIES.get(op_id, "A")
    return OpResult(op_id, 1, category, "passed", "", "native", "seen", parity, laws, coverage)


EACH = 2000
"""Cases of every subject of a stage: more than any level asks for."""


def stage(name: str, *subjects: str) -> StageResult:
    return StageResult(name, EACH * len(subjects), tuple(SubjectCount(s, EACH, 0, 0) for s in subjects))


def perfect(*ops: str) -> Results:
    """A backend that was asked everything and gave every answer."""
    plan = RunPlan("mine", 1, MILLION, (1, 1), 0, ops, "", STAGES, 256, False, 1 << 24, 3)
    engines = [f"engine.scan/{i.name}" for i in EngineInvariant]
    return Results(
        plan,
        FACTS,
        tuple(op(i) for i in ops),
        (
            stage("golden", "language cast", "strict primitive.math", "strict float", "approximate float"),
            stage("determinism", *ops, "programs"),
            stage("wire", "integer"),
            stage("barrier", "visibility"),
            stage("atomics", "storage Add"),
            stage("bounds", "load U32", "load F16"),
            stage("races", "histogram"),
            stage("engines", *engines, "reduce_tree/Deterministic"),
            stage("programs", "integer"),
            StageResult("shapes", len(ROWS), (SubjectCount("rows", len(ROWS), 0, 0),)),
            stage("float_programs", "F32"),
            stage("composition", ADD, "distributive transfer"),
            stage("tensors", "float tensors"),
            stage("networks", "float networks"),
            stage("approximate", "approximate FSinApprox F32"),
            stage("float_folding", "sums of F32"),
            stage("hardest", "float.sin"),
            stage("evidence", "float.sin in doubles"),
            stage("folding", "literals alone"),
            stage("alternates", f"{ADD} 1"),
            stage("dispatches", "lengths", "float lengths"),
            stage("convention", "V1", "V2", "V2 without its table"),
        ),
        (),
        conditions=Conditions("process", 60_000),
        envelope=enveloped(dict.fromkeys(range(len(ROWS)), PASSED), BackendLimits()),
    )


def failure(op_id: str, *, kind: str = "value", stage: str = "ops", case: str = "") -> Failure:
    name = case or f"{op_id}/boundary/17"
    return Failure(
        "mine", stage, op_id, name, name, kind, ("0x5",), "0x0", "0xFFFFFFFF", ("0x5",), 3, 1, "a note",
        "a program", "a source", f"vyre certify mine --case {name}", (FailingRange("boundary", 17, 19, 3),),
    )  # fmt: skip
