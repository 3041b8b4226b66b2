"""L1a rests on golden rows and on the stage of the approximate track, in a certificate of its own."""

from __future__ import annotations

from tests.conform.certify.made_up import perfect, registry
from tests.conform.certify.test_levels import OPS, subject, without
from vyre.conform.certify.certificate import certificates
from vyre.conform.certify.summary import summary
from vyre.conform.records import counts
from vyre.conform.spec.track import APPROXIMATE, INTEGER

SIN = "approximate FSinApprox F32"


def test_the_approximate_level_rests_on_its_stage() -> None:
    results = perfect(*OPS)
    made = certificates(results, promised=registry(*OPS), baselines=("copy",))
    assert [c.kind for c in made] == ["strict", "approximate"]
    assert made[1].track(APPROXIMATE).highest == "L1a"
    assert [s.stage for s in made[1].stages] == ["golden", "approximate"]
    assert SIN not in {s.subject for x in made[0].stages for s in x.subjects}
    for damage, reason in [
        (subject("approximate", SIN, failed=1), "the stage approximate failed in 1 case"),
        (subject("approximate", SIN, refused=1), "the stage approximate was refused in 1 case"),
        (subject("golden", "approximate float", failed=1), "the stage golden failed in 1 case"),
    ]:
        strict, approximate = certificates(damage(results), promised=registry(*OPS), baselines=("copy",))
        assert strict.track(INTEGER).highest == "L4"
        assert approximate.track(APPROXIMATE).highest == ""
        assert any(r.startswith(reason) for r in approximate.track(APPROXIMATE).levels[0].reasons)


def test_without_the_stage_there_is_no_certificate() -> None:
    found = certificates(without("approximate")(perfect(*OPS)), promised=registry(*OPS), baselines=("copy",))
    assert [c.kind for c in found] == ["strict"]


def test_the_console_says_how_many_cases_the_certificate_counts() -> None:
    whole = perfect(*OPS)
    for results, where in (
        (whole, "one of their own"),
        (without("approximate")(whole), "none"),
    ):
        made = certificates(results, promised=registry(*OPS), baselines=("copy",))
        strict = counts.cases(made[0].results).run
        others = counts.cases(results).run - strict
        assert others
        text = "\n".join("".join(part for part, _ in line) for line in summary(results, made, width=200))
        assert f"{strict:,} are in the certificate; {others:,} have a tolerance and are in {where}." in text
