"""A kept kernel runs with neither lowering nor LLVM loaded, and only where all it depends on is the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre.backends import stamps
from vyre.backends.canaries.every import CANARIES
from vyre.backends.cpu import linking, place, ready
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.compiling import kept_image, native_ways
from vyre.backends.cpu.kernel import lowered
from vyre.backends.cpu.llvm import HOST, LEVELS
from vyre.backends.cpu.loading import MachineCode
from vyre.backends.cpu.work import LENGTH, NUMBER, PRODUCT, SUM, Work
from vyre.ir import BufferDecl, DataType, InvocationId, Program

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import sys, json, numpy as np, vyre
from vyre import In, Out, f32, u32
@vyre.kernel
def scaled(a: In[f32], n: u32, out: Out[f32]):
    i = vyre.invocation_id(0)
    s = a[i]
    for k in range(n):
        s = vyre.exp(s) / 3.0 + a[i]
    out[i] = s
r = scaled(np.linspace(-1, 1, 100, dtype=np.float32), 3)
names = ("llvmlite.binding", "vyre.lower.prepare", "vyre.lower.llvm", "vyre.numeric", "vyre.optimize",
         "vyre.semantics", "vyre.backends.canaries.every")
print(json.dumps([r.tobytes().hex(), [x for x in names if x in sys.modules]]))
"""


def first_call(tmp_path: Path, **environment: str) -> tuple[str, list[str]]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    there = {
        "VYRE_CACHE": str(tmp_path / "kernels"),
        "XDG_CACHE_HOME": str(tmp_path / "other"),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, **there, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    result, loaded = json.loads(done.stdout)
    return result, loaded


@pytest.mark.skipif(place.place() is None, reason="nothing is known of the processor here")
def test_the_second_process_loads_nothing_that_compiles(tmp_path: Path) -> None:
    first, loaded = first_call(tmp_path)
    assert "llvmlite.binding" in loaded
    assert first_call(tmp_path) == (first, [])
    off, loaded = first_call(tmp_path, VYRE_CACHE="off")
    assert off == first
    assert "llvmlite.binding" in loaded


def program(step: int) -> Program:
    out = BufferDecl.read_write("out", 0, DataType.U32)
    return Program([out], (64,), [out.store(InvocationId(0), InvocationId(0) * step)])


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache of its own, in a process that has not loaded the lowering yet."""
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    monkeypatch.setattr(stamps, "_LOWERING", ())


def found(meaning: str = "m") -> Any:
    return ready.ready_kernel(program(3), meaning, "cpu", "host", native_ways)


@pytest.mark.usefixtures("kept")
@pytest.mark.skipif(place.place() is None, reason="nothing is known of the processor here")
def test_a_kernel_is_found_by_its_meaning_and_place_only(monkeypatch: pytest.MonkeyPatch) -> None:
    made = CpuBackend(threads=1)._new_kernel(program(3), "m", None)
    kernel = found()
    assert kernel.facts == made.facts
    assert kernel.source.text == made.source.text
    assert found("other") is None
    here = place.place()
    assert here is not None
    monkeypatch.setattr(ready, "place", lambda: (*here[:-1], "a file that was changed"))
    assert found() is None


@pytest.mark.usefixtures("kept")
def test_what_was_not_examined_is_not_kept() -> None:
    CpuBackend(threads=1, canaries=False)._new_kernel(program(3), "m", None)
    assert found() is None


@pytest.mark.usefixtures("kept")
@pytest.mark.skipif(place.place() is None, reason="nothing is known of the processor here")
def test_an_image_that_is_gone_is_made_again() -> None:
    backend = CpuBackend(threads=1)
    made = backend._new_kernel(program(3), "m", None)
    cache = ready.default_cache()
    assert cache is not None
    os.unlink(cache._path(made.facts.image))
    assert found() is None


def test_a_loaded_lowering_is_used(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    CpuBackend(threads=1)._new_kernel(program(3), "m", None)
    monkeypatch.setattr(stamps, "_LOWERING", ("vyre.lower.prepare",))
    assert found() is None


def test_a_changed_file_is_another_place(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1")
    (tmp_path / "notes.txt").write_text("not code")
    before = list(stamps.stamps_of(str(tmp_path)))
    assert len(before) == 1
    file.write_text("x = 2")
    assert list(stamps.stamps_of(str(tmp_path))) != before


@pytest.mark.skipif(not linking._able(), reason="objects are LLVM's to load here")
@pytest.mark.parametrize("cpu", [HOST, *LEVELS])
@pytest.mark.parametrize("canary", CANARIES, ids=lambda c: c.name)
def test_kernels_are_linked_here(canary: Any, cpu: str) -> None:
    """The least level has no fused products of its own: they are the C library's."""
    image, _ = kept_image(lowered(canary.program, native_ways(cpu), "cpu"), cpu)
    assert linking.linked(image) is not None


@pytest.mark.skipif(not linking._able(), reason="objects are LLVM's to load here")
def test_an_object_that_wants_what_is_not_loaded_is_left_to_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    (fused,) = (c for c in CANARIES if c.name == "fused products")
    image, _ = kept_image(lowered(fused.program, native_ways("x86-64-v2"), "cpu"), "x86-64-v2")
    assert linking.linked(image) is not None

    def nowhere(name: str) -> int | None:
        return None

    monkeypatch.setattr(linking, "_outside", nowhere)
    assert linking.linked(image) is None


@pytest.mark.skipif(not linking._able(), reason="objects are LLVM's to load here")
def test_objects_of_other_kinds_are_left_to_llvm() -> None:
    image, _ = kept_image(lowered(program(5), native_ways(), "cpu"))
    assert linking.linked(image) is not None
    assert linking.linked(b"") is None
    assert linking.linked(b"\x7fELF" + image[4:100]) is None
    assert linking.linked(image[:18] + b"\x03\x00" + image[20:]) is None  # another processor
    for cut in range(64, len(image), 97):
        linking.linked(image[:cut])  # whatever it gives, it gives it


@pytest.mark.skipif(not linking._able(), reason="objects are LLVM's to load here")
def test_both_loaders_run_the_same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = CpuBackend(threads=1, canaries=False)
    own = vyre.dispatch(program(7), {"out": np.zeros(64, np.uint32)}, backend=backend)["out"]
    monkeypatch.setattr("vyre.backends.cpu.loading.linked", _nothing)
    other = CpuBackend(threads=1, canaries=False)
    kernel = other._new_kernel(program(7), "m", None)
    assert isinstance(kernel.code, MachineCode)
    assert kernel.code._own is None
    loaded = vyre.dispatch(program(7), {"out": np.zeros(64, np.uint32)}, backend=other)["out"]
    assert own.tolist() == loaded.tolist() == [7 * k for k in range(64)]


def _nothing(_: bytes) -> None:
    """A system on which this package links nothing."""


def test_a_bound_is_worked_out_in_steps() -> None:
    steps = ((NUMBER, 10, 0), (LENGTH, 1, 0), (SUM, 0, 1), (PRODUCT, 2, 2))
    work = Work(5, ((2, (3,)), (1, (0, 1))), steps)
    assert work.most([0, 4]) == 5 + 2 * 14 * 14 + 1 * 10 * 4
    assert work.most([0, 0xFFFFFFFF]) == 5 + 2 * 0xFFFFFFFF + 10 * 0xFFFFFFFF
