"""Limits, errors and large runs: a clear refusal or the right bytes, and the device goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.backends.webgpu.webgpu_programs import ids
from tests.backends.webgpu.webgpu_stacks import agree
from vyre.backends import compile_program, dispatch, recent
from vyre.backends.webgpu.device import STORAGE, DeviceFault
from vyre.conform.diff.differential import INTEGER_PROGRAMS, compare
from vyre.conform.generate.programs import generate_program
from vyre.conform.oracle.golden.rows import load_rows
from vyre.conform.verify.golden.outcome import Status
from vyre.conform.verify.golden.replay import EXECUTABLE_KINDS, replay_all
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError
from vyre.ir import BufferDecl, DataType, InvocationId, LitU32, Loop, Program, UnaryOp, UnOp
from vyre.lower.source import Source

if TYPE_CHECKING:
    from vyre.backends.webgpu.backend import WebGpuBackend

U32 = DataType.U32
OUT = BufferDecl.read_write("out", 0, U32)
ID = InvocationId(0)
COUNT = Program([OUT], (1,), [OUT.store(ID, ID * 3 + 1)])


def limited(backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    changed = replace(backend.limits, **limits)  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(backend, "limits", changed)
    monkeypatch.setattr(backend.device, "limits", changed)
    # What was compiled knows the limits of its time, and a real device keeps them.
    monkeypatch.setitem(backend.__dict__, recent._NAME, recent.Recent[Any](backend))


def works(backend: WebGpuBackend) -> None:
    result = dispatch(COUNT, {"out": np.zeros(5, np.uint32)}, backend=backend)
    assert result["out"].tolist() == [1, 4, 7, 10, 13]


def test_the_device_is_described(backend: WebGpuBackend) -> None:
    info = backend.describe()
    assert info.name == backend.name
    assert all((info.device, info.driver, info.version, info.toolchain))
    assert info.limits.buffer_bytes == min(backend.limits.buffer_bytes, backend.limits.binding_bytes)
    assert info.limits.buffers == backend.limits.storage_buffers >= 8


def test_more_buffers_than_the_device_binds_are_refused(backend: WebGpuBackend) -> None:
    most = backend.limits.storage_buffers
    reads = [BufferDecl.read(f"b{k}", k + 1, U32) for k in range(most)]
    entry = [OUT.store(ID, LitU32(1))]
    fits = Program([OUT, *reads[:-1]], (1,), entry)
    arrays = {"out": np.zeros(1, np.uint32)} | {b.name: np.zeros(1, np.uint32) for b in reads[:-1]}
    assert dispatch(fits, arrays, backend=backend)["out"].tolist() == [1]
    with pytest.raises(UnsupportedByBackend, match=f"{most + 1} storage.*at most {most}"):
        backend.compile(Program([OUT, *reads], (1,), entry))


def test_workgroups_beyond_the_device_are_refused(
    backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    tile = BufferDecl.workgroup("tile", DataType.F16, backend.limits.workgroup_bytes // 4 + 1)
    with pytest.raises(UnsupportedByBackend, match=f"workgroup memory.*{backend.limits.workgroup_bytes}"):
        backend.compile(Program([OUT, tile], (1,), [OUT.store(0, LitU32(1))]))
    limited(backend, monkeypatch, invocations=32)
    with pytest.raises(UnsupportedByBackend, match=r"64 invocations.*at most 32"):
        backend.compile(Program([OUT], (8, 8), []))
    monkeypatch.setattr(backend, "limits", replace(backend.limits, workgroup_size=(64, 64, 4)))
    with pytest.raises(UnsupportedByBackend, match=r"1 x 1 x 8.*64 x 64 x 4"):
        backend.compile(Program([OUT], (1, 1, 8), []))


def test_a_buffer_past_the_binding_limit_is_refused_with_the_limit(
    backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(backend, monkeypatch, binding_bytes=256)
    data = bytearray(260)
    with pytest.raises(DispatchError, match=r"260 bytes.*256"):
        backend.compile(COUNT).run({"out": memoryview(data)}, (65, 1, 1))
    with pytest.raises(DispatchError, match=r"260 bytes.*256"):
        compile_program(COUNT, backend=backend)({"out": np.zeros(65, np.uint32)})
    works(backend)


def test_grids_past_65535_workgroups(backend: WebGpuBackend) -> None:
    n = 65_535 + 4_465
    result = dispatch(COUNT, {"out": np.zeros(n, np.uint32)}, backend=backend)["out"]
    assert np.array_equal(result, np.arange(n, dtype=np.uint32) * 3 + 1)
    tall = Program([OUT], (1,), [OUT.store(InvocationId(1) * 2 + ID, InvocationId(1) ^ ID)])
    result = dispatch(tall, {"out": np.zeros(2 * n, np.uint32)}, backend=backend, workgroups=(2, n))["out"]
    rows = np.arange(n, dtype=np.uint32)
    assert np.array_equal(result.reshape(n, 2), np.stack([rows, rows ^ 1], axis=1))


def test_a_grid_in_many_launches(backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(backend, monkeypatch, workgroups_per_axis=2)
    monkeypatch.setattr("vyre.backends.webgpu.backend._LAUNCHES", 3)
    agree(backend, *ids((5, 3, 4)))


def test_buffers_travel_in_pieces(backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.backends.webgpu.memory.PIECE", 64)
    halves = BufferDecl.read_write("out", 0, DataType.F16)
    flip = Program([halves], (1,), [halves.store(ID, UnOp(UnaryOp.FNeg, halves[ID]))])
    for count in (0, 1, 2, 31, 32, 33, 63, 65):
        data = bytes(range(2 * count))
        agree(backend, flip, {"out": data}, (max(1, count), 1, 1))


def test_runs_do_not_see_each_other(backend: WebGpuBackend) -> None:
    big = dispatch(COUNT, {"out": np.full(64, 9, np.uint32)}, backend=backend)["out"]
    assert big[63] == 190
    peek = Program([OUT], (1,), [OUT.store(0, OUT[1] + OUT[40] + OUT.length)])
    assert dispatch(peek, {"out": np.zeros(1, np.uint32)}, backend=backend)["out"].tolist() == [1]
    assert dispatch(COUNT, {"out": np.zeros(0, np.uint32)}, backend=backend)["out"].size == 0
    works(backend)


def test_a_rejected_source_comes_with_the_compilers_message(
    backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Source("wgsl", "main", "fn main( { nonsense", (1, 1, 1), (OUT,), ("base_x", "base_y", "base_z"))
    monkeypatch.setattr("vyre.backends.webgpu.backend.emit", lambda *_, **__: broken)  # pyright: ignore
    with pytest.raises(VyreError, match=r"(?s)rejects the kernel.*expected.*fn main\( \{ nonsense.*Fix:"):
        backend.compile(COUNT)
    monkeypatch.undo()
    works(backend)


def test_errors_of_the_device_are_exceptions(backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceFault):
        backend.device.allocate(STORAGE, 1 << 50)
    limited(backend, monkeypatch, workgroups_per_axis=1_000_000)
    with pytest.raises(DispatchError, match="refused the work"):
        dispatch(COUNT, {"out": np.zeros(70_000, np.uint32)}, backend=backend)
    monkeypatch.undo()
    works(backend)


def test_a_lost_feature_is_refused_by_name(backend: WebGpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    assert backend.verdict is not None
    assert backend.verdict.failures == {}
    failed = replace(backend.verdict, failures={"long loops": "word 0 is 0x1"})
    monkeypatch.setattr(backend, "verdict", failed)
    looping = Program([OUT], (1,), [Loop("k", LitU32(0), LitU32(3), [OUT.store(0, LitU32(1))])])
    with pytest.raises(UnsupportedByBackend, match=r'loops.*canary "long loops"'):
        backend.compile(looping)
    works(backend)


@pytest.mark.slow
def test_golden_rows(backend: WebGpuBackend) -> None:
    rows = [row for row in load_rows() if row.kind in EXECUTABLE_KINDS]
    outcomes = replay_all(rows, backend)
    assert [o.row.id for o in outcomes if o.status is Status.Failed] == []
    assert sum(o.status is Status.Passed for o in outcomes) > 750


@pytest.mark.slow
def test_generated_programs(backend: WebGpuBackend) -> None:
    mismatches = [compare(generate_program(seed, INTEGER_PROGRAMS), backend) for seed in range(75)]
    assert [str(m) for m in mismatches if m] == []
