"""The short way to what packages say of themselves finds what the long one finds."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import TYPE_CHECKING

import pytest

from vyre.backends import packages
from vyre.backends.packages import Point, offered_points, version_of

if TYPE_CHECKING:
    from pathlib import Path


def long_way(group: str) -> set[tuple[str, str]]:
    return {(p.name, p.value) for p in importlib.metadata.entry_points(group=group)}


@pytest.mark.parametrize("group", ["vyre.backends", "console_scripts", "pytest11", "nobody.has.this"])
def test_the_same_entries_are_found(group: str) -> None:
    assert packages._in_folders()
    assert {(p.name, p.value) for p in offered_points(group)} == long_way(group)


def test_versions_are_the_same() -> None:
    for package in ("vyre", "numpy", "llvmlite", "Pytest"):
        assert version_of(package) == importlib.metadata.version(package)
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        version_of("no-such-package")


def made(folder: Path, text: str, name: str = "Some_Pack") -> None:
    info = folder / f"{name}-1.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-pack\nVersion: 1.5\n\nVersion: 7\n")
    (info / "entry_points.txt").write_text(text)


def test_the_first_on_the_path_hides_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "a", "[other]\nx = m:x\n[some.group]\n# no\nq = m.n:f.g [extra]\n\n[more]\ny = m:y\n")
    made(tmp_path / "b", "[some.group]\nhidden = m:h\n", "some-pack".replace("-", "_"))
    monkeypatch.setattr(
        sys, "path", [str(tmp_path / "a"), str(tmp_path / "none"), str(tmp_path / "b"), *sys.path]
    )
    found = offered_points("some.group")
    assert found == [Point("q", "m.n:f.g [extra]", "some-pack")]
    assert {(p.name, p.value) for p in found} == long_way("some.group")
    assert found[0].module == "m.n"
    assert version_of("Some-Pack") == "1.5"


def test_other_ways_to_install_are_asked_of_the_long_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Finder:
        def find_spec(self, *_: object) -> None:
            return None

        def find_distributions(self, *_: object) -> list[importlib.metadata.Distribution]:
            return []

    archive = tmp_path / "packed.zip"
    archive.write_bytes(b"")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [str(archive), *sys.path])
        assert not packages._in_folders()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
        assert not packages._in_folders()
        assert {(p.name, p.value) for p in offered_points("vyre.backends")} == long_way("vyre.backends")
    assert packages._in_folders()
