"""What `vyre export` tells a host: scalars by name and place, and what its floats promise."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from vyre.cli import main
from vyre.cli.files import read_program
from vyre.lower.languages import LANGUAGES
from vyre.lower.ways import FLOATS
from vyre.reference import run

if TYPE_CHECKING:
    from pathlib import Path

KERNELS = """
from typing import Literal

import vyre
from vyre import In, Out, f32, i32, u32


@vyre.kernel
def scaled(a: f32, x: In[i32], step: i32, out: Out[f32], first: u32, b: f32 = 2.5):
    i = vyre.invocation_id(0)
    if i >= first:
        out[i] = a * vyre.convert(x[i] + step, f32) + b


@vyre.kernel
def rows(x: In[u32, Literal["m", "k"]], k: u32, out: Out[u32, Literal["m"]]):
    i = vyre.invocation_id(0)
    total = k * vyre.num_workgroups(0)
    for j in range(x.shape[1]):
        total = total + x[i, j]
    out[i] = total
"""


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    return file


def exported(file: Path, kernel: str, *options: str) -> dict[str, Any]:
    arguments = ["export", f"{file}:{kernel}", "--output-dir", str(file.parent / "out"), "--json", *options]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def scalars(record: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    return {b["name"]: b["scalars"] for b in record["buffers"] if "scalars" in b}


@pytest.mark.parametrize("language", LANGUAGES)
def test_scalars_keep_their_names_types_and_places(kernels: Path, language: str) -> None:
    assert scalars(exported(kernels, "scaled", "--to", language)) == {
        "params_f32": [
            {"name": "a", "element": "F32", "offset": 0},
            {"name": "b", "element": "F32", "offset": 4, "default": struct.pack("<f", 2.5).hex()},
        ],
        "params_i32": [{"name": "step", "element": "I32", "offset": 0}],
        "params_u32": [{"name": "first", "element": "U32", "offset": 0}],
    }


def test_a_host_packs_the_scalars_by_the_manifest_alone(kernels: Path) -> None:
    record = exported(kernels, "scaled", "--to", "wgsl")
    given = {"a": struct.pack("<f", 3), "step": struct.pack("<i", -7), "first": struct.pack("<I", 1)}
    inputs = {"x": struct.pack("<4i", 5, 10, -20, 1000), "out": bytes(16)}
    for b in record["buffers"]:
        if "scalars" in b:
            packed = bytearray(b["count"] * b["stride"])
            for s in b["scalars"]:
                value = given.get(s["name"]) or bytes.fromhex(s["default"])
                packed[s["offset"] : s["offset"] + len(value)] = value
            inputs[b["name"]] = bytes(packed)
    found = run(read_program(f"{kernels}:scaled"), inputs, (1, 1, 1)).buffers["out"]
    assert struct.unpack("<4f", found) == (0, 11.5, -78.5, 2981.5)


def test_what_the_host_settles_has_a_meaning_and_arrays_have_shapes(kernels: Path) -> None:
    record = exported(kernels, "rows", "--to", "wgsl")
    (rows,) = scalars(record).values()
    assert [(s["name"], s["offset"]) for s in rows] == [("k", 0), ("grid_x", 4), ("dim_m", 8), ("dim_k", 12)]
    assert [s.get("meaning") for s in rows] == [
        None,
        "workgroups of the grid along x",
        "elements along axis 0 of x and axis 0 of out",
        "elements along axis 1 of x",
    ]
    assert {b["name"]: b.get("shape") for b in record["buffers"]} == {
        "x": ["m", "k"],
        "out": ["m"],
        "params_u32": None,
    }


def test_hidden_words_tell_their_places(kernels: Path) -> None:
    words = exported(kernels, "scaled", "--to", "wgsl")["hidden"]["words"]
    assert [w["offset"] for w in words] == [4 * k for k in range(len(words))]
    assert {w["element"] for w in words} == {"U32"}


@pytest.mark.parametrize(("language", "way"), [(x, way) for x in FLOATS for way in FLOATS[x]])
def test_floats_are_written_as_asked_and_the_manifest_says_what_that_promises(
    kernels: Path, language: str, way: str
) -> None:
    floats = exported(kernels, "scaled", "--to", language, "--floats", way)["floats"]
    choice = FLOATS[language][way]
    assert floats["chosen"] == way
    assert floats["ways"]["f32.add"] == way
    assert floats["promise"] == choice.promise
    assert floats["needs"] == list(choice.needs)
    assert bool(choice.needs) == (way != "soft"), "only integers need nothing"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_way_of_a_language_is_its_own(kernels: Path, language: str) -> None:
    own = exported(kernels, "scaled", "--to", language)
    assert own == exported(kernels, "scaled", "--to", language, "--floats", next(iter(FLOATS[language])))
    assert own["floats"]["chosen"] == ("soft" if language == "wgsl" else "native")


def test_a_way_that_does_not_exist_is_refused_before_anything_is_written(kernels: Path) -> None:
    out = kernels.parent / "out"
    arguments = ["export", f"{kernels}:scaled", "--to", "wgsl", "--output-dir", str(out), "--floats", "fast"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert f"choose one of {', '.join(FLOATS['wgsl'])}" in result.output
    assert not out.exists()


def test_the_help_lists_every_way() -> None:
    shown = CliRunner().invoke(main, ["export", "--help"]).output
    assert f"[{'|'.join(sorted({way for choices in FLOATS.values() for way in choices}))}]" in shown
