"""The probe: what it says of honest devices, and that it sees the faults of dishonest ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.probe.cases import cases, probe_ops, specials
from vyre.backends.probe.run import REFUSED, Witness, probe
from vyre.backends.protocol import BackendInfo
from vyre.backends.reference.backend import ReferenceBackend
from vyre.cli import main
from vyre.ir import DataType
from vyre.lower.native import ALL_KEYS, F32_KEYS
from vyre.lower.ways import NATIVE_WAY, SOFT, SOFT_WAY, Ways

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.backends.protocol import Executable
    from vyre.ir.program import Program

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

OPS = {op.name: op for op in probe_ops()}
SWIFTSHADER = next((str(p) for p in Path("/usr/lib").glob("chromium*/vk_swiftshader_icd.json")), "")


class Faulty:
    """The processor with a fault in what it gives natively, and only there."""

    name = "faulty"

    def __init__(self, fault: Callable[[np.ndarray[Any, Any]], None], *, ways: Ways = SOFT) -> None:
        self.ways = ways
        self._fault = fault
        self._cpu = CpuBackend(threads=1)

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "none")

    def compile(self, program: Program, *, ways: Ways | None = None) -> Executable:
        chosen = self.ways if ways is None else ways
        executable = self._cpu.compile(program, ways=chosen)
        return Wrong(executable, self._fault) if chosen.native else executable


class Wrong:
    def __init__(self, inner: Executable, fault: Callable[[np.ndarray[Any, Any]], None]) -> None:
        self._inner = inner
        self._fault = fault

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self._inner.run(buffers, workgroups)
        self._fault(np.frombuffer(buffers["out"], np.uint32))


def flush(out: np.ndarray[Any, Any]) -> None:
    """Subnormal results become zeros."""
    magnitude = out & np.uint32(0x7FFFFFFF)
    out[(magnitude > 0) & (magnitude < 0x800000)] &= np.uint32(0x80000000)


def payload(out: np.ndarray[Any, Any]) -> None:
    """NaNs come out as NVIDIA's."""
    out[out == 0x7FC00000] = 0x7FFFFFFF


def rarely(out: np.ndarray[Any, Any]) -> None:
    """One result in the sweep is off by one unit; nothing that the exact cases see."""
    if len(out) > 100_000:
        out[77_777] ^= 1


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules["vyre.backends.probe.run"].__dict__["_CANDIDATES"], "faulty", Ways(F32_KEYS)
    )


@pytest.mark.parametrize("fault", [flush, payload])
@pytest.mark.usefixtures("candidates")
def test_a_fault_refuses_native_arithmetic_with_a_witness(fault: Callable[..., None]) -> None:
    (row,) = probe(Faulty(fault), sweep=0, ops=[OPS["FMul F32"]])
    assert row.way == SOFT_WAY
    assert row.witness is not None
    assert OPS["FMul F32"].truth(row.witness.operands) == row.witness.expected != row.witness.actual
    assert "wrong" in row.why


@pytest.mark.usefixtures("candidates")
def test_a_rare_fault_is_seen_by_the_sweep() -> None:
    (clean,) = probe(Faulty(rarely), sweep=1 << 16, ops=[OPS["FAdd F32"]])
    assert clean.witness is None
    (row,) = probe(Faulty(rarely), sweep=1 << 17, ops=[OPS["FAdd F32"]])
    assert row.witness is not None
    assert row.witness.expected ^ row.witness.actual == 1


@pytest.mark.usefixtures("candidates")
def test_a_broken_promise_is_no_native_way() -> None:
    backend = Faulty(flush, ways=Ways(F32_KEYS))
    (row,) = probe(backend, sweep=0, ops=[OPS["FMul F32"]])
    assert (row.way, row.witness is None) == (REFUSED, False)
    assert "promise" in row.why


def test_the_processor_is_native_where_it_can_be() -> None:
    names = ["FAdd F32", "FIsNaN F32", "FMulAdd BF16", "FAdd F64"]
    rows = probe(CpuBackend(threads=1), count=500, sweep=1 << 12, ops=[OPS[name] for name in names])
    assert [row.way for row in rows] == [NATIVE_WAY, SOFT_WAY, SOFT_WAY, NATIVE_WAY]
    assert rows[0].cases >= 500 + (1 << 12)
    assert all(row.witness is None for row in rows)


def test_a_backend_that_cannot_be_told_is_judged_by_what_it_gives() -> None:
    (row,) = probe(ReferenceBackend(), count=10, ops=[OPS["FFloor F16"]])
    assert (row.op, row.way, row.witness) == ("FFloor F16", NATIVE_WAY, None)


def test_every_operation_is_asked() -> None:
    assert {key for op in probe_ops() for key in op.keys} >= ALL_KEYS - {"f64.canon"}
    assert len(OPS) == len(probe_ops())


def test_the_cases_are_hard() -> None:
    """Subnormal, infinite and NaN results all occur, and a case is the same each time."""
    op = OPS["FMul F32"]
    found = {op.truth(case) & 0x7FFFFFFF for case in cases(op, 3000)}
    assert any(0 < bits < 0x800000 for bits in found)
    assert {0, 0x7F800000, 0x7FC00000} <= found
    assert cases(op, 3000) == cases(op, 3000)
    assert len(set(specials(DataType.F64))) == 36


def _names(rows: list[dict[str, Any]], way: str) -> set[str]:
    return {row["op"] for row in rows if row["way"] == way}


def test_the_command_prints_a_table_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.backends.probe.run.probe_ops", lambda: (OPS["FMulAdd F32"], OPS["FEq F16"]))
    ran = CliRunner().invoke(main, ["probe", "cpu", "--sweep", "1000"])
    assert ran.exit_code == 0, ran.output
    assert "FMulAdd F32  native  guaranteed, and right on" in ran.output
    shown = CliRunner().invoke(main, ["probe", "cpu", "--sweep", "1000", "--json"])
    record = json.loads(shown.output)
    assert record["backend"]["name"] == "cpu"
    assert _names(record["rows"], NATIVE_WAY) == {"FMulAdd F32"}


def test_the_command_shows_a_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    from vyre.backends.probe.run import ProbeRow

    row = ProbeRow("FMul F32", SOFT_WAY, "native is wrong", 5, Witness((1, 0x3F000000), 1, 0))

    def probed(*_: object, **__: object) -> tuple[ProbeRow, ...]:
        return (row,)

    monkeypatch.setattr("vyre.backends.probe.run.probe", probed)
    ran = CliRunner().invoke(main, ["probe", "cpu"])
    assert "witness: (0x1, 0x3F000000) gives 0x0, expected 0x1" in ran.output


_WEBGPU = """
import json, sys
from dataclasses import asdict
from vyre.backends.registry import get
from vyre.backends.probe.run import probe
from vyre.backends.probe.cases import probe_ops
names = {"FAdd F32", "FMul F32", "FDiv F32", "FSqrt F32", "FMulAdd F32", "FEq F32", "FAdd F64", "FAdd F16"}
rows = probe(get("wgpu"), count=1500, sweep=1 << 14, ops=[op for op in probe_ops() if op.name in names])
print(json.dumps([asdict(row) for row in rows]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not SWIFTSHADER, reason="SwiftShader is missing: apt-get install chromium")
def test_swiftshader_is_refused_native_arithmetic(tmp_path: Path) -> None:
    """A process of its own: a loader binds its driver once."""
    pytest.importorskip("wgpu", reason="wgpu is not installed")
    environment = os.environ | {"VK_ICD_FILENAMES": SWIFTSHADER, "XDG_CACHE_HOME": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", _WEBGPU], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    rows: list[dict[str, Any]] = json.loads(ran.stdout)
    refused = {row["op"] for row in rows if row["witness"]}
    assert refused >= {"FAdd F32", "FMul F32", "FDiv F32", "FSqrt F32", "FMulAdd F32", "FEq F32"}
    assert _names(rows, REFUSED) == {"FAdd F64"}
    assert _names(rows, NATIVE_WAY) == set()
