"""The page of a certificate: complete, safe with hostile text, and working in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from markupsafe import escape

from vyre.backends.cpu.backend import CpuBackend
from vyre.cli.app import main
from vyre.conform.certify.adopters import describe
from vyre.conform.certify.certificate import certificates
from vyre.conform.certify.promises import registry_now
from vyre.conform.certify.schema1 import UNSAID
from vyre.conform.certify.statement import read, write
from vyre.conform.certify.summary import failure_lines, summary, verdict
from vyre.conform.records import counts
from vyre.conform.records.journal import Journal
from vyre.conform.records.results import Conditions, ExpectedFailure, Failure, Results
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.run import Suite
from vyre.report import render
from vyre.report.bits import side_by_side
from vyre.report.charts import Bar, bars

if TYPE_CHECKING:
    from vyre.conform.certify.statement import Document

HOSTILE = "<script>document.title='stolen'</script>"
CHROMIUM = next(
    (p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two ops and a stage on the processor, and one failure of every kind of text."""
    plan = make_plan(
        "cpu", cases=64, ops=("primitive.math.add", "primitive.math.negate"), stages=("ops",), largest=1
    )
    journal = Journal(tmp_path_factory.mktemp("run") / "journal", {"plan": asdict(plan)}, resume=False)
    found = Suite(plan, CpuBackend(), journal).run().results
    wrong = Failure(
        backend="reference",
        stage="ops",
        op="primitive.math.add",
        case="primitive.math.add/random/3",
        smallest="primitive.math.add/inputs/0x1",
        kind="value",
        inputs=("0x1", HOSTILE),
        expected="0x2",
        actual="0x80000002",
        found=("0x9",),
        count=12,
        seed=1,
        note=HOSTILE,
        program=HOSTILE,
        source=HOSTILE,
        replay="vyre certify x",
    )
    return replace(found, failures=(wrong,), expected=(ExpectedFailure("primitive.math.add", HOSTILE, True),))


@pytest.fixture(scope="module")
def document(results: Results) -> Document:
    (made,) = certificates(results, promised=registry_now())
    return read(write(made))


def test_it_shows_everything_that_matters(document: Document) -> None:
    page = render(document)
    for text in ("primitive.math.negate", "vyre certify x", "not granted", "uniform random", "L4"):
        assert text in page
    assert document.digest in page
    assert page.count("<svg") == 3  # no stage had cases of its own: a chart of nothing is left out


def test_it_shows_how_it_was_run(document: Document) -> None:
    certificate = document.certificate
    shown = render(document).partition('<h2 id="run">')[2].partition("<h2>")[0]
    assert "inside the process that judged it" in shown
    assert certificate.settings
    for one in certificate.settings:
        assert str(escape(one)) in shown
    assert certificate.code in shown
    apart = replace(certificate, conditions=Conditions("process", 90_000), settings=())
    shown = render(replace(document, certificate=apart))
    assert "in a process of its own, 90 s to wait for an answer" in shown
    assert "those of a full run" in shown
    assert "Not a full run" not in shown


def test_of_the_first_schema_it_shows_what_was_not_said() -> None:
    old = Path(__file__).parent.parent / "conform" / "certify" / "schema1" / "passed.json"
    assert UNSAID in render(read(old.read_bytes()))


def test_it_needs_no_network(document: Document) -> None:
    page = render(document)
    assert not re.findall(r"""(?:src|href)\s*=(?!"#)|url\(|@import|https?://""", page)


def test_text_of_strangers_stays_text(document: Document) -> None:
    assert HOSTILE not in render(document)


def test_bits_that_differ_are_marked() -> None:
    shown = of_value("0x2", "0x80000002")
    assert shown.count("<b>0</b>") == 1
    assert shown.count("<b>1</b>") == 1
    assert "00000000 00000000 00000000 0000000<b>1</b>" in of_value("0x00000001", "0x00000000")
    assert "at most 0x0" in of_value("at most 0x0", "0xFF")


def of_value(expected: str, actual: str) -> str:
    return side_by_side(("expected", expected), ("actual", actual))


def test_of_a_law_neither_side_is_called_expected_and_values_come_first(results: Results) -> None:
    value = replace(results.failures[0], note="", inputs=("0x0",))
    law = replace(
        value,
        op="primitive.math.negate",
        case="primitive.math.negate/Twice/u8/0",
        kind="law",
        expected="0x0",
        actual="0xFFFFFFFF",
        note="math.negate(a) = math.sub(0, a)",
        count=1,
    )
    found = replace(results, failures=(law, value), expected=())
    (made,) = certificates(found, promised=registry_now())
    lines = ["".join(t for t, _ in line) for line in failure_lines(law)]
    assert lines[2].startswith("  left side   0xFFFFFFFF  11111111")
    assert lines[3].startswith("  right side  0x0         00000000")
    assert "  law         math.negate(a) = math.sub(0, a)" in lines
    assert not [line for line in lines if "expected" in line or "actual" in line]
    console = "\n".join("".join(t for t, _ in line) for line in summary(found, [made]))
    page = render(read(write(made))).partition('<h2 id="failures">')[2]
    shown = page.partition("primitive.math.negate")[2].partition("</article>")[0]
    assert "<th>left side</th><td>0xFFFFFFFF</td>" in shown
    assert "<th>right side</th><td>0x0</td>" in shown
    assert "law: math.negate(a) = math.sub(0, a)" in shown
    assert "either side may be the wrong one" in shown
    assert "<th>expected</th>" not in shown
    assert console.index(value.case) < console.index(law.case)
    assert page.index("primitive.math.add") < page.index("primitive.math.negate")
    assert describe(law) == "primitive.math.add/inputs/0x1 on 0x0: left side 0xFFFFFFFF, right side 0x0"


def test_failures_of_one_op_are_one_card_with_their_number(results: Results) -> None:
    one = replace(results.failures[0], inputs=("0x7",))
    other = replace(one, op="", case="golden/primitive.bitwise.shr/golden/3")
    again = [replace(other, case=f"golden/primitive.bitwise.shr/golden/{k}") for k in (4, 6)]
    (made,) = certificates(replace(results, failures=(one, other, *again)), promised=registry_now())
    page = render(read(write(made)))
    assert page.startswith("<!doctype html>")
    cards = re.findall(r'<article class="failure">(.*?)</article>', page, re.S)
    assert ["3 failures" in card for card in cards] == [False, True]
    assert "primitive.math.add" in cards[0]
    seen, _, folded = cards[1].partition("<summary>2 more of golden/primitive.bitwise.shr</summary>")
    assert seen.count("replay:") == 1
    assert folded.count("replay:") == 2


def test_figures_are_exact_and_bars_in_proportion() -> None:
    assert ">953,166,345</text>" in bars([Bar("a", 953_166_345)], title="t")
    drawn = bars([Bar("a", 100), Bar("<b>", 50)], title="t")
    widths = [float(w) for w in re.findall(r'width="([\d.]+)"', drawn)]
    assert widths[0] == 2 * widths[1]
    assert "&lt;b&gt;" in drawn


def test_the_page_begins_with_what_the_console_says_and_the_levels(document: Document) -> None:
    shown = render(document)
    said = verdict(document.certificate.results)
    assert "that ran was expected" in said
    assert shown.index(escape(said)) < shown.index('id="levels"') < shown.index("What was run")


def tiles(page: str) -> dict[str, str]:
    found = re.findall(r'<div class="tile"><strong>(.*?)</strong><span class="quiet">(.*?)</span>', page)
    return {name: figure for figure, name in found}


def test_one_of_a_thing_is_named_as_one(results: Results) -> None:
    (made,) = certificates(replace(results, failures=results.failures * 2), promised=registry_now())
    page = render(read(write(made)))
    assert tiles(page)["failures"] == "2"
    assert "See them." in page
    (made,) = certificates(results, promised=registry_now())
    page = render(read(write(made)))
    assert tiles(page)["failure"] == "1"
    assert "See it." in page


def test_console_page_and_certificate_agree_to_the_digit(document: Document) -> None:
    certificate = document.certificate
    shown = tiles(render(document))
    said = "\n".join("".join(t for t, _ in line) for line in summary(certificate.results, [certificate]))
    run = counts.cases(certificate.results).run
    assert run > 1000
    assert shown["cases run"] == f"{run:,}"
    assert f"in {run:,} cases that ran" in said
    assert verdict(certificate.results) in said
    assert shown["ops run"] == f"{len(certificate.ops)}"
    assert shown["laws run"] == f"{sum(len(op.laws) for op in certificate.ops)}"


def test_a_device_that_is_only_slow_is_told_of_the_time_limit(results: Results) -> None:
    actual = "the backend mine did not answer within 60 s."
    hang = replace(results.failures[0], kind="hang", inputs=(), expected="a result", actual=actual, note="")
    (made,) = certificates(replace(results, failures=(hang,)), promised=registry_now())
    said = ["".join(t for t, _ in line) for line in failure_lines(hang)]
    for shown in ("\n".join(said), render(read(write(made)))):
        assert actual in shown
        assert "needs more time: --timeout" in shown
    assert not any(line.startswith("  input") for line in said)


def test_the_command_writes_it(document: Document, tmp_path: Path) -> None:
    source = tmp_path / "one.json"
    source.write_bytes(write(document.certificate))
    done = CliRunner().invoke(main, ["report", str(source)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "one.html").read_text().startswith("<!doctype html>")
    source.write_bytes(source.read_bytes().replace(b"math.add", b"math.sub", 1))
    assert CliRunner().invoke(main, ["report", str(source)]).exit_code == 1


PROBE = """<script>
field.value = "negate"; field.dispatchEvent(new Event("input"));
const rows = [...document.querySelectorAll("#matrix tbody tr")];
document.body.dataset.seen = [
  document.documentElement.scrollWidth <= innerWidth, rows.filter(r => !r.hidden).length, rows.length,
  getComputedStyle(document.querySelector(".level")).backgroundColor != "rgba(0, 0, 0, 0)",
  document.querySelectorAll("svg").length, document.title.includes("stolen"),
  [...document.querySelectorAll(".tile")].every(t => t.scrollWidth <= t.clientWidth),
].join(" ");
</script></body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_shows_it(document: Document, tmp_path: Path, width: int) -> None:
    page = tmp_path / "page.html"
    page.write_text(render(document).replace("</body>", PROBE), encoding="utf-8")
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         f"--window-size={width},900", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found is not None
    assert found[1] == "true 1 2 true 3 false true"
