"""A perfect run has every level; whatever is taken away from it denies the levels that need it, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.conform.certify.damaged_runs import (
    FEW,
    MISSING,
    WRONG_PARITY,
    damaged,
    one_law,
    planned,
    subject,
    with_op,
    with_stage,
    without,
)
from tests.conform.certify.made_up import (
    ADD,
    FACTS,
    FADD,
    NOT,
    SHUFFLE,
    failure,
    full,
    op,
    perfect,
    registry,
    stage,
)
from vyre.conform.certify import granted as shape
from vyre.conform.certify.certificate import certificates
from vyre.conform.certify.level import levels
from vyre.conform.records.evidence import KindCount
from vyre.conform.records.results import LawResult, Results, StageResult, SubjectCount
from vyre.conform.spec.levels import LEVELS, TABLE
from vyre.conform.spec.track import APPROXIMATE, FLOAT, FLOAT_ENGINES, INTEGER, op_track, subject_track

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.certify.granted import TrackLevels

OPS = (ADD, NOT, SHUFFLE)


def test_the_names_that_a_certificate_may_have_are_those_of_the_table() -> None:
    assert tuple(LEVELS) == shape.TRACKS
    assert tuple(name for names in LEVELS.values() for name in names) == shape.NAMES


def judged(results: Results, track: str = INTEGER, *, ops: tuple[str, ...] = OPS) -> TrackLevels:
    return levels(track, results, registry(*ops), ("copy",))


def granted(found: TrackLevels) -> str:
    return " ".join(level.level for level in found.levels if level.granted)


def reasons(found: TrackLevels, level: str) -> tuple[str, ...]:
    return next(entry.reasons for entry in found.levels if entry.level == level)


def test_a_perfect_run_has_every_level() -> None:
    found = judged(perfect(*OPS))
    assert granted(found) == "L1 L2 L3 L4"
    assert found.highest == "L4"
    assert all(level.reasons == () for level in found.levels)


def test_a_level_is_not_granted_without_the_one_below() -> None:
    found = judged(replace(perfect(*OPS), plan=replace(perfect(*OPS).plan, skip=5)))
    assert granted(found) == ""
    assert reasons(found, "L1") == ("the first 5 cases were skipped",)
    assert reasons(found, "L2") == ("L1 is not granted",)
    assert reasons(found, "L4") == ("L3 is not granted",)


@pytest.mark.parametrize(("change", "level", "reason"), MISSING)
def test_what_is_missing_denies_the_level_by_name(
    change: Callable[[Results], Results], level: str, reason: str
) -> None:
    found = judged(change(perfect(*OPS)))
    names = ["L1", "L2", "L3", "L4"]
    assert granted(found).split() == names[: names.index(level)]
    assert [r for r in reasons(found, level) if reason in r], reasons(found, level)


def test_without_baselines_there_is_no_full_level() -> None:
    found = levels(INTEGER, perfect(*OPS), registry(*OPS), ())
    assert found.highest == "L3"
    assert reasons(found, "L4") == ("no performance baseline was measured",)


def test_a_refused_intrinsic_blocks_nothing_and_a_wrong_one_does() -> None:
    refused = damaged(SHUFFLE, status="refused", refusal="no warps", parity=(), laws=())(perfect(*OPS))
    refused = subject("determinism", SHUFFLE, refused=4)(refused)
    assert judged(refused).highest == "L4"
    wrong = damaged(SHUFFLE, status="failed", parity=WRONG_PARITY)(perfect(*OPS))
    assert judged(wrong).highest == ""


def test_a_law_without_variables_and_a_load_need_no_million() -> None:
    constant = LawResult("Zero", "property", ("f(0) = 0",), (full("u8", 1),))
    results = damaged(ADD, laws=(*op(ADD).laws, constant))(perfect(*OPS))
    assert judged(results).highest == "L4"


def test_a_failing_law_leaves_parity_alone() -> None:
    wrong = one_law(counts=(KindCount("u8", 65536, 65536, 3), full("random", 1 << 20)))(perfect(*OPS))
    wrong = with_op(wrong, ADD, status="failed")
    wrong = replace(wrong, failures=(failure(ADD, kind="law", case=f"{ADD}/Commutative/u8/1"),))
    assert judged(wrong).highest == "L1"


def test_refused_golden_rows_of_a_refused_op_are_not_counted_twice() -> None:
    results = damaged(SHUFFLE, status="refused", parity=(), laws=())(perfect(*OPS))

    def extended(found: StageResult) -> StageResult:
        return replace(
            found,
            planned=found.planned + 4,
            subjects=(*found.subjects, SubjectCount("strict subgroup", 4, 0, 4)),
        )

    results = with_stage(results, "golden", extended)
    assert judged(results).highest == "L4"
    assert judged(with_op(results, SHUFFLE, status="passed")).highest == ""


def test_a_stage_that_no_level_asks_for_may_be_refused_and_may_not_fail() -> None:
    results = perfect(*OPS)
    lanes = StageResult("subgroups", 8, (SubjectCount("subgroup.ballot.w32", 4, 0, 4),))
    assert judged(replace(results, stages=(*results.stages, lanes))).highest == "L4"
    wrong = replace(lanes, subjects=(SubjectCount("subgroup.ballot.w32", 4, 1, 0),))
    found = judged(replace(results, stages=(*results.stages, wrong)))
    assert reasons(found, "L2") == ("the stage subgroups failed: subgroup.ballot.w32",)


@pytest.mark.parametrize("name", ["hardest", "evidence"])
def test_functions_that_fail_or_are_unverified_deny_the_first_float_level(name: str) -> None:
    ops = (FADD,)
    assert judged(perfect(*ops), FLOAT, ops=ops).levels[0].granted
    missing = with_stage(perfect(*ops), name, lambda _: None)
    wrong = stage(name, "float.atan in doubles")
    failed = replace(wrong, subjects=(replace(wrong.subjects[0], failed=1),))
    for results, why in (
        (missing, "was not run"),
        (with_stage(perfect(*ops), name, lambda _: failed), "failed"),
    ):
        found = judged(results, FLOAT, ops=ops)
        assert found.highest == ""
        assert any(f"the stage {name} {why}" in reason for reason in reasons(found, "L1f"))


def test_engines_over_floats_are_on_the_float_track() -> None:
    from vyre.conform.registry.engine import ENGINES

    assert {e.id for e in ENGINES if subject_track(f"{e.id}/Ordered") == FLOAT} == FLOAT_ENGINES
    assert subject_track("reduce_tree.Deterministic") == FLOAT
    refused = StageResult("engines", 4, (SubjectCount("reduce_tree/Bounded", 4, 0, 4),))

    def extended(found: StageResult) -> StageResult:
        return replace(found, planned=found.planned + 4, subjects=(*found.subjects, *refused.subjects))

    assert judged(with_stage(perfect(*OPS), "engines", extended)).highest == "L4"


def test_tracks_are_told_apart() -> None:
    assert [op_track(i) for i in (ADD, FADD, "cast.f32.f16", "cast.f32.u32", "float.exp@2")] == [
        INTEGER, FLOAT, FLOAT, INTEGER, FLOAT,
    ]  # fmt: skip
    subjects = ("strict float", "approximate float", "load BF16", "visibility", FADD)
    assert [subject_track(s) for s in subjects] == [
        FLOAT, APPROXIMATE, FLOAT, INTEGER, FLOAT,
    ]  # fmt: skip


def test_the_float_track_has_levels_of_its_own() -> None:
    everything = (*OPS, FADD)
    results = perfect(*everything)
    assert judged(results, FLOAT, ops=everything).highest == "L4f"
    assert judged(results, INTEGER, ops=everything).highest == "L4"
    wrong = damaged(FADD, status="failed", parity=WRONG_PARITY)(results)
    assert judged(wrong, FLOAT, ops=everything).highest == ""
    assert judged(wrong, INTEGER, ops=everything).highest == "L4"
    flushed = subject("golden", "strict float", failed=1)(results)
    assert judged(flushed, FLOAT, ops=everything).highest == ""
    assert judged(flushed, INTEGER, ops=everything).highest == "L4"
    assert judged(without("tensors")(results), FLOAT, ops=everything).highest == "L2f"
    none = judged(perfect(*OPS), FLOAT)
    assert "the registry has no float operations" in reasons(none, "L1f")


FADD64, FDIV64, FFLOOR16 = "float.f64.add", "float.f64.div", "float.f16.floor"


def doubles(*, refused: tuple[str, ...]) -> TrackLevels:
    """The float track of a backend with two operations on F64, some of which it refuses."""
    everything = (*OPS, FADD, FADD64, FDIV64)
    results = perfect(*everything)
    for name in refused:
        results = with_op(results, name, status="refused", refusal="no doubles", parity=(), laws=())
        results = subject("determinism", name, refused=4)(results)
    return judged(results, FLOAT, ops=everything)


def test_a_device_without_doubles_loses_no_level() -> None:
    assert doubles(refused=()).highest == "L4f"
    assert doubles(refused=(FADD64, FDIV64)).highest == "L4f"


def test_a_device_with_doubles_must_have_all_of_them() -> None:
    found = doubles(refused=(FDIV64,))
    assert reasons(found, "L1f") == (f"{FDIV64} is refused: no doubles",)
    assert f"the stage determinism was refused in 4 cases: {FDIV64}" in reasons(found, "L2f")
    assert reasons(doubles(refused=(FADD,)), "L1f") == (f"{FADD} is refused: no doubles",)


def test_refused_rows_of_f64_deny_nothing_where_the_ops_do_not() -> None:
    everything = (*OPS, FADD, FADD64)
    results = subject("golden", "strict float", refused=1)(perfect(*everything))
    assert judged(results, FLOAT, ops=everything).highest == ""
    lacking = with_op(results, FADD64, status="refused", refusal="no doubles", parity=(), laws=())
    lacking = subject("determinism", FADD64, refused=4)(lacking)
    assert judged(lacking, FLOAT, ops=everything).highest == "L4f"


def test_laws_of_floats_have_cases_of_their_own_number() -> None:
    everything = (*OPS, FADD)
    few = planned(float_cases=999_999)(perfect(*everything))
    text = "999,999 random cases were planned; 1,000,000 are needed"
    assert text in reasons(judged(few, FLOAT, ops=everything), "L1f")
    assert judged(few, INTEGER, ops=everything).highest == "L4"
    small = planned(largest=0)(perfect(*everything))
    assert judged(small, FLOAT, ops=everything).highest == "L4f"
    short = damaged(FADD, laws=(replace(op(FADD).laws[0], counts=FEW),))(perfect(*everything))
    assert any("has 999,999 uniform" in r for r in reasons(judged(short, FLOAT, ops=everything), "L2f"))


def test_all_values_of_16_bits_need_no_random_ones() -> None:
    everything = (*OPS, FADD, FFLOOR16)
    counts = (full("u16", 65536), full("boundary", 44))
    exhausted = damaged(FFLOOR16, parity=counts, laws=(replace(op(FFLOOR16).laws[0], counts=counts),))
    assert judged(exhausted(perfect(*everything)), FLOAT, ops=everything).highest == "L4f"
    part = (full("boundary", 44),)
    partly = damaged(FFLOOR16, laws=(replace(op(FFLOOR16).laws[0], counts=part),))
    assert judged(partly(perfect(*everything)), FLOAT, ops=everything).highest == "L1f"


def test_strict_and_approximate_are_never_in_one_certificate() -> None:
    everything = (*OPS, FADD)
    made = certificates(perfect(*everything), promised=registry(*everything), baselines=("copy",))
    strict, approximate = made
    assert (len(strict.ops), len(approximate.ops)) == (4, 0)
    assert [(t.track, t.highest) for t in strict.tracks] == [(INTEGER, "L4"), (FLOAT, "L4f")]
    assert [(t.track, t.highest) for t in approximate.tracks] == [(APPROXIMATE, "L1a")]
    subjects = [{s.subject for x in c.stages for s in x.subjects if x.stage == "golden"} for c in made]
    assert subjects == [{"language cast", "strict primitive.math", "strict float"}, {"approximate float"}]
    for certificate in made:
        assert certificate.derived() == certificate


@pytest.mark.parametrize("op_id", [ADD, FADD])
def test_a_declaration_moves_no_op_off_the_strict_track(op_id: str) -> None:
    """Decision 36: what is not approximate by name is judged as exact, whatever a backend says of it."""
    everything = (*OPS, FADD)
    wrong = damaged(op_id, status="failed", parity=WRONG_PARITY)(perfect(*everything))
    wrong = replace(wrong, backend=replace(FACTS, approximate=(op_id,)))
    strict = certificates(wrong, promised=registry(*everything), baselines=("copy",))[0]
    track = strict.track(op_track(op_id))
    assert track.highest == ""
    assert f"{op_id} differs from its definition in 2 cases" in track.levels[0].reasons
    left_out = replace(wrong, ops=tuple(o for o in wrong.ops if o.id != op_id))
    strict = certificates(left_out, promised=registry(*everything), baselines=("copy",))[0]
    assert strict.track(op_track(op_id)).levels[0].reasons == (f"1 op was not run: {op_id}",)


def test_a_convention_that_is_not_declared_may_be_refused_up_to_the_full_level() -> None:
    lacking = subject("convention", "V2", refused=2000)(perfect(*OPS))
    lacking = subject("convention", "V2 without its table", refused=2000)(lacking)
    lacking = with_stage(
        lacking,
        "golden",
        lambda s: replace(
            s, planned=s.planned + 2, subjects=(*s.subjects, SubjectCount("strict convention", 2, 0, 1))
        ),
    )
    assert judged(lacking).highest == "", "its backend declares V2"
    lacking = replace(lacking, backend=replace(FACTS, conventions=("V1",)))
    assert judged(lacking).highest == "L4", "here V1 alone has more cases than the level asks for"
    few = with_stage(
        lacking,
        "convention",
        lambda s: replace(
            s,
            planned=45,
            subjects=tuple(
                SubjectCount(x.subject, 15, 0, 0 if x.subject == "V1" else 15) for x in s.subjects
            ),
        ),
    )
    assert judged(few).highest == "L3"
    assert reasons(judged(few), "L4") == (
        "the stage convention has 15 results of the integer track; 27 are needed",
    )


def test_lengths_of_ops_that_may_be_refused_may_be_refused() -> None:
    everything = (*OPS, FADD, FADD64)
    results = with_op(perfect(*everything), FADD64, status="refused", parity=(), laws=())
    results = subject("determinism", FADD64, refused=4)(results)
    one = subject("dispatches", "float lengths", refused=1)(results)
    assert judged(one, FLOAT, ops=everything).highest == "L4f"
    two = subject("dispatches", "float lengths", refused=2)(results)
    assert judged(two, FLOAT, ops=everything).highest == "L1f"


def test_the_default_plan_meets_the_numbers_of_the_table() -> None:
    """As many cases of a stage as a level asks for are in a plan of everything, F64 left out."""
    from vyre.conform.suite.plan import make_plan
    from vyre.conform.suite.units import STAGES, units

    plan = make_plan("cpu")
    assert {s for row in TABLE for s in [n.stage for n in row.stages]} <= set(STAGES)
    counts = {u.name: u.count for u in units(plan, None) if u.kind is None}
    wanted: dict[str, dict[str, int]] = {}
    for row in TABLE:
        assert (plan.programs, plan.repeats, plan.largest) >= (row.programs, row.repeats, row.largest)
        assert min(plan.cases, plan.float_cases) >= row.cases
        for need in row.stages:
            wanted.setdefault(need.stage, {})[row.track] = need.least
    for name, by_track in wanted.items():
        assert name not in counts or sum(by_track.values()) <= counts[name], name
