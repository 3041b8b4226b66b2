"""The examples run, check themselves, and say the same on two backends; what they draw is a picture."""

from __future__ import annotations

import re
import runpy
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SMALL: dict[str, list[str]] = {
    "mandelbrot.py": ["--size", "24"],
    "life.py": ["--size", "12", "--generations", "3"],
    "tiled_matmul.py": ["--size", "12"],
    "sha256_messages.py": ["--messages", "5"],
    "softmax.py": [],
    "kmeans.py": ["--points", "40"],
}
ALONE = {
    "own_op.py": "the false law fails at",
    "driver_error.py": "flushing 0x00000000",
    "own_backend.py": "golden rows on right: 0 failures\ngolden rows on wrong: 5 failures",
}
ELSEWHERE = {
    *("transformer.py", "unet_block.py", "sparse_attention.py"),  # tests/nn/test_examples.py
    *("search_folder.py", "duplicate_files.py", "package_ranks.py"),  # tests/library/test_library_examples.py
    *("csv_groups.py", "word_counts_on_ray.py"),
}
WITHOUT = {"picture.py", "torch_arrays.py"}
"""A module of the others, and one that is for a package that is not installed here."""


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])


def printed(name: str, capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    runpy.run_path(str(FOLDER / name))["main"](*arguments)
    return capsys.readouterr().out


def test_every_example_is_run_somewhere() -> None:
    assert {p.name for p in FOLDER.glob("*.py")} == {*SMALL, *ALONE, *ELSEWHERE, *WITHOUT}


def test_every_example_is_on_the_page() -> None:
    page = (FOLDER.parent / "docs" / "examples.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`python examples/(\w+\.py)", page))
    assert named == {p.name for p in FOLDER.glob("*.py")} - {"picture.py"}
    folders = set(re.findall(r"`examples/(\w+)`", page))
    assert folders == {p.name for p in FOLDER.iterdir() if p.is_dir() and not p.name.startswith("_")}


@pytest.mark.parametrize("name", SMALL)
def test_the_same_on_two_backends(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = [printed(name, capsys, [*SMALL[name], "--backend", backend]) for backend in ("cpu", "reference")]
    assert found[0] == found[1]
    assert found[0].strip()


@pytest.mark.parametrize("name", ALONE)
def test_one_that_takes_no_backend(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ALONE[name] in printed(name, capsys)


def test_torch_is_asked_for_politely(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed("torch_arrays.py", capsys, [])
    assert "pip install torch" in found or "from torch's gelu" in found


@pytest.mark.parametrize(
    ("name", "size"), [("mandelbrot.py", (24, 18)), ("life.py", (72, 72)), ("kmeans.py", (480, 480))]
)
def test_a_picture(
    name: str, size: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "picture.png"
    printed(name, capsys, [*SMALL[name], "--out", str(file)])
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    columns, rows, _, colour = struct.unpack_from(">IIBB", data, 16)
    assert (columns, rows) == size
    (length,) = struct.unpack_from(">I", data, 33)
    pixels = zlib.decompress(data[41 : 41 + length])
    assert len(pixels) == rows * (1 + columns * (3 if colour == 2 else 1))
    assert len(set(pixels)) > 1, "all of one colour"
