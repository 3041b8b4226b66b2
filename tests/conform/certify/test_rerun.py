"""Running a part again: an honest certificate stands, one that hides or invents a failure does not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests.conform.certify.small_runs import DIV, Raising, Refusing, Right, WrongDivision, certified, small
from vyre.conform.certify.annex import BASELINES, check_annex, measure, read_annex, write_annex
from vyre.conform.certify.certificate import certificates
from vyre.conform.certify.keys import SigningKey
from vyre.conform.certify.promises import registry_now
from vyre.conform.certify.rerun import rerun
from vyre.conform.certify.statement import read, write
from vyre.conform.certify.verify import verify
from vyre.conform.records.documents import canonical
from vyre.conform.suite.units import graph_of
from vyre.conform.verify.cases import kind_of
from vyre.errors import CertificateError, VyreError
from vyre.ir.expr import BinOp, Expr, LitU32, Select
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.backends.protocol import BackendInfo
    from vyre.conform.certify.certificate import CertificateContents

__all__ = ["small"]

pytestmark = pytest.mark.usefixtures("small")
STAGES = ("ops", "wire")


def again(certificate: CertificateContents, backend: Any, *, share: float = 1.0) -> Any:
    return rerun(certificate, backend, share=share, seed=5)


def test_an_honest_certificate_verifies_and_stands(tmp_path: Path) -> None:
    certificate = certified(Right(), tmp_path, stages=STAGES)
    report = verify(write(certificate))
    assert report.ok, report.findings
    assert {f.check: f.status for f in report.findings} == {
        "structure": "good", "signature": "open", "levels": "good", "registry": "good", "plan": "good",
        "settings": "open",
    }  # fmt: skip
    found = again(certificate, Right())
    assert found.ok
    assert (found.blocks, found.of) == (found.of, found.of)
    assert found.cases == sum(op.cases for op in certificate.results.ops) + 2


@pytest.mark.parametrize("backend", [WrongDivision, Raising, Refusing])
def test_honest_failures_and_refusals_stand_too(backend: type[Right], tmp_path: Path) -> None:
    certificate = certified(backend(), tmp_path)
    assert verify(write(certificate)).ok
    found = again(certificate, backend())
    assert found.mismatches == ()
    assert bool(found.refused) == (backend is Refusing)


def test_a_part_is_chosen_by_its_seed(tmp_path: Path) -> None:
    certificate = certified(Right(), tmp_path)
    whole = again(certificate, Right())
    part = again(certificate, Right(), share=0.1)
    assert 0 < part.cases < whole.cases
    assert part.blocks == max(1, round(0.1 * whole.of))
    assert part == again(certificate, Right(), share=0.1)
    assert again(certificate, Right(), share=1e-9).blocks == 1
    for wrong in (0.0, 1.5, -1.0):
        with pytest.raises(VyreError):
            again(certificate, Right(), share=wrong)


def test_a_hidden_failure_is_found(tmp_path: Path) -> None:
    hidden = certified(Right(), tmp_path, ops=(DIV,))
    found = again(hidden, WrongDivision())
    assert not found.ok
    assert "the certificate says no failure" in found.mismatches[0]
    assert DIV in found.mismatches[0]


def test_an_invented_failure_is_found(tmp_path: Path) -> None:
    found = again(certified(WrongDivision(), tmp_path, ops=(DIV,)), Right())
    assert not found.ok


def test_a_crash_that_was_not_certified_is_found(tmp_path: Path) -> None:
    found = again(certified(Right(), tmp_path, ops=(DIV,)), Raising())
    assert any("the divider is on fire" in m for m in found.mismatches)


class WrongWhereNobodyLooked(Right):
    """Wrong on one input alone, which is not a case of the certified run."""

    def __init__(self, words: tuple[int, int]) -> None:
        super().__init__()
        self._words = words

    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, BinOp) and expr.op is BinaryOp.Div:
            a, b = self._words
            return Select(expr.left.eq(a) & expr.right.eq(b), LitU32(7), expr)
        return expr


def test_a_fresh_seed_finds_what_the_certified_cases_do_not(tmp_path: Path) -> None:
    certificate = certified(Right(), tmp_path, ops=(DIV,))
    fresh = again(certificate, Right())
    assert fresh.ok
    assert fresh.fresh_seed != certificate.plan.seed
    assert fresh.fresh_blocks > 0
    assert fresh.fresh_cases > 0
    plan = replace(certificate.plan, seed=fresh.fresh_seed)
    words = kind_of(graph_of(DIV), "random", plan).case(11)
    found = again(certificate, WrongWhereNobodyLooked((words[0], words[1])))
    assert found.mismatches
    assert all(f"with the fresh seed {fresh.fresh_seed}" in m for m in found.mismatches)


class Elsewhere(Right):
    def describe(self) -> BackendInfo:
        return replace(super().describe(), device="another processor")


def test_another_device_is_said_to_be_one(tmp_path: Path) -> None:
    certificate = certified(Right(), tmp_path, ops=("cast.u32.i32",))
    assert again(certificate, Right()).device == ()
    found = again(certificate, Elsewhere())
    assert found.ok
    assert len(found.device) == 1
    assert found.device[0].startswith("device is 'another processor', not ")


def test_a_device_that_changes_while_it_is_run_again_ends_it(tmp_path: Path) -> None:
    certificate = certified(Right(), tmp_path, ops=("cast.u32.i32",))

    class Drifting(Right):
        asked = 0

        def describe(self) -> BackendInfo:
            self.asked += 1
            return replace(super().describe(), device=f"device {self.asked > 2}")

    with pytest.raises(VyreError, match="is not the one that the run began with"):
        again(certificate, Drifting())


def test_a_stage_is_compared_case_by_case(tmp_path: Path) -> None:
    honest = certified(Right(), tmp_path, ops=(), stages=("programs",), programs=3)
    assert again(honest, Right()).cases == 3

    class Silent(Right):
        """Stores nothing."""

        def compile(self, program: Any) -> Any:
            class Nothing:
                def run(self, buffers: Any, workgroups: Any) -> None: ...

            return Nothing()

    found = again(honest, Silent())
    assert found.mismatches[0].startswith(
        "programs/integer/0: the certificate says passed, here it is failed"
    )


def test_what_another_device_refuses_is_no_mismatch(tmp_path: Path) -> None:
    found = again(certified(Right(), tmp_path), Refusing())
    assert found.ok
    assert found.refused


def test_a_certificate_that_leaves_out_a_kind_of_cases_is_refused(tmp_path: Path) -> None:
    certificate = certified(Right(), tmp_path, ops=(DIV,))
    results = certificate.results
    op = replace(results.ops[0], parity=results.ops[0].parity[1:])
    (forged,) = certificates(replace(results, ops=(op,)), promised=registry_now())
    found = {f.check: f for f in verify(write(forged)).findings}
    assert found["levels"].status == "good"
    assert (found["plan"].status, found["plan"].text) == (
        "wrong",
        f"{DIV} has other cases, laws, classes or boundaries than its plan.",
    )
    older = {f.check: f for f in verify(write(replace(forged, vyre="0.0.1"))).findings}
    assert (older["plan"].status, "vyre (0.0.1)" in older["plan"].text) == ("open", True)
    (fewer,) = certificates(replace(results, ops=()), promised=registry_now())
    assert "about other ops than its plan" in {f.check: f for f in verify(write(fewer)).findings}["plan"].text
    plan = replace(results.plan, ops=("no.such",))
    (strange,) = certificates(replace(results, plan=plan), promised=registry_now())
    assert "names no.such" in {f.check: f for f in verify(write(strange)).findings}["plan"].text


def test_the_annex_belongs_to_its_certificate(tmp_path: Path) -> None:
    found = measure(Right())
    assert tuple(b.name for b in found) == BASELINES
    assert found[0].of_copy == "1.000"
    assert all(b.microseconds > 0 for b in found)
    certificate = certified(Right(), tmp_path, ops=("cast.u32.i32",), baselines=BASELINES)
    document = read(write(certificate))
    pytest.importorskip("cryptography")
    key = SigningKey.generate()
    data = write_annex(found, certificate, key=key)
    assert read_annex(data)[0].baselines == found
    assert check_annex(data, document, trusted=key.keyid).status == "good"
    assert check_annex(write_annex(found, certificate), document).status == "open"
    assert (
        "is not signed by" in check_annex(write_annex(found, certificate), document, trusted=key.keyid).text
    )
    assert "other baselines" in check_annex(write_annex(found[1:], certificate), document).text
    elsewhere = replace(certificate, backend=replace(certificate.backend, device="another"))
    assert "another backend" in check_annex(write_annex(found, elsewhere), document).text
    changed = json.loads(write_annex(found, certificate))
    changed["predicate"]["baselines"][1]["of_copy"] = "9.999"
    assert "predicate.baselines" in check_annex(canonical(changed), document).text
    with pytest.raises(CertificateError, match="not a performance annex"):
        read_annex(write(certificate))
