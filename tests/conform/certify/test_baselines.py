"""Baselines are kept per backend and device; a drop is shown, and denies L4 only where one was given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("llvmlite")

from tests.conform.certify.made_up import FACTS, perfect, registry
from tests.conform.certify.small_runs import Right, certified, small
from tests.conform.certify.test_levels import OPS
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.protocol import BackendInfo
from vyre.cli.app import main
from vyre.conform.certify.annex import Annex, Baseline, Drop, check_annex, read_annex, write_annex
from vyre.conform.certify.baselines import confirmed, drops, given, keep, kept, place
from vyre.conform.certify.certificate import CertificateContents, certificates
from vyre.conform.certify.finding import GOOD, OPEN, WRONG
from vyre.conform.certify.statement import read, write
from vyre.conform.certify.verify import verify
from vyre.conform.spec.track import INTEGER
from vyre.errors import CertificateError, VyreError

__all__ = ["small"]

NAMES = ("copy", "divide")


def figures(divide: str, *, memory: str = "host") -> tuple[Baseline, ...]:
    return tuple(Baseline(n, 1024, 10, f, memory) for n, f in zip(NAMES, ("1.000", divide), strict=True))


def annex(divide: str, *, memory: str = "host") -> Annex:
    return Annex(figures(divide, memory=memory), "a device", "a driver", ())


def test_slower_by_a_quarter_is_a_drop_and_less_is_not() -> None:
    assert drops(annex("0.800"), figures("0.599")) == (Drop("divide", "0.800", "0.599"),)
    assert drops(annex("0.800"), figures("0.601")) == ()
    assert drops(annex("0.800"), figures("0.900")) == ()
    assert drops(annex("0.800", memory="device"), figures("0.100")) == (), "another kind of memory"


@pytest.mark.parametrize(
    ("later", "asked", "slower"),
    [
        (["0.100", "0.100"], 2, ("divide",)),
        (["0.100", "0.790"], 2, ()),
        (["0.790", "0.100"], 1, ()),
    ],
)
def test_three_measurements_must_agree(later: list[str], asked: int, slower: tuple[str, ...]) -> None:
    turns = iter(later)
    seen: list[str] = []

    def again() -> tuple[Baseline, ...]:
        seen.append(next(turns))
        return figures(seen[-1])

    assert confirmed(annex("0.800"), figures("0.100"), again) == slower
    assert len(seen) == asked


def test_nothing_is_measured_again_where_nothing_is_slower() -> None:
    assert confirmed(annex("0.800"), figures("0.800"), lambda: pytest.fail("measured again")) == ()


def test_a_confirmed_drop_denies_the_full_level_and_holds_no_figure() -> None:
    fast, slow = (
        certificates(perfect(*OPS), promised=registry(*OPS), baselines=NAMES, slower=names)[0]
        for names in ((), ("divide",))
    )
    assert fast.track(INTEGER).highest == "L4"
    assert slow.track(INTEGER).highest == "L3"
    assert slow.track(INTEGER).levels[3].reasons == (
        "slower than the given baseline in three measurements: divide",
    )
    assert slow.derived() == slow
    assert b"0.1" not in write(slow).replace(b'"1.0"', b"").replace(b'vyre":"0.1.0"', b"")


def test_a_drop_that_was_taken_out_of_a_file_is_missed(small: None, tmp_path: Path) -> None:
    made = certified(Right(), tmp_path, baselines=NAMES)
    honest = replace(made, slower=("divide",)).derived()
    assert verify(write(honest)).ok
    invented = replace(made, slower=("speed",))
    levels = next(f for f in verify(write(invented)).findings if f.check == "levels")
    assert (levels.status, "not one of its baselines" in levels.text) == (WRONG, True)


def test_only_the_first_schema_says_nothing_of_what_is_slower(small: None, tmp_path: Path) -> None:
    record = json.loads(certified(Right(), tmp_path).to_json())
    del record["slower"]
    with pytest.raises(CertificateError, match="slower: this field is missing"):
        CertificateContents.from_record(record)
    old = Path(__file__).parent / "schema1" / "passed.json"
    assert read(old.read_bytes()).certificate.slower == ()


def test_the_best_figures_are_kept_per_device_and_driver(small: None, tmp_path: Path) -> None:
    made = certified(Right(), tmp_path)
    folder = tmp_path / "baselines"
    assert kept(folder, made.backend) is None
    for share in ("0.500", "0.800", "0.400"):
        keep(folder, figures(share), made)
    found = kept(folder, made.backend)
    assert found is not None
    assert found.baselines == figures("0.800")
    other = replace(made.backend, driver="another driver")
    assert kept(folder, other) is None
    place(folder, made.backend).write_bytes(b"damaged")
    assert kept(folder, made.backend) is None


def test_the_annex_and_verifying_show_a_drop(small: None, tmp_path: Path) -> None:
    made = certified(Right(), tmp_path, baselines=NAMES)
    document = read(write(made))
    fine = check_annex(write_annex(figures("0.800"), made), document)
    assert "slower" not in fine.text
    slower = write_annex(figures("0.200"), made, drops=(Drop("divide", "0.800", "0.200"),))
    found = check_annex(slower, document)
    assert found.status == OPEN
    assert all(part in found.text for part in ("slower", "divide", "0.200", "0.800"))


def test_verify_compares_two_files(small: None, tmp_path: Path) -> None:
    made = certified(Right(), tmp_path, baselines=NAMES)
    files = {name: tmp_path / f"{name}.json" for name in ("certificate", "old", "new", "other")}
    files["certificate"].write_bytes(write(made))
    files["old"].write_bytes(write_annex(figures("0.800"), made))
    files["new"].write_bytes(write_annex(figures("0.200"), made))
    there = replace(made, backend=replace(made.backend, device="elsewhere"))
    files["other"].write_bytes(write_annex(figures("0.800"), there))

    def asked(baseline: str) -> dict[str, Any]:
        call = ["verify", str(files["certificate"]), "--annex", str(files["new"])]
        done = CliRunner().invoke(main, [*call, "--baseline", str(files[baseline]), "--json"])
        assert done.exit_code == 0, done.output
        return next(f for f in json.loads(done.output)["findings"] if f["check"] == "baseline")

    assert all(part in asked("old")["text"] for part in ("slower", "divide", "0.200", "0.800"))
    assert (asked("new")["status"], asked("old")["status"], asked("other")["status"]) == (GOOD, OPEN, OPEN)
    alone = CliRunner().invoke(main, ["verify", str(files["certificate"]), "--baseline", str(files["old"])])
    assert "--annex" in alone.output


def test_a_baseline_of_another_device_or_driver_is_refused_before_the_run() -> None:
    made = certificates(perfect(*OPS), promised=registry(*OPS))[0]
    data = write_annex(figures("0.800"), made)
    here = BackendInfo("mine", "1.0", FACTS.device, FACTS.driver)
    assert given(data, here, file="old.json").baselines == figures("0.800")
    for other in (replace(here, device="x"), replace(here, driver="y")):
        with pytest.raises(VyreError, match="this baseline is of a device with a driver") as error:
            given(data, other, file="old.json")
        assert error.value.place == "old.json"


def test_a_figure_that_is_no_number_is_refused() -> None:
    made = certificates(perfect(*OPS), promised=registry(*OPS))[0]
    for odd in ("nan", "1e9", "", "-1.0"):
        with pytest.raises(CertificateError, match="of_copy: expected a share"):
            read_annex(write_annex(figures(odd), made))


@pytest.mark.usefixtures("small")
def test_the_command_keeps_compares_and_denies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speed = iter(["0.800", "0.300", "0.300", "0.300", "0.300"])

    def measured(_: Any) -> tuple[Baseline, ...]:
        return figures(next(speed))

    monkeypatch.setattr("vyre.conform.certify.annex.measure", measured)
    state = tmp_path / "state"
    call = ["certify", "cpu", "--in-process", "--ops", "primitive.math.add", "--cases", "8", "--quick"]
    call += ["--baselines", "--state", str(state), "--certificate", str(tmp_path / "made.json")]
    first = CliRunner().invoke(main, call)
    assert first.exit_code == 0, first.output
    (folder,) = (state / "runs").iterdir()
    old = tmp_path / "old.json"
    old.write_bytes((folder / "performance.json").read_bytes())
    second = CliRunner().invoke(main, call)
    assert "slower       divide at 0.300 of a copy, was 0.800" in second.output
    assert read((tmp_path / "made.json").read_bytes()).certificate.slower == ()
    third = CliRunner().invoke(main, [*call, "--baseline", str(old)])
    assert third.exit_code == 0, third.output
    made = read((tmp_path / "made.json").read_bytes()).certificate
    assert made.slower == ("divide",)
    assert any("three measurements: divide" in r for r in made.track(INTEGER).levels[3].reasons)
    assert CpuBackend().describe().device == made.backend.device


def test_a_backend_that_dies_while_it_is_timed_loses_no_run(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(_: Any) -> Any:
        raise VyreError("the process of the backend died.", fix="nothing.")

    monkeypatch.setattr("vyre.conform.certify.annex.measure", dies)
    call = ["certify", "cpu", "--in-process", "--ops", "primitive.math.add", "--cases", "8", "--quick"]
    done = CliRunner().invoke(main, [*call, "--baselines", "--state", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "no performance baseline: the process" in done.output
