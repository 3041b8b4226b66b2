"""The check of a backend against digests: right passes, wrong is narrowed to inputs, and it can go on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.wrong.truth import OracleBackend, RefusingBackend, WrongIntegers, make_truth
from vyre.cli.exhaustive_ import parse_range, run_exhaustive
from vyre.conform.oracle.digest import CHUNK
from vyre.conform.oracle.truth.check import FAILED, PART, REFUSED, Wrong, check
from vyre.conform.oracle.truth.functions import FUNCTIONS, chosen
from vyre.conform.oracle.truth.runner import Runner
from vyre.conform.oracle.truth.store import load
from vyre.conform.records.journal import Journal
from vyre.errors import VyreError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.wrong.truth import Words

FIRST = 0x3F8
LO, HI = FIRST * CHUNK, (FIRST + 3) * CHUNK


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("truth")
    make_truth(made, "exp", range(FIRST, FIRST + 3))
    return made


def spoil_one(at: int) -> Any:
    def spoil(inputs: Words, bits: Words) -> None:
        bits[inputs == at] ^= np.uint32(1)

    return spoil


def test_a_right_backend_passes(folder: Path) -> None:
    verdict = check(Runner(OracleBackend("exp"), batch=2), FUNCTIONS["exp"], lo=LO, hi=HI, folder=folder)
    assert (verdict.status, verdict.inputs, verdict.chunks) == (PART, 3 * CHUNK, ())
    assert verdict.truth == load("exp", folder=folder).sha256


@pytest.mark.parametrize("at", [LO, LO + CHUNK + 12345, HI - 1])
def test_one_wrong_input_is_named(folder: Path, at: int) -> None:
    backend = OracleBackend("exp", spoil_one(at))
    verdict = check(Runner(backend, batch=2), FUNCTIONS["exp"], lo=LO, hi=HI, folder=folder)
    assert verdict.status == FAILED
    assert verdict.differing == 1
    (chunk,) = verdict.chunks
    assert chunk.wrong == 1
    (wrong,) = chunk.shown
    assert isinstance(wrong, Wrong)
    assert wrong.input == at
    assert wrong.actual == wrong.expected ^ 1


def test_ends_of_a_range_that_fill_no_chunk_are_checked(folder: Path) -> None:
    lo, hi = LO + 5, LO + 2 * CHUNK + 7
    for at in (lo, hi - 1):
        backend = OracleBackend("exp", spoil_one(at))
        verdict = check(Runner(backend, batch=2), FUNCTIONS["exp"], lo=lo, hi=hi, folder=folder)
        assert [w.input for c in verdict.chunks for w in c.shown] == [at]
    right = check(Runner(OracleBackend("exp"), batch=2), FUNCTIONS["exp"], lo=lo, hi=hi, folder=folder)
    assert right.status == PART


def test_a_false_truth_is_not_blamed_on_the_backend(folder: Path) -> None:
    lo = (FIRST + 3) * CHUNK
    verdict = check(
        Runner(OracleBackend("exp"), batch=1), FUNCTIONS["exp"], lo=lo, hi=lo + CHUNK, folder=folder
    )
    assert verdict.status == FAILED
    assert "does not agree with the committed truth" in verdict.chunks[0].note


def test_a_device_that_changes_its_mind_is_called_unstable(folder: Path) -> None:
    seen: list[int] = []

    def spoil(inputs: Words, bits: Words) -> None:
        if inputs.size == CHUNK and not seen:
            seen.append(1)
            bits[17] += np.uint32(1)

    runner = Runner(OracleBackend("exp", spoil), batch=1)
    verdict = check(runner, FUNCTIONS["exp"], lo=LO, hi=LO + CHUNK, folder=folder)
    assert verdict.status == FAILED
    assert "not stable" in verdict.chunks[0].note


def test_refusals_are_no_failures(folder: Path) -> None:
    verdict = check(Runner(RefusingBackend("exp"), batch=1), FUNCTIONS["exp"], folder=folder)
    assert (verdict.status, verdict.inputs) == (REFUSED, 0)
    assert "FExp" in verdict.note


def test_wrong_integers_are_found_before_anything_is_believed() -> None:
    with pytest.raises(VyreError, match="digests a known chunk"):
        Runner(WrongIntegers("exp"), batch=1).require_digests()


def test_finished_batches_are_not_run_again(folder: Path, tmp_path: Path) -> None:
    def run(backend: OracleBackend, *, resume: bool) -> str:
        journal = Journal(tmp_path / "j.jsonl", {"a": 1}, resume=resume)
        try:
            return check(
                Runner(backend, batch=1), FUNCTIONS["exp"], lo=LO, hi=HI, journal=journal, folder=folder
            ).status
        finally:
            journal.close()

    wrong = OracleBackend("exp", spoil_one(LO + 1))
    assert run(wrong, resume=False) == FAILED
    again = OracleBackend("exp", spoil_one(LO + 1))
    assert run(again, resume=True) == FAILED
    assert again.evaluations < wrong.evaluations
    assert run(OracleBackend("exp"), resume=False) == PART


def test_without_a_truth_only_small_ranges_are_checked(tmp_path: Path) -> None:
    runner = Runner(OracleBackend("log"), batch=1)
    assert check(runner, FUNCTIONS["log"], lo=LO, hi=LO + 10, folder=tmp_path).note
    with pytest.raises(VyreError, match="not part of this installation"):
        check(runner, FUNCTIONS["log"], folder=tmp_path)


def test_a_damaged_truth_is_refused(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    data = bytearray((tmp_path / "exp.bin").read_bytes())
    data[100] ^= 1
    (tmp_path / "exp.bin").write_bytes(data)
    with pytest.raises(VyreError, match="damaged"):
        load("exp", folder=tmp_path)


def test_the_command_prints_bits_and_a_replay(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = LO + 99
    backend = OracleBackend("exp", spoil_one(at))
    code = run_exhaustive(
        backend, ["exp"], target="mine:B", state=str(tmp_path), range_text=f"{LO:#x}:{HI:#x}", truth=folder
    )
    text = capsys.readouterr().out
    assert code == 1
    assert f"input {at:#010x}  expected 0x402df" in text
    assert f"vyre certify mine:B --exhaustive exp --range {at:#x}" in text
    record = json.loads((tmp_path / "exhaustive" / "oracle" / "exp.json").read_text())
    assert record["functions"][0]["chunks"][0]["shown"][0]["input"] == at
    assert "seconds" not in json.dumps(record)


def test_the_replay_of_one_input(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments: dict[str, Any] = {"target": "b", "state": str(tmp_path), "range_text": hex(LO + 99)}
    wrong = OracleBackend("exp", spoil_one(LO + 99))
    assert run_exhaustive(wrong, ["exp"], **arguments, truth=folder) == 1
    assert run_exhaustive(OracleBackend("exp"), ["exp"], **arguments, truth=folder) == 0
    assert "1 inputs" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "5:5", "7:3", "-1", "0x100000000", "x:y", "1:0x100000001"])
def test_ranges_that_are_none(text: str) -> None:
    with pytest.raises(VyreError, match="not a range"):
        parse_range(text)


def test_names() -> None:
    assert [f.name for f in chosen(["exp", "exp"])] == ["exp"]
    assert len(chosen(["all"])) == len(FUNCTIONS) == 40
    with pytest.raises(VyreError, match="did you mean 'expm1'"):
        chosen(["exp1"])
