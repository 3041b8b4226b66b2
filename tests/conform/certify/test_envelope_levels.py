"""What the envelope lacks denies L3, by name; what a device may lack does not. Old ones keep theirs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.conform.certify.made_up import ADD, FACTS, FADD, NOT, perfect, registry
from vyre.backends.protocol import BackendLimits
from vyre.conform.certify import certificate as certificates
from vyre.conform.certify.certificate import SECOND, CertificateContents
from vyre.conform.certify.envelope import heading, table
from vyre.conform.certify.level import levels
from vyre.conform.certify.sound import unsound
from vyre.conform.certify.statement import document_of
from vyre.conform.certify.summary import summary
from vyre.conform.records.blocks import FAILED, PASSED, REFUSED
from vyre.conform.records.documents import canonical
from vyre.conform.records.envelope import Lacking
from vyre.conform.shapes.envelope import enveloped
from vyre.conform.shapes.features import CHOSEN
from vyre.conform.shapes.rows import ROWS, fitted
from vyre.conform.spec.levels import LEAST_LIMITS
from vyre.errors import CertificateError
from vyre.report import render

if TYPE_CHECKING:
    from vyre.conform.certify.granted import TrackLevels
    from vyre.conform.records.results import Results

RIGHT = perfect(ADD, NOT)


def earned(results: Results) -> TrackLevels:
    return levels("integer", results, registry(ADD, NOT), ("sum",))


def third(results: Results) -> str:
    """The reasons for which L3 is denied; L2 is granted all the same."""
    found = earned(results)
    assert found.levels[1].granted
    return "; ".join(found.levels[2].reasons)


def with_rows(statuses: dict[int, str], limits: BackendLimits | None = None) -> Results:
    every = dict.fromkeys(range(len(ROWS)), PASSED) | statuses
    return replace(RIGHT, envelope=enveloped(every, limits or BackendLimits()))


def test_a_whole_envelope_is_granted() -> None:
    assert earned(RIGHT).highest == "L4"


@pytest.mark.parametrize(("status", "said"), [(FAILED, "failed"), (REFUSED, "refused")])
def test_a_pair_that_did_not_pass_denies_the_third_level(status: str, said: str) -> None:
    number = next(k for k, row in enumerate(ROWS) if "F64" not in row.values() and row["entrance"] == "run")
    assert f"{said}: " in third(with_rows({number: status}))
    assert "of shapes" in third(with_rows({number: status}))


def test_rows_that_were_not_run_deny_the_level() -> None:
    envelope = enveloped(dict.fromkeys(range(32), PASSED), BackendLimits())
    assert "of shapes were not run: " in third(replace(RIGHT, envelope=envelope))


def test_a_row_that_failed_denies_the_level_though_other_rows_have_its_pairs() -> None:
    """The rows that try a feature alone have many pairs that others have as well."""
    assert RIGHT.envelope is not None
    results = replace(RIGHT, envelope=replace(RIGHT.envelope, failed=(len(ROWS) - 1,)))
    assert third(results) == f"the stage shapes failed in 1 row of {len(ROWS)}"


def test_without_the_stage_there_is_no_third_level() -> None:
    left = replace(RIGHT, envelope=None, stages=tuple(s for s in RIGHT.stages if s.stage != "shapes"))
    assert third(left) == "the stage shapes was not run"


@pytest.mark.parametrize(("name", "least"), LEAST_LIMITS.items())
def test_less_than_the_default_of_webgpu_denies_the_third_level(name: str, least: int) -> None:
    def declaring(value: int) -> Results:
        return replace(RIGHT, backend=replace(FACTS, limits=(f"{name} {value}",)))

    assert earned(declaring(least)).highest == "L4"
    said = third(declaring(least - 1))
    assert said == f"the backend declares {name} {least - 1:,}, less than WebGPU's default of {least:,}"


def test_beyond_a_declared_limit_of_webgpu_nothing_is_needed() -> None:
    limits = BackendLimits(**LEAST_LIMITS)
    facts = replace(FACTS, limits=tuple(f"{name} {value}" for name, value in LEAST_LIMITS.items()))
    results = replace(with_rows({}, limits), backend=facts)
    assert results.envelope is not None
    assert "beyond the declared limit" in results.envelope.missed
    assert earned(results).highest == "L4"


def lacking(feature: str, level: str) -> list[Lacking]:
    """Every row that has the level was tried without it."""
    first = str(CHOSEN[feature].levels[0])
    return [Lacking(k, feature, level, first) for k, row in enumerate(ROWS) if row[feature] == level]


def with_lacking(found: list[Lacking]) -> Results:
    return replace(RIGHT, envelope=enveloped(dict.fromkeys(range(len(ROWS)), PASSED), BackendLimits(), found))


def test_an_entrance_that_a_backend_does_not_have_denies_nothing() -> None:
    """Where some cases could take it, a refusal denies the level."""
    every = lacking("entrance", "borrow")
    assert earned(with_lacking(every)).highest == "L4"
    assert "entrance borrow" in third(with_lacking(every[1:]))


def test_a_feature_that_no_device_may_lack_denies_the_level() -> None:
    assert "access Uniform" in third(with_lacking(lacking("access", "Uniform")))


def test_f64_is_needed_where_there_are_doubles_and_nowhere_else() -> None:
    refused = with_lacking(lacking("payload", "F64"))
    assert "payload F64" in third(refused)
    double = replace(perfect(FADD).ops[0], id="float.f64.add", status="refused")
    assert "payload F64" not in third(replace(refused, ops=(*refused.ops, double)))


def made(results: Results = RIGHT) -> CertificateContents:
    return certificates.certificates(results, promised=registry(ADD, NOT))[0]


def test_a_certificate_of_the_second_schema_keeps_the_levels_of_its_time() -> None:
    results = replace(RIGHT, envelope=None, stages=tuple(s for s in RIGHT.stages if s.stage != "shapes"))
    record = json.loads(made(results).to_json())
    new = CertificateContents.from_record(record)
    assert new.derived().track("integer").highest == "L2"
    old = CertificateContents.from_record({**record, "schema": SECOND})
    assert old.derived().track("integer").highest == "L3"


def test_the_second_schema_has_no_envelope() -> None:
    record = json.loads(made().to_json())
    assert "envelope" in record
    with pytest.raises(CertificateError, match="has no such section"):
        CertificateContents.from_record({**record, "schema": SECOND})


def test_an_envelope_that_does_not_fit_its_stage_is_missed() -> None:
    fitting = made()
    assert fitting.envelope is not None
    assert "envelope" not in unsound(fitting)
    wrong = with_rows({0: FAILED}).envelope
    assert wrong is not None
    assert "its envelope is not that" in unsound(replace(fitting, envelope=wrong))
    assert "has no envelope" in unsound(replace(fitting, envelope=None))
    more = replace(fitting.envelope, missing=wrong.missing)
    assert "claimed and missing" in unsound(replace(fitting, envelope=more))
    fewer = replace(fitting.envelope, pairs=fitting.envelope.pairs[1:])
    assert "other pairs" in unsound(replace(fitting, envelope=fewer))
    twice = replace(
        fitting.envelope, features=(fitting.envelope.features[0],) * len(fitting.envelope.features)
    )
    assert "twice" in unsound(replace(fitting, envelope=twice))
    assert "did not run the stage shapes" in unsound(
        replace(fitting, stages=tuple(s for s in RIGHT.stages if s.stage != "shapes"))
    )


def test_it_is_one_small_table_on_console_and_page() -> None:
    limits = BackendLimits(workgroup_bytes=16_384)
    results = with_rows({3: FAILED}, limits)
    assert results.envelope is not None
    rows = {row.feature: row for row in table(results.envelope)}
    assert list(rows) == [f.name for f in results.envelope.features]
    assert rows["workgroup bytes"].ran == "16,384"
    assert rows["workgroup bytes"].limit == "16,384"
    assert rows["dispatch"].ran == "all"
    assert any(row.tone == "bad" for row in rows.values())
    certificate = made(results)
    text = "\n".join("".join(piece for piece, _ in line) for line in summary(results, [certificate]))
    page = render(document_of(certificate))
    for shown in (text, page):
        assert heading(results.envelope) in " ".join(shown.split())
        assert "workgroup bytes" in shown
        assert "16,384" in shown
    shapes = text[text.index(heading(results.envelope)[:20]) :]
    assert max(map(len, shapes.splitlines())) <= 80


def test_rows_are_fitted_before_they_are_counted() -> None:
    assert fitted(ROWS[0], BackendLimits(buffers=4))["buffers"] == 4
    assert canonical(json.loads(made().to_json())) == made().to_json()
