"""Code for a named processor: the same bytes on every level, its own instructions and kernels on disk."""

from __future__ import annotations

import platform
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.backends.cpu.cpu_assembly import V2, V3, V4, in_range, listing
from vyre.backends import dispatch
from vyre.backends.cpu import compiling as cpu_compile
from vyre.backends.cpu import linking
from vyre.backends.cpu import llvm as cpu_llvm
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.compiling import assembly, compile_source, kept_image, native_ways
from vyre.backends.cpu.llvm import (
    ASSEMBLY,
    HOST,
    LEVELS,
    OBJECT,
    TUNINGS,
    Toolchain,
    runs_here,
    toolchain,
    translate,
)
from vyre.backends.cpu.translator import Translator
from vyre.backends.probe.cases import probe_ops
from vyre.backends.probe.run import probe
from vyre.conform.diff.differential import INTEGER_PROGRAMS, compare
from vyre.conform.generate.programs import generate_program
from vyre.conform.registry import specs
from vyre.conform.verify import control
from vyre.conform.verify.bench import Bench
from vyre.engines import elementwise, workgroups
from vyre.errors import BackendUnavailable, DispatchError
from vyre.ir import BinaryOp, BinOp, DataType, Expr, UnaryOp, UnOp
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.ir import Program

F32 = DataType.F32


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    """A level that this machine can run; the others are compiled and read below."""
    if not runs_here(request.param):
        pytest.skip(f"this processor does not run {request.param}")
    return request.param


def shifted(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FAdd, UnOp(UnaryOp.FExp, a), b)


def program() -> Program:
    return elementwise(shifted, F32, F32, output=F32, items=4)


def test_generated_programs_give_the_bytes_of_the_reference(level: str) -> None:
    on = CpuBackend(threads=1, canaries=False, cpu=level)
    for seed in range(30):
        mismatch = compare(generate_program(seed, INTEGER_PROGRAMS), on)
        assert mismatch is None, str(mismatch)


def test_native_floats_are_exact(level: str) -> None:
    rows = probe(CpuBackend(threads=1, cpu=level), count=300, sweep=0, ops=probe_ops())
    assert [row for row in rows if row.witness] == []


@pytest.mark.parametrize("function", [x for x in UnaryOp if x.name in ("FExp", "FSin", "FLog", "FAtan")])
def test_functions_have_the_bytes_of_this_processor(level: str, function: UnaryOp) -> None:
    """A level without a fused instruction calls for it, one with wide vectors rounds no differently."""
    bits = np.random.default_rng(7).integers(0, 1 << 32, 20_000, dtype=np.uint32)
    bits[::2] = np.random.default_rng(8).normal(0, 30, 10_000).astype(np.float32).view(np.uint32)

    def value(x: Expr) -> Expr:
        return UnOp(function, x)

    made = elementwise(value, F32, output=F32)
    results: list[bytes] = []
    for cpu in (HOST, level):
        given = {"a": bits.view(np.float32), "out": np.zeros(len(bits), np.float32)}
        on = CpuBackend(threads=1, cpu=cpu)
        out = dispatch(made, given, backend=on, workgroups=workgroups(len(bits)))["out"]
        results.append(out.tobytes())
    assert results[0] == results[1]


@pytest.mark.skipif(not linking._able(), reason="objects are LLVM's to load here")
@pytest.mark.parametrize(("cpu", "ours"), [(V2, False), (V2, True), (V3, True)])
def test_only_what_our_own_linker_takes_has_its_constants_near(
    cpu: str, ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LLVM's loader may lay code and constants out of each other's reach; what is not here is its to find."""
    if not ours:  # the least level calls the C library's fma
        monkeypatch.setattr(linking, "_OUTSIDE", ("memset", "memcpy", "memmove"))
    image = translate(emit(prepare(program(), ways=native_ways(cpu))).text, OBJECT, cpu)
    assert (linking.linked(image) is not None) == ours
    sections = linking._sections(image)
    tables = [x for x in sections if x.kind == linking._RELA and sections[x.info].name in (".text", ".ltext")]
    kinds = {info & 0xFFFFFFFF for x in tables for _, info, _ in linking._RELOCATION.iter_unpack(x.data)}
    near = {linking._PC32, linking._PLT32}
    assert kinds
    assert bool(kinds & near) == ours


def test_the_control_finds_the_instruction_of_every_op(level: str) -> None:
    bench = Bench(CpuBackend(threads=1, cpu=level))
    found = {x.id: control.instruction(bench, x) for x in specs() if x.id.startswith("primitive.")}
    assert len(found) > 20
    assert set(found.values()) == {control.SEEN}


REGISTERS = {V2: "xmm", V3: "ymm", V4: "ymm"}


@pytest.mark.parametrize("cpu", [V2, V3, V4])
def test_a_level_has_its_own_instructions_whatever_the_host(cpu: str) -> None:
    text = in_range(program(), cpu)
    assert f"%{REGISTERS[cpu]}" in text
    assert ("%ymm" in text, "vfmadd" in text) == (cpu != V2, cpu != V2)
    assert bool(re.search(r"%k[0-7]\b|%zmm|%[xy]mm(?:1[6-9]|2\d|3[01])\b", text)) == (cpu == V4)
    assert bool(re.search(r"callq?\s", text)) == (cpu == V2), "fma is a call where there is no instruction"


def test_a_named_processor_is_the_same_text_on_every_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the host's own name and features change what `host` gives, and nothing else."""
    monkeypatch.setattr(cpu_compile, "translator", lambda: translate)  # never in another process
    source = emit(prepare(program()))
    here = {cpu: assembly(source, cpu) for cpu in (V3, *TUNINGS)}
    host = assembly(source)
    found = cpu_llvm.binding()
    monkeypatch.setattr(found, "get_host_cpu_name", lambda: "x86-64")
    nothing = type(found.get_host_cpu_features())()
    monkeypatch.setattr(found, "get_host_cpu_features", lambda: nothing)
    toolchain.cache_clear()
    try:
        assert {cpu: assembly(source, cpu) for cpu in (V3, *TUNINGS)} == here
        if platform.machine() == "x86_64":
            assert assembly(source) != host
    finally:
        toolchain.cache_clear()


def test_the_processor_is_part_of_the_kernels_name_on_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path))
    source = emit(prepare(program()))
    images = {cpu: kept_image(source, cpu) for cpu in (V2, V3, V4)}
    assert all(fresh for _, fresh in images.values())
    assert len({image for image, _ in images.values()}) == 3
    assert {cpu: kept_image(source, cpu) for cpu in images} == {
        cpu: (image, False) for cpu, (image, _) in images.items()
    }


def test_the_other_process_compiles_for_the_same_processor() -> None:
    text = emit(prepare(program())).text
    elsewhere = Translator(here=0)
    try:
        for form in (OBJECT, ASSEMBLY):
            assert elsewhere(text, form, V2) == translate(text, form, V2) != translate(text, form, V3)
    finally:
        elsewhere.close()


def test_a_backend_says_what_it_compiles_for(level: str) -> None:
    on = CpuBackend(threads=1, canaries=False, cpu=level)
    assert f", {level}, features " in on.describe().toolchain
    assert on.compile(program()).assembly() == listing(program(), level)


@pytest.mark.parametrize("cpu", [*LEVELS, *TUNINGS])
def test_code_that_this_machine_cannot_run_is_not_loaded(cpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = toolchain

    def small(cpu: str = HOST) -> Toolchain:
        return replace(real(cpu), features="+sse3", cpu="small") if cpu == HOST else real(cpu)

    monkeypatch.setattr(cpu_llvm, "toolchain", small)
    with pytest.raises(BackendUnavailable, match=rf"{cpu} is not for this processor \(small\).*'host'"):
        CpuBackend(cpu=cpu)
    with pytest.raises(BackendUnavailable, match="not for this processor"):
        compile_source(emit(prepare(program())), cpu)
    assert "vyre_main" in listing(program(), cpu)


def test_an_unknown_processor_is_refused() -> None:
    with pytest.raises(DispatchError, match=r"unknown processor 'i386'.*Fix: use one of 'host', 'x86-64-v2'"):
        CpuBackend(cpu="i386")
