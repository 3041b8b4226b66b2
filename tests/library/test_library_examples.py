"""The examples of the library run on small inputs, check themselves, and notice what is wrong."""

from __future__ import annotations

import importlib.util
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SOURCES = Path(__file__).parent


def printed(name: str, capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """What an example says, without its times."""
    runpy.run_path(str(FOLDER / name))["main"]([str(x) for x in arguments])
    found = capsys.readouterr().out
    assert re.search(r"[\d.]+ (million edges|MB) a second", found)
    return re.sub(r".* a second.*\n", "", found)


def both(name: str, capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """The same on two backends."""
    found = [printed(name, capsys, *arguments, "--backend", on) for on in ("cpu", "reference")]
    assert found[0] == found[1]
    return found[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for name, data in {
        "a.txt": "one two, three two",
        "b.txt": "Two and one",
        "in/c.txt": "one two, three two",
    }.items():
        (tmp_path / name).write_text(data)
    return tmp_path


def test_words_are_found_in_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = folder / "words"
    words.write_text("one\ntwo\nwo\nand\nabsent\n")
    found = printed("search_folder.py", capsys, folder, "--suffix", ".txt", "--words", words)
    assert found.startswith("13 places of 5 words")
    chosen = printed("search_folder.py", capsys, SOURCES, "--count", 50, "--most", 0.03)
    assert " places of 50 words in " in chosen


def test_a_folder_without_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"there are no words in the \.py files"):
        runpy.run_path(str(FOLDER / "search_folder.py"))["main"]([str(tmp_path)])


def test_files_are_found_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed("duplicate_files.py", capsys, folder)
    assert found.startswith("1 contents are there more than once, byte for byte; 18 bytes could be spared")
    assert "2 times a.txt" in found


def test_packages_are_ranked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = tmp_path / "status"
    status.write_text(
        "Package: app\nDepends: libc (>= 2), tool | other:any\n\nPackage: tool\nPre-Depends: libc\n\n"
        "Package: libc\n"
    )
    found = both("package_ranks.py", capsys, "--status", status)
    assert "3 packages and 3 dependencies" in found
    assert found.splitlines()[1].endswith("libc")


def test_another_system_is_told_politely(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / "package_ranks.py"))["main"](["--status", str(tmp_path / "none")])
    assert "is for Debian" in capsys.readouterr().out


def test_a_table_is_grouped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = printed("csv_groups.py", capsys, "--size", 0.2)
    assert "every sum is that of math.fsum" in found
    module: Any = runpy.run_path(str(FOLDER / "csv_groups.py"))
    monkeypatch.setitem(module["blocks"].__globals__, "BLOCK", 50_000)
    module["main"](["--size", "0.2"])
    assert capsys.readouterr().out.startswith(found)


def test_a_wrong_sum_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = runpy.run_path(str(FOLDER / "csv_groups.py"))
    monkeypatch.setitem(module["main"].__globals__, "math", SimpleNamespace(fsum=np.sum))
    with pytest.raises(SystemExit, match="say otherwise"):
        module["main"](["--size", "0.05"])


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
@pytest.mark.filterwarnings("ignore")  # those of Ray itself
def test_words_are_counted_although_a_worker_dies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed("word_counts_on_ray.py", capsys, folder, "--suffix", ".txt", "--parts", 2)
    assert "11 words, 4 different ones, of 3 files" in found
    assert "a worker was killed" in found
