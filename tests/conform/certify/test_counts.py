"""What was run, refused and not run is told apart wherever it is told, and the same everywhere."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("jinja2")

from tests.conform.certify.made_up import ADD, NOT, SHUFFLE, full, op, perfect
from tests.conform.certify.small_runs import DIV, Refusing, Right, certified, small
from vyre.conform.certify.adopters import junit
from vyre.conform.certify.rerun import rerun
from vyre.conform.certify.statement import read, write
from vyre.conform.certify.summary import summary
from vyre.conform.certify.verify import verify
from vyre.conform.records import counts
from vyre.conform.records.counts import Counts
from vyre.conform.records.evidence import KindCount
from vyre.conform.records.results import StageResult, SubjectCount
from vyre.report import render

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.conform.certify.certificate import CertificateContents

__all__ = ["small"]

SHR = "primitive.bitwise.shr"
"""One of its laws divides, and cannot be run where there is no divider."""


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> CertificateContents:
    folder = tmp_path_factory.mktemp("refusing")
    return certified(Refusing(), folder, ops=(DIV, SHR), stages=("ops", "golden", "folding"))


def console(certificate: CertificateContents) -> str:
    lines = summary(certificate.results, [certificate], width=200)
    return "\n".join("".join(text for text, _ in line) for line in lines)


def tiles(certificate: CertificateContents) -> dict[str, str]:
    page = render(read(write(certificate)))
    found = re.findall(r'<div class="tile"><strong>(.*?)</strong><span class="quiet">(.*?)</span>', page)
    return {name: figure for figure, name in found}


def test_every_case_is_run_or_refused_or_not_run() -> None:
    results = perfect(ADD, NOT, SHUFFLE)
    found = counts.cases(results)
    assert (found.refused, found.not_run) == (0, 0)
    lacking = replace(op(ADD), status="refused", parity=(KindCount("random", 0, 100, 0),), laws=())
    short = replace(op(NOT), parity=(KindCount("random", 30, 100, 0),), laws=())
    stage = StageResult("golden", 50, (SubjectCount("strict x", 40, 1, 15),))
    results = replace(results, ops=(lacking, short), stages=(stage,))
    assert counts.cases(results) == Counts(30 + 25, 100 + 15, 70 + 10)
    assert counts.ops(results.ops) == Counts(1, 1, 0)


def test_a_law_of_which_nothing_ran_is_no_law_that_was_run() -> None:
    first, second = op(ADD).laws
    refused = replace(first, counts=(KindCount("u8", 0, 65536, 0), KindCount("random", 0, 100, 0)))
    one = replace(op(ADD), laws=(refused, second))
    assert counts.laws([one]) == Counts(1, 1, 0)
    assert counts.law(one, refused) == Counts(0, 65636, 0)
    idle = replace(one, status="not run", parity=(KindCount("u8", 0, 9, 0),), laws=(refused,))
    assert counts.laws([idle]) == Counts(0, 0, 1)
    assert counts.laws([replace(one, laws=(replace(first, counts=(full("u8", 3),)),))]) == Counts(1)


def test_the_console_says_how_many_were_refused(refusing: CertificateContents) -> None:
    found = counts.cases(refusing.results)
    assert found.run
    assert found.refused
    text = console(refusing)
    assert f"✓ All {found.run:,} cases that ran agree." in text
    assert f"{found.refused:,} refused: these show nothing." in text
    golden = next(counts.stage(s) for s in refusing.stages if s.stage == "golden")
    assert f"golden {golden.run:,} ({golden.refused:,} refused)" in text
    laws = counts.laws(refusing.results.ops)
    assert laws.run < sum(len(o.laws) for o in refusing.ops)
    assert "1 law refused" in text


def test_the_page_says_the_same(refusing: CertificateContents) -> None:
    found, laws = counts.cases(refusing.results), counts.laws(refusing.results.ops)
    shown = tiles(refusing)
    assert shown["cases run"] == f"{found.run:,}"
    assert shown["cases refused"] == f"{found.refused:,}"
    assert (shown["laws run"], shown["laws refused"]) == (str(laws.run), str(laws.refused))
    assert (shown["op run"], shown["op refused"]) == ("1", "1")
    assert not [name for name in shown if "checked" in name]


def test_verifying_says_the_same(refusing: CertificateContents) -> None:
    found = counts.cases(refusing.results)
    plan = next(f for f in verify(write(refusing)).findings if f.check == "plan")
    assert f"{found.run:,} cases run, {found.refused:,} refused" in plan.text


def test_a_rerun_counts_what_it_ran(refusing: CertificateContents) -> None:
    found = counts.cases(replace(refusing.results, ops=()))
    again = rerun(replace(refusing, ops=()), Refusing(), share=1.0, seed=1)
    assert found.refused
    assert (again.cases, again.refused) == (found.run, found.refused)


def test_junit_has_no_passed_test_of_which_nothing_ran(refusing: CertificateContents) -> None:
    text = junit(refusing.results)
    passed = re.findall(r'<testcase classname="primitive.math.div" name="[^"]*" />', text)
    assert passed == []
    lacking = [law.law for law in refusing.results.ops[1].laws if not any(c.cases for c in law.counts)]
    assert lacking
    for law in lacking:
        assert f'<testcase classname="{SHR}" name="{law}" />' not in text


def test_nothing_is_said_of_refusals_where_there_are_none(small: None, tmp_path: Path) -> None:
    text = console(certified(Right(), tmp_path, ops=(DIV,)))
    assert "that ran agree." in text
    assert "these show nothing" not in text
