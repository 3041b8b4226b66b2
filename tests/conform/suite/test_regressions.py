"""Stored failures are named after their content, survive, and are replayed first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from vyre.conform.records.results import Failure
from vyre.conform.suite.regressions import Store, default_folder

if TYPE_CHECKING:
    from pathlib import Path

FAILURE = Failure(
    "mi/ne", "ops", "primitive.math.add", "primitive.math.add/random/0", "primitive.math.add/inputs/0x1,0x2",
    "value", ("0x1", "0x2"), "0x3", "0x0", ("0x1", "0x2"), 1, 7, "", "", "", "vyre certify mine",
)  # fmt: skip


def test_a_failure_is_kept_once_under_its_digest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.add(FAILURE) == store.add(FAILURE) == FAILURE.digest
    assert dict(store.load("mi/ne")) == {FAILURE.digest: FAILURE}
    assert [p.name for p in tmp_path.rglob("*.json")] == [f"{FAILURE.digest}.json"]
    assert store.load("another") == {}


def test_failures_that_differ_are_both_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    other = replace(FAILURE, actual="0x1")
    store.add(FAILURE)
    store.add(other)
    assert set(store.load("mi/ne").values()) == {FAILURE, other}


@pytest.mark.parametrize(("old", "new"), [(b"}", b""), (b'"0x3"', b'"0x4"'), (b'"seed":7,', b"")])
def test_a_damaged_file_is_set_aside(old: bytes, new: bytes, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(FAILURE)
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(path.read_bytes().replace(old, new))
    assert store.load("mi/ne") == {}
    assert [p.suffix for p in store.damaged("mi/ne")] == [".damaged"]


def test_the_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_folder() == tmp_path / "data" / "vyre" / "failures"
    (tmp_path / ".vyre").mkdir()
    assert str(default_folder()) == ".vyre/failures"
