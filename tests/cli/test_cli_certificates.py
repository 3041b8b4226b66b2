"""`vyre certify`, `verify`, `merge` and `keygen` as a person and a script meet them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

pytest.importorskip("cryptography")

from vyre.cli import main
from vyre.conform.certify.statement import read

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

FEW = ("--ops", "value.lane.u64.0", "--ops", "cast.u32.i32", "--cases", "16", "--quick", "--in-process")
FAULTY = """
from tests.wrong import Interpreted
from vyre.ir.expr import Cast


class Faulty(Interpreted):
    name = "faulty"

    def fault(self, x):
        return Cast(x.target, x.value ^ 4) if isinstance(x, Cast) and x.target.value == "I32" else x
"""


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faulty_cast.py").write_text(FAULTY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("vyre.conform.verify.cases.PER_CLASS", 2)
    monkeypatch.setattr("vyre.conform.verify.cases.SHAPED", 16)
    monkeypatch.setattr("vyre.conform.verify.cases.BOUNDARY_LIMIT", 1 << 11)
    monkeypatch.setattr("vyre.conform.suite.plan.QUICK_LARGEST", 0)


def vyre(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_certify_writes_a_certificate_and_says_how_to_verify_it(tmp_path: Path) -> None:
    done = vyre("certify", "reference", *FEW)
    assert done.exit_code == 0, done.output
    (kept,) = tmp_path.glob(".vyre/runs/reference-*/certificate.json")
    place = kept.relative_to(tmp_path)
    assert f"certificate  {place}" in done.output
    assert f"sha256 {read(kept.read_bytes()).digest}" in done.output
    assert f"vyre verify {place} --rerun 1%" in done.output
    assert "integer     ○ L1 parity" in done.output
    assert "ops were not run" in done.output
    assert "setting      stages left out: golden, determinism" in done.output
    named = vyre("certify", "reference", *FEW, "--certificate", "mine.json")
    assert named.exit_code == 0
    assert (tmp_path / "mine.json").read_bytes() == kept.read_bytes()


def test_what_is_printed_fits_eighty_columns_and_has_no_escapes() -> None:
    done = vyre("certify", "--backend-class", "faulty_cast:Faulty", *FEW)
    assert done.exit_code == 1
    assert "\x1b" not in done.output
    commands = ("  replay", "certificate", "verify it", "results", "             sha256")
    wide = [line for line in done.output.splitlines() if len(line) > 80 and not line.startswith(commands)]
    assert wide == []


def test_bits_stand_side_by_side() -> None:
    done = vyre("certify", "--backend-class", "faulty_cast:Faulty", *FEW)
    assert "  expected  0x0  00000000 00000000 00000000 00000000" in done.output
    assert "  actual    0x4  00000000 00000000 00000000 00000100" in done.output
    mark = next(line for line in done.output.splitlines() if set(line) == {" ", "^"})
    shown = next(line for line in done.output.splitlines() if line.startswith("  actual    0x4"))
    assert shown[mark.index("^")] == "1"
    assert mark.count("^") == 1


def test_a_terminal_without_unicode_gets_plain_letters() -> None:
    done = CliRunner(charset="ascii").invoke(main, ["certify", "reference", *FEW])
    assert done.exit_code == 0, done.output
    assert "integer     - L1 parity" in done.output


def test_keygen_sign_and_verify(tmp_path: Path) -> None:
    made = vyre("keygen", "my.key")
    assert made.exit_code == 0
    assert "key id    ed25519:" in made.output
    again = vyre("keygen", "my.key")
    assert again.exit_code == 1
    assert "exists" in again.output
    assert vyre("keygen", "other.key").exit_code == 0
    done = vyre("certify", "reference", *FEW, "--key", "my.key", "--certificate", "c.json")
    assert done.exit_code == 0, done.output
    good = vyre("verify", "c.json", "--public-key", "my.key.pub")
    assert good.exit_code == 0, good.output
    assert "✓ signature" in good.output
    assert "✓ The certificate holds." in good.output
    wrong = vyre("verify", "c.json", "--public-key", "other.key.pub")
    assert wrong.exit_code == 1
    assert "✗ signature" in wrong.output
    assert "REFUSED" in wrong.output
    assert vyre("verify", "c.json", "--public-key", "my.key").exit_code == 1
    assert vyre("verify", "nothing.json").exit_code == 1


def test_verify_runs_a_part_again(tmp_path: Path) -> None:
    assert vyre("certify", "reference", *FEW, "--certificate", "c.json").exit_code == 0
    done = vyre("verify", "c.json", "--rerun", "100%", "--in-process", "--json")
    assert done.exit_code == 0, done.output
    record = json.loads(done.output)
    assert record["ok"]
    assert record["rerun"]["blocks"] == record["rerun"]["of"] > 4
    assert record["rerun"]["fresh_seed"] != 24301
    assert {f["check"]: f["status"] for f in record["findings"]}["device"] == "good"
    assert record["tracks"][0]["track"] == "integer"
    seed = str(record["rerun"]["seed"])
    part = vyre("verify", "c.json", "--rerun", "20%", "--rerun-seed", seed, "--in-process")
    assert part.exit_code == 0
    assert f"seed {seed}" in part.output
    wrong = vyre("verify", "c.json", "--rerun", "100%", "--in-process", "--backend", "faulty_cast:Faulty")
    assert wrong.exit_code == 1
    assert "✗ rerun" in wrong.output
    assert "run again on ANOTHER device, driver or toolchain" in " ".join(wrong.output.split())
    assert "the certificate says no failure" in " ".join(wrong.output.split())
    for share in ("0%", "200%", "some"):
        assert "expected a percentage" in vyre("verify", "c.json", "--rerun", share).output


def test_a_changed_certificate_is_refused_by_name(tmp_path: Path) -> None:
    assert vyre("certify", "reference", *FEW, "--certificate", "c.json").exit_code == 0
    data = (tmp_path / "c.json").read_bytes()
    (tmp_path / "c.json").write_bytes(data.replace(b'"seed":24301', b'"seed":24302'))
    done = vyre("verify", "c.json")
    assert done.exit_code == 1
    assert "predicate.plan: the certificate was changed" in " ".join(done.output.split())
    assert "Fix:" in done.output
    record = json.loads(vyre("verify", "c.json", "--json").output)
    assert not record["ok"]
    merged = vyre("merge", "c.json", "-o", "m.json")
    assert merged.exit_code == 1
    assert "c.json: predicate.plan" in merged.output


def test_shards_merge_into_the_same_file(tmp_path: Path) -> None:
    assert vyre("certify", "reference", *FEW, "--certificate", "whole.json").exit_code == 0
    for i in ("1", "2", "3"):
        done = vyre("certify", "reference", *FEW, "--shard", f"{i}/3", "--certificate", f"s{i}.json")
        assert done.exit_code == 0, done.output
        assert f"this is shard {i} of 3" in done.output
        assert f"setting      shard {i} of 3 only" in done.output
    part = vyre("verify", "s1.json")
    assert part.exit_code == 3  # nothing is wrong, and the plan is open
    assert "NOT VERIFIED" in part.output
    assert "not finished: this is shard 1 of 3" in part.output
    merged = vyre("merge", "s3.json", "s1.json", "s2.json", "-o", "merged.json")
    assert merged.exit_code == 0, merged.output
    assert (tmp_path / "merged.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    lost = vyre("merge", "s3.json", "s1.json", "-o", "lost.json")
    assert lost.exit_code == 1
    assert "of 3 shards, 2 is missing" in lost.output
    assert not (tmp_path / "lost.json").exists()


def test_baselines_go_to_an_annex(tmp_path: Path) -> None:
    done = vyre("certify", "reference", *FEW, "--baselines", "--certificate", "c.json")
    assert done.exit_code == 0, done.output
    (annex,) = tmp_path.glob(".vyre/runs/reference-*/performance.json")
    assert read((tmp_path / "c.json").read_bytes()).certificate.baselines[0] == "copy"
    assert "microseconds" not in (tmp_path / "c.json").read_text()
    good = vyre("verify", "c.json", "--annex", str(annex))
    assert good.exit_code == 0, good.output
    assert "annex" in good.output
    wrong = vyre("verify", "c.json", "--annex", "c.json")
    assert wrong.exit_code == 1
