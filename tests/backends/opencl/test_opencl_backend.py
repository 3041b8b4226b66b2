"""What the OpenCL backend refuses, reports, and survives."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import vyre
from tests.backends.opencl.opencl_backend import opencl
from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends import compile_program
from vyre.backends.opencl.backend import OpenClBackend, _choose
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError
from vyre.ir.expr import FReduceApprox, LitU32
from vyre.ir.operators import ReduceOp
from vyre.lower.source import Source, launches

ID = InvocationId(0)
A = BufferDecl.read("a", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)
DOUBLE = Program([A, OUT], [4], [OUT.store(ID, A[ID] * 2)])


def test_it_names_device_driver_and_toolchain() -> None:
    info = opencl().describe()
    assert info.device
    assert info.driver
    assert "pyopencl" in info.toolchain
    assert info.limits.buffer_bytes


def test_as_many_buffers_run_as_are_declared_and_no_more() -> None:
    most = opencl().describe().limits.buffers
    assert most is not None
    if most > 255:
        pytest.skip("a program cannot have so many buffers")

    def adding(count: int) -> Program:
        inputs = [BufferDecl.read(f"a{k}", k, DataType.U32) for k in range(count - 1)]
        out = BufferDecl.read_write("out", count - 1, DataType.U32)
        total = inputs[0][ID]
        for decl in inputs[1:]:
            total = total + decl[ID]
        return Program([*inputs, out], [4], [out.store(ID, total)])

    given = {f"a{k}": np.full(4, k, np.uint32) for k in range(most - 1)}
    result = vyre.dispatch(adding(most), {**given, "out": np.zeros(4, np.uint32)}, backend=opencl())["out"]
    assert result.tolist() == [sum(range(most - 1))] * 4
    with pytest.raises(DispatchError, match="pack several buffers"):
        compile_program(adding(most + 1), backend=opencl())


def test_results_arrive_and_inputs_stay() -> None:
    a = np.arange(100, dtype=np.uint32)
    out = np.full(100, 7, np.uint32)
    result = vyre.dispatch(DOUBLE, {"a": a, "out": out}, backend=opencl(), copy=True)["out"]
    assert result.tolist() == [2 * k for k in range(100)]
    assert out.tolist() == [7] * 100
    vyre.dispatch(DOUBLE, {"a": a, "out": out}, backend=opencl())
    assert out.tolist() == result.tolist()


@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_memory_at_any_alignment_is_written_in_place(offset: int) -> None:
    a = np.arange(50, dtype=np.uint32)
    whole = np.zeros(70, np.uint32)
    out = whole[offset : offset + 50]
    vyre.dispatch(DOUBLE, {"a": a, "out": out}, backend=opencl())
    assert out.tolist() == [2 * k for k in range(50)]
    assert not whole[:offset].any()
    assert not whole[offset + 50 :].any()


def test_a_kernel_can_run_in_several_threads_at_once() -> None:
    compiled = compile_program(DOUBLE, backend=opencl())
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            a = np.full(64, number, np.uint32)
            result = compiled({"a": a, "out": np.zeros(64, np.uint32)})["out"]
            if set(result.tolist()) != {2 * number}:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_has_no_exact_lowering_is_refused_by_name() -> None:
    f = BufferDecl.read_write("f", 0, DataType.F64)
    total = FReduceApprox(ReduceOp.Add, "f", LitU32(0), LitU32(2), 4)
    program = Program([f], [1], [f.store(0, total)])
    with pytest.raises(UnsupportedByBackend, match="FReduceApprox on F64 is not supported by the backend op"):
        opencl().compile(program)


def test_workgroup_memory_past_the_device_is_refused_with_the_limit() -> None:
    limit = int(opencl().device.local_mem_size)
    tile = BufferDecl.workgroup("tile", DataType.U32, limit // 4 + 1)
    with pytest.raises(UnsupportedByBackend, match=str(limit)):
        opencl().compile(Program([tile, OUT], [1], [OUT.store(0, tile[0])]))


def test_too_many_buffers_are_refused_with_the_limit() -> None:
    limit = int(opencl().device.max_parameter_size)
    many = [BufferDecl.read_write(f"b{k}", k, DataType.U32) for k in range(limit // 12 + 1)]
    if len(many) > 256:
        pytest.skip("this device takes more arguments than a program may have buffers")
    with pytest.raises(DispatchError, match=f"has {limit}"):
        opencl().compile(Program(many, [1], [many[0].store(0, 1)]))


def test_source_that_the_compiler_rejects_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Source:
        return Source("opencl", "vyre_main", "__kernel void vyre_main( { nonsense", (1, 1, 1), (), ())

    backend = opencl()
    monkeypatch.setattr("vyre.backends.opencl.backend.emit", broken)
    with pytest.raises(VyreError, match="nonsense") as caught:
        backend.compile(DOUBLE)
    assert "rejects the kernel" in str(caught.value)
    monkeypatch.undo()
    a = np.ones(4, np.uint32)
    assert vyre.dispatch(DOUBLE, {"a": a, "out": a * 0}, backend=backend)["out"].tolist() == [2] * 4


def test_an_error_of_the_device_is_a_dispatch_error_and_the_process_goes_on() -> None:
    backend = opencl()
    executable = backend.compile(DOUBLE)
    cl = backend.cl

    def failing(*_: Any) -> None:
        cl.Buffer(backend.context, cl.mem_flags.READ_WRITE, size=1 << 62)

    executable._kernel = failing
    views = {name: memoryview(bytearray(64)) for name in ("a", "out")}
    with pytest.raises(DispatchError, match="the process can go on"):
        executable.run(views, (1, 1, 1))
    a = np.ones(4, np.uint32)
    assert vyre.dispatch(DOUBLE, {"a": a, "out": a * 0}, backend=backend)["out"].tolist() == [2] * 4


def test_platforms_without_devices_do_not_hide_others() -> None:
    class Cl:
        """pyopencl with one broken platform and, if wanted, one good one."""

        class Error(Exception):
            pass

        class device_type:  # noqa: N801 - pyopencl's spelling
            GPU = 4

        def __init__(self, *platforms: Any) -> None:
            self.platforms = platforms

        def get_platforms(self) -> Any:
            return self.platforms

    class Broken:
        def get_devices(self) -> Any:
            raise Cl.Error

    class Device:
        def __init__(self, kind: int) -> None:
            self.type = kind

    class Good:
        devices = (Device(2), Device(4), Device(2))

        def get_devices(self) -> Any:
            return self.devices

    assert _choose(Cl(Broken(), Good())) is Good.devices[1]
    with pytest.raises(VyreError, match="no OpenCL device") as caught:
        _choose(Cl(Broken()))
    assert "pocl-opencl-icd" in caught.value.fix


def test_barriers_are_compiled_without_the_optimiser_on_pocl_and_only_there() -> None:
    backend = opencl()
    plain = Source("opencl", "k", "o[0] = 1;", (1, 1, 1), (), ())
    fenced = Source("opencl", "k", "barrier(CLK_LOCAL_MEM_FENCE);", (1, 1, 1), (), ())
    assert "-cl-opt-disable" not in backend._options(plain)
    on_pocl = backend.device.platform.name == "Portable Computing Language"
    assert ("-cl-opt-disable" in backend._options(fenced)) is on_pocl


def test_compiled_kernels_are_dropped_with_their_program() -> None:
    executable = opencl().compile(DOUBLE)
    kernel = executable._kernel
    before = len(gc.get_referrers(kernel))
    del executable
    gc.collect()
    assert len(gc.get_referrers(kernel)) < before


def test_a_grid_is_covered_by_launches_within_the_limits() -> None:
    parts = list(launches((7, 3, 2), (3, 2, 2)))
    cells = [
        (x + i, y + j, z + k)
        for (x, y, z), (nx, ny, nz) in parts
        for i in range(nx)
        for j in range(ny)
        for k in range(nz)
    ]
    assert len(cells) == len(set(cells)) == 42
    assert max(cells) == (6, 2, 1)
    assert all(n <= limit for _, grid in parts for n, limit in zip(grid, (3, 2, 2), strict=True))
    assert list(launches((2, 1, 1), (2**31 - 1, 65_535, 65_535))) == [((0, 0, 0), (2, 1, 1))]


def test_the_backend_is_constructed_without_arguments() -> None:
    opencl()
    assert isinstance(OpenClBackend(), OpenClBackend)
