"""Sources are found on the disk by the program and all that they depend on, and by nothing less."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from vyre.backends import sources, stamps
from vyre.ir import BufferDecl, DataType, InvocationId, Program
from vyre.ir.expr import Call, LitU32
from vyre.lower.cuda import emit
from vyre.lower.prepare import prepare
from vyre.lower.ways import CUDA_WAYS

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.lower.source import Source

PARTS = ("cuda", "sm_90")


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache of its own, in a process that seems to have loaded no lowering."""
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setattr(stamps, "_LOWERING", ())


def program(name: str = "out", step: int = 3) -> Program:
    data = BufferDecl.read("data", 0, DataType.F32)
    out = BufferDecl.read_write(name, 1, DataType.F32)
    table = BufferDecl.uniform("params", 2, DataType.U32, count=4)
    index = InvocationId(0) * LitU32(step) + table[LitU32(0)]
    return Program([data, out, table], (64,), [out.store(index, data[index])])


def lowered(given: Program) -> Source:
    return emit(prepare(given, ways=CUDA_WAYS), backend="cuda")


def test_a_source_comes_back_whole() -> None:
    made = lowered(program())
    sources.keep_source(program(), PARTS, made)
    assert sources.ready_source(program(), PARTS) == made


def test_another_program_or_device_finds_nothing() -> None:
    sources.keep_source(program(), PARTS, lowered(program()))
    assert sources.ready_source(program("other"), PARTS) is None
    assert sources.ready_source(program(step=4), PARTS) is None
    assert sources.ready_source(program(), ("cuda", "sm_100")) is None


def test_a_changed_file_of_the_package_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sources.keep_source(program(), PARTS, lowered(program()))
    here = stamps.package_stamps()
    assert here is not None
    monkeypatch.setattr(sources, "package_stamps", lambda: (*here[:-1], "a file that was changed"))
    assert sources.ready_source(program(), PARTS) is None


def test_a_loaded_lowering_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    sources.keep_source(program(), PARTS, lowered(program()))
    monkeypatch.setattr(stamps, "_LOWERING", ("vyre.lower.prepare",))
    assert sources.ready_source(program(), PARTS) is None


def test_what_depends_on_more_than_the_program_is_not_kept() -> None:
    out = BufferDecl.read_write("out", 0, DataType.U32)
    calling = Program([out], (64,), [out.store(LitU32(0), Call("intrinsic.some", (LitU32(1),)))])
    buffers = (BufferDecl.read_write("out", 0, DataType.U32),)
    sources.keep_source(calling, PARTS, replace(lowered(program()), buffers=buffers))
    assert sources.ready_source(calling, PARTS) is None


def test_a_source_with_other_buffers_than_its_program_is_not_kept() -> None:
    made = lowered(program())
    sources.keep_source(program(), PARTS, replace(made, buffers=lowered(program("other")).buffers))
    assert sources.ready_source(program(), PARTS) is None


def test_looking_for_a_source_loads_no_lowering() -> None:
    """Else a first call would wait for what it does not need, and nothing would be found ever."""
    code = (
        "import sys, vyre.backends.sources as s\n"
        "assert not s.lowering_is_loaded()\n"
        "assert 'vyre.lower.ways' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
