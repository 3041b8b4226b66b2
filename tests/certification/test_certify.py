"""A program certifies a backend, and holds what the command line would have written."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import vyre
from tests.wrong import WrongAddition
from vyre import Certificate, CertifyPlan, CertifyProgress, certify
from vyre.backends.cpu.backend import CpuBackend
from vyre.cli import main
from vyre.conform.certify.finding import WRONG
from vyre.conform.certify.keys import SigningKey
from vyre.conform.certify.statement import sealed_record
from vyre.conform.records.documents import canonical
from vyre.errors import CertificateError, VyreError

if TYPE_CHECKING:
    from pathlib import Path


ADD = "primitive.math.add"
TINY = CertifyPlan(ops=(ADD, "primitive.bitwise.not"), cases=16, quick=True, isolate=False)


@pytest.fixture(autouse=True)
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.conform.verify.cases.PER_CLASS", 4)
    monkeypatch.setattr("vyre.conform.verify.cases.SHAPED", 24)
    monkeypatch.setattr("vyre.conform.verify.cases.BOUNDARY_LIMIT", 1 << 11)
    monkeypatch.setattr("vyre.conform.suite.plan.QUICK_LARGEST", 0)
    monkeypatch.setattr("vyre.conform.suite.units.BLOCK", 16)


def with_(**settings: Any) -> CertifyPlan:
    return replace(TINY, **settings)


def test_a_backend_by_name_and_an_instance_of_it_are_certified() -> None:
    named = certify("cpu", TINY)
    held = certify(CpuBackend(), TINY)
    for made in (named, held):
        assert made.ok
        assert not made.failures
        assert made.levels == {"integer": "", "float": ""}
        assert made.verify().ok
        assert any("285 of 287" in s or "ops left out" in s for s in made.settings)
    assert (named.backend.target, held.backend.target) == ("cpu", "vyre.backends.cpu.backend:CpuBackend")
    assert named.results.ops == held.results.ops
    assert certify("cpu", TINY) == named


def test_nothing_is_written_where_no_state_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = certify("cpu", TINY)
    assert made.run is not None
    assert made.run.folder is None
    assert not list(tmp_path.iterdir())


def test_progress_arrives_in_order() -> None:
    told: list[CertifyProgress] = []
    certify("cpu", TINY, progress=told.append)
    assert [p.done for p in told] == sorted({p.done for p in told})
    assert told[-1].done == told[-1].total
    assert {p.stage.name for p in told if p.stage is not None} == {"ops"}
    assert {p.what for p in told} == {ADD, "primitive.bitwise.not"}
    assert not any(p.failing or p.resumed for p in told)


def test_the_whole_time_is_told_by_an_earlier_run_of_the_same_plan(tmp_path: Path) -> None:
    plan = with_(state=tmp_path)

    def told() -> list[float | None]:
        found: list[CertifyProgress] = []
        certify("cpu", plan, progress=found.append)
        return [p.stage.whole_left for p in found if p.stage is not None]

    assert set(told()) == {None}
    times = [-1.0 if seconds is None else seconds for seconds in told()]
    assert min(times[:-1]) > 0
    assert times[-1] == 0
    (kept,) = tmp_path.rglob("annex.json")
    facts = json.loads(kept.read_text())
    for spoilt in ("{", "[]", json.dumps({**facts, "groups": 7}), json.dumps({**facts, "resumed_cases": 9})):
        kept.write_text(spoilt)
        assert set(told()) == {None}


def test_a_wrong_backend_gets_a_certificate_of_its_failures() -> None:
    told: list[CertifyProgress] = []
    made = certify(WrongAddition(), TINY, progress=told.append)
    assert not made.ok
    assert {f.op for f in made.failures} == {ADD}
    assert made.verify().ok
    assert told[-1].failing == len(made.failures)
    assert "WrongAddition" in made.failures[0].replay


def test_the_command_writes_the_bytes_that_the_call_gives(tmp_path: Path) -> None:
    key = SigningKey.generate()
    key.write(str(tmp_path / "key"))
    made = certify("cpu", TINY, key=key)
    call = ["certify", "cpu", "--ops", ADD, "--ops", "primitive.bitwise.not", "--cases", "16", "--quick"]
    call += ["--in-process", "--state", str(tmp_path / "s"), "--certificate", str(tmp_path / "c.json")]
    done = CliRunner().invoke(main, [*call, "--key", str(tmp_path / "key")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "c.json").read_bytes() == made.data
    assert made.signers == (key.keyid,)
    assert made.verify(trusted=key.keyid).ok
    assert not made.verify(trusted=SigningKey.generate().keyid).ok
    (folder,) = (tmp_path / "s" / "runs").iterdir()
    assert (folder / "results.json").read_bytes() == made.results.to_json()


def test_shards_merge_into_the_whole() -> None:
    parts = [certify("cpu", with_(shard=(k, 2))) for k in (1, 2)]
    whole = certify("cpu", TINY)
    assert parts[0].merge(parts[1]) == Certificate.merge(*reversed(parts)) == whole
    with pytest.raises(CertificateError, match="of 2 shards, 2 is missing"):
        parts[0].merge()


def test_a_merged_certificate_of_strict_and_approximate_shards_is_that_of_one_run() -> None:
    stages = ("ops", "approximate")
    whole = certify("cpu", with_(stages=stages))
    first, second = (certify("cpu", with_(stages=stages, shard=(k, 2))) for k in (1, 2))
    merged = first.merge(second)
    assert whole.approximate is not None
    assert merged.approximate == whole.approximate
    assert merged == whole
    assert merged.verify().ok
    assert whole.approximate.levels == {"approximate": ""}


def test_a_certificate_is_saved_and_loaded(tmp_path: Path) -> None:
    made = certify("cpu", with_(stages=("ops", "approximate")))
    assert made.save(tmp_path / "c.json") == (tmp_path / "c.json", tmp_path / "c-approximate.json")
    assert Certificate.load(tmp_path / "c.json").data == made.data
    beside = Certificate.load(tmp_path / "c-approximate.json")
    assert beside == made.approximate
    assert beside.save(tmp_path / "b.json") == (tmp_path / "b.json",)
    with pytest.raises(VyreError, match="cannot write"):
        made.save(tmp_path / "no" / "such" / "folder.json")


def test_a_certificate_that_cannot_be_saved_is_kept_with_its_journal(tmp_path: Path) -> None:
    made = certify("cpu", with_(state=tmp_path / "state"))
    assert made.run is not None
    assert made.run.folder is not None
    with pytest.raises(VyreError, match="its certificate is"):
        made.save(tmp_path / "no" / "c.json")
    assert (made.run.folder / "c.json").read_bytes() == made.data


def test_a_changed_byte_does_not_load(tmp_path: Path) -> None:
    made = certify("cpu", TINY)
    (tmp_path / "c.json").write_bytes(made.data.replace(b'"failed":0', b'"failed":1', 1))
    with pytest.raises(CertificateError, match=r"predicate\.ops: the certificate was changed") as error:
        Certificate.load(tmp_path / "c.json")
    assert error.value.place == str(tmp_path / "c.json")


def test_a_forged_level_does_not_verify() -> None:
    record = json.loads(certify("cpu", TINY).data)
    predicate = {k: v for k, v in record["predicate"].items() if k != "digests"}
    track = predicate["tracks"][0]
    track["highest"] = "L1"
    track["levels"][0].update(granted=True, reasons=[])
    forged = Certificate.parse(canonical({**record, "predicate": sealed_record(predicate)}))
    found = forged.verify()
    assert not found.ok
    assert not found.holds
    assert [f.check for f in found.findings if f.status == WRONG] == ["levels"]
    with pytest.raises(CertificateError, match="it claims L1"):
        forged.merge()


def test_the_page_shows_the_levels() -> None:
    page = certify("cpu", TINY).to_html()
    assert page.startswith("<!doctype html>")
    for level in ("L1", "L2", "L3", "L4", "L1f"):
        assert level in page


def test_a_run_is_resumed(tmp_path: Path) -> None:
    first = certify("cpu", with_(state=tmp_path))
    again = certify("cpu", with_(state=tmp_path, resume=True))
    assert again == first
    assert again.run is not None
    assert again.run.timing.resumed_cases > 0


def test_kept_failures_are_replayed_first(tmp_path: Path) -> None:
    first = certify(WrongAddition(), with_(state=tmp_path))
    again = certify(WrongAddition(), with_(state=tmp_path))
    (stage,) = again.results.stages
    assert (stage.stage, stage.cases) == ("regressions", len(first.failures))
    alone = certify(WrongAddition(), with_(state=tmp_path, keep_failures=False))
    assert alone.results.stages == ()


def test_expected_failures_make_it_well() -> None:
    made = certify(WrongAddition(), with_(expected=((ADD, "one too many"),)))
    assert made.failures
    assert made.ok
    assert not certify("cpu", with_(expected=((ADD, "one too many"),))).ok


def test_a_backend_in_a_process_of_its_own() -> None:
    made = certify("cpu", with_(isolate=True, timeout=50.0, ops=("primitive.bitwise.not",)))
    conditions = made.results.conditions
    assert (conditions.isolation, conditions.timeout_ms) == ("process", 50_000)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ops": ADD}, "not a sequence"),
        ({"stages": "ops"}, "not a sequence"),
        ({"track": "words"}, "unknown track 'words'"),
        ({"resume": True}, "needs the folder"),
        ({"baseline": "a.json", "baselines": False}, "exclude each other"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(VyreError, match=message) as error:
        CertifyPlan(**settings)
    assert error.value.fix


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ops": ("no.such",)}, "no op matches"),
        ({"stages": ("none",)}, "no stage is called"),
        ({"shard": (3, 2)}, "no shard 3 of 2"),
        ({"baseline": "/no/such/file"}, "cannot read"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(VyreError, match=message) as error:
        certify("cpu", with_(**settings))
    assert error.value.fix


@pytest.mark.parametrize("strange", [CpuBackend, 7, None])
def test_what_is_no_backend_is_refused(strange: Any) -> None:
    with pytest.raises(VyreError, match="needs a backend") as error:
        certify(strange, TINY)
    assert "module:Class" in error.value.fix


def test_an_instance_is_not_sent_to_a_cluster() -> None:
    with pytest.raises(VyreError, match="cannot be sent"):
        certify(CpuBackend(), TINY, cluster=vyre.RayCluster(2))
    with pytest.raises(VyreError, match="needs a run on one machine"):
        certify("cpu", with_(baseline="a.json"), cluster=vyre.RayCluster(2))
    with pytest.raises(VyreError, match="split again"):
        certify("cpu", with_(shard=(1, 2)), cluster=vyre.RayCluster(2))
