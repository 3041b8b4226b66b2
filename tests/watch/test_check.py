"""`kernel.check`, `vyre check` and `VYRE_CHECK=1` see what makes a result depend on the machine."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from click.testing import CliRunner

import vyre
from vyre import In, InOut, Out, f32, u32
from vyre.cli.app import main
from vyre.errors import CheckError, DispatchError, KernelWarning

if TYPE_CHECKING:
    from pathlib import Path

WORDS = np.arange(16, dtype=np.uint32)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", KernelWarning)

    @vyre.kernel(workgroup_size=8)
    def total(a: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[0] += a[i]

    @vyre.kernel(workgroup_size=8)
    def shifted(a: In[u32], out: Out[u32]) -> None:
        tile = vyre.shared(u32, 8)
        i = vyre.invocation_id(0)
        k = vyre.local_id(0)
        tile[k] = a[i]
        out[i] = tile[7 - k]


@vyre.kernel(workgroup_size=8)
def mirrored(a: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 8)
    i = vyre.invocation_id(0)
    k = vyre.local_id(0)
    tile[k] = a[i]
    vyre.barrier()
    out[i] = tile[7 - k]


@vyre.kernel(workgroup_size=8)
def unwritten(out: Out[u32]) -> None:
    tile = vyre.shared(u32, 8)
    out[vyre.invocation_id(0)] = tile[vyre.local_id(0)]


@vyre.kernel(workgroup_size=8)
def beyond(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i + 1]


@vyre.kernel(workgroup_size=8)
def doubled(a: InOut[u32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(a):
        a[i] = a[i] * 2


def test_a_race_is_told_once_with_the_lines_of_both_sides() -> None:
    report = total.check(WORDS, out=1, workgroups=2)
    assert not report.ok
    (race,) = [f for f in report.findings if f.kind == "race"]
    assert "out[0]" in race.message
    assert [p.location.text.strip() for p in race.places if p.location] == ["out[0] += a[i]"] * 2
    assert "invocation (0, 0, 0)" in str(report)
    assert "atomic_add" in race.fix


def test_a_missing_barrier_is_a_race_between_two_lines() -> None:
    report = shifted.check(WORDS)
    race = next(f for f in report.findings if f.kind == "race")
    texts = {p.location.text.strip() for p in race.places if p.location}
    assert texts == {"tile[k] = a[i]", "out[i] = tile[7 - k]"}
    assert not report.ok


def test_a_kernel_with_its_barrier_has_no_findings() -> None:
    report = mirrored.check(WORDS)
    assert report.ok
    assert report.findings == ()
    assert "no findings" in str(report)
    assert report.steps > 0


def test_workgroup_memory_that_nothing_wrote_is_told() -> None:
    report = unwritten.check(out=8)
    assert [f.kind for f in report.findings] == ["uninitialised read"]
    assert not report.ok


def test_an_access_beyond_the_end_is_told_and_harmless() -> None:
    report = beyond.check(WORDS)
    assert [(f.kind, f.harmless) for f in report.findings] == [("out of bounds", True)]
    assert report.ok
    assert "16 elements, and the access to element 16 gave 0" in str(report)


@vyre.kernel(workgroup_size=(8, 4))
def transposed(a: In[u32, Literal["m", "n"]], out: Out[u32, Literal["n", "m"]]) -> None:
    i, j = vyre.grid(2)
    out[i, j] = a[j, i]


@vyre.kernel(workgroup_size=(8, 4))
def moved(a: In[u32, Literal["m", "n"]], out: Out[u32, Literal["m", "n"]]) -> None:
    i, j = vyre.grid(2)
    out[i, j] = a[i, j + 1]


def test_invocations_that_fill_up_a_workgroup_are_no_finding() -> None:
    short = WORDS[:5]
    assert transposed.check(WORDS[:15].reshape(3, 5)).findings == ()
    (told,) = beyond.check(short).findings
    assert "element 5 gave 0" in told.message
    assert "invocation (4, 0, 0)" in told.places[0].what
    (told,) = moved.check(WORDS[:15].reshape(3, 5)).findings
    assert "invocation (4, 0, 0)" in told.places[0].what
    all_meant = beyond.check(short, workgroups=1).findings
    assert [f.kind for f in all_meant] == ["out of bounds"] * 2, "a grid that was asked for is all meant"


@vyre.kernel(workgroup_size=8)
def asked_first(a: In[u32], out: Out[u32], last: u32) -> None:
    i = vyre.invocation_id(0)
    before = a[i - 1] if i > 0 else 7
    after = i + 1 < last and a[i + 1] > 3
    none = i + 1 >= last or (a[i + 1] if i > 90 else a[i]) > 3
    out[i] = before + u32(after) + u32(none)


def test_what_an_earlier_operand_keeps_out_is_no_finding() -> None:
    assert asked_first.check(WORDS, last=16).findings == ()
    told = asked_first.check(WORDS, last=17).findings
    assert ["element 16 gave 0" in f.message for f in told] == [True], "the second line alone asks wrongly"
    assert asked_first(WORDS, last=16, backend="reference").tolist()[:3] == [7, 0, 1]


@vyre.kernel(workgroup_size=8)
def emptied(a: In[u32], out: Out[u32, Literal["n", 2]]) -> None:
    counts = vyre.shared(u32, 8, atomic=True)
    i, k = vyre.invocation_id(0), vyre.local_id(0)
    vyre.atomic_exchange(counts, k, a[i])
    vyre.barrier()
    out[i, 0], out[i, 1] = counts[k], a[i]


def test_an_exchange_fills_memory_and_a_line_is_told_of_once() -> None:
    (told,) = emptied.check(WORDS, (8, 2)).findings
    assert "a coordinate outside of its shape" in told.message


def test_what_is_passed_stays_as_it_is() -> None:
    given = WORDS.copy()
    assert doubled.check(given).ok
    assert (given == WORDS).all()


def test_an_empty_call_has_no_findings() -> None:
    assert doubled.check(np.zeros(0, np.uint32)).ok


def test_every_call_is_watched_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CHECK", "1")
    with pytest.raises(CheckError, match="depends on the machine") as caught:
        total(WORDS, out=1, workgroups=2, backend="reference")
    assert "out[0] += a[i]" in str(caught.value)
    with pytest.warns(KernelWarning, match="element 16 gave 0"):
        beyond(WORDS, backend="reference")
    assert (mirrored(WORDS, backend="reference")[:8] == WORDS[:8][::-1]).all()
    monkeypatch.setenv("VYRE_CHECK", "0")
    total(WORDS, out=1, workgroups=2, backend="reference")


def test_what_is_too_large_to_watch_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CHECK", "1")
    monkeypatch.setattr("vyre.frontend.watched.SMALL_CALL", 10)
    with pytest.warns(KernelWarning, match="skipped a call of doubled: it takes more than 10 steps"):
        doubled(WORDS, backend="reference")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        doubled(WORDS, backend="reference")


class OnADevice:
    """What a library's array of a GPU looks like."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_memory_of_a_device_is_refused_with_a_way_out() -> None:
    with pytest.raises(DispatchError, match="copies on the host"):
        doubled.check(OnADevice())


def test_the_command_shows_the_findings_and_exits_with_1(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", WORDS)
    source = tmp_path / "k.py"
    source.write_text(
        "import vyre\nfrom vyre import In, Out, u32\n\n\n@vyre.kernel\n"
        "def total(a: In[u32], out: Out[u32]):\n    out[0] += a[vyre.invocation_id(0)]\n"
    )
    asked = ["check", f"{source}:total", "--input", f"a={tmp_path / 'a.npy'}", "--length", "out=1"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        shown = CliRunner().invoke(main, asked)
        told = CliRunner().invoke(main, [*asked, "--json"])
    assert shown.exit_code == 1
    assert "race: two invocations use out[0]" in shown.output
    assert f"{source}:7:5" in shown.output
    record = json.loads(told.output)
    assert (record["ok"], record["findings"][0]["kind"]) == (False, "race")


@vyre.kernel(workgroup_size=4)
def summed(a: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    s = f32(0)
    for j in range(3):
        s += a[i + j] * 0.1
    if s > 0.5:
        out[i] = s


def test_a_trace_shows_what_each_statement_made() -> None:
    a = np.array([0, 1, 2, 3, 4, 5, 6, 7], np.float32)
    trace = summed.trace(a, invocation=5)
    made = [(line.step.kind, line.step.name, line.value) for line in trace.lines]
    expected = np.float32(0)
    assert made[:2] == [("let", "i", "5"), ("let", "s", "0.0")]
    for turn in range(3):
        x = a[5 + turn] if 5 + turn < len(a) else np.float32(0)
        expected = np.float32(expected + np.float32(x * np.float32(0.1)))
        assert made[2 + 2 * turn] == ("loop", "j", str(turn))
        assert made[3 + 2 * turn] == ("assign", "s", str(float(str(expected))))
    assert made[8:] == [("if", "", "1"), ("store", "out", str(float(str(expected))))]
    assert trace.lines[-1].step.index == 5
    assert "out[5] = " in str(trace)
    assert "s += a[i + j] * 0.1" in str(trace)


def test_a_long_trace_is_cut_and_says_so() -> None:
    trace = summed.trace(np.zeros(8, np.float32), invocation=(1,), steps=3)
    assert (len(trace.lines), trace.left_out) == (3, 6)
    assert "6 more" in str(trace)


@pytest.mark.parametrize("wrong", [-1, (1, 2, 3, 4), "x", (1.5,)])
def test_an_invocation_that_cannot_be_is_refused(wrong: object) -> None:
    with pytest.raises(DispatchError, match="Invalid invocation"):
        summed.trace(np.zeros(8, np.float32), invocation=wrong)  # pyright: ignore[reportArgumentType]
