"""Calls on arrays of torch and CuPy: what is read of them, and what is asked of the driver."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from tests.backends.cuda.scripted_arrays import CupyArray, PoolDriver, Tensor, names, opened, put_away
from tests.backends.cuda.scripted_driver import OK, Status
from vyre.backends import compile_program
from vyre.backends.cuda.plan import CudaPlan
from vyre.backends.cuda.pool import KEPT, open_pool
from vyre.errors import DeviceLost, DeviceOutOfMemory

if TYPE_CHECKING:
    from vyre.backends.dispatch import Compiled


def plan_of(compiled: Compiled) -> CudaPlan:
    assert isinstance(compiled._plain, CudaPlan)
    return compiled._plain


X = np.array([1, 2, 3, 4], np.uint32)


@pytest.mark.parametrize("make", [Tensor, CupyArray])
@pytest.mark.usefixtures("streams")
def test_a_call_asks_the_driver_for_an_output_and_a_launch(make: Any) -> None:
    driver, backend, compiled = opened()
    entered, made = ["cuCtxSetCurrent"], ["cuCtxSetCurrent", "cuMemAllocFromPoolAsync"]
    for turn in range(3):
        driver.calls.clear()
        found = compiled({"a": make(X)}, lengths={"out": ("a",)})["out"]
        assert names(driver) == [*([] if turn else made), *entered, "cuLaunchKernel"]
        assert found.numpy().tolist() == [1, 2, 3, 4]
        driver.calls.clear()
        del found
        gc.collect()
        assert names(driver) == []  # it lies on the shelf for the next one
    assert driver.launched[-1][2:] == [0, 0, 0, 4, 4]
    assert put_away(backend) == 1


@pytest.mark.usefixtures("streams")
def test_an_output_is_cleared_unless_all_of_it_is_written() -> None:
    driver, _, compiled = opened()
    compiled({"a": Tensor(X)}, lengths={"out": 64}, workgroups=1)
    assert driver.named("cuMemsetD8") == []
    compiled({"a": Tensor(X)}, lengths={"out": 65}, workgroups=1)
    assert [call[1:] for call in driver.named("cuMemsetD8")] == [(0, 260)]


@pytest.mark.usefixtures("streams")
def test_new_lengths_are_new_launches_and_our_own_buffers_have_a_way_of_their_own() -> None:
    driver, backend, compiled = opened()
    plan = plan_of(compiled)
    for length in (4, 8, 4):
        value = np.arange(length, dtype=np.uint32)
        assert plan({"a": Tensor(value)}, {"out": ("a",)}, None, copy=False, zeroed=()) is not None
    assert [words[-1] for words in driver.launched] == [4, 8, 4]
    mine, target = vyre.to_device(X, backend=backend), vyre.device_zeros(4, np.uint32, backend=backend)
    assert plan({"a": mine}, {"out": ("a",)}, None, copy=False, zeroed=()) is not None
    assert plan({"a": mine, "out": target}, {}, None, copy=False, zeroed=()) is None  # bound once elsewhere


ODD: dict[str, Any] = {
    "on the host": Tensor(X, is_cuda=False),
    "sparse": Tensor(X, layout="sparse"),
    "with a gradient": Tensor(X, requires_grad=True),
    "strided": Tensor(X, contiguous=False),
    "negated": Tensor(X, negative=True),
    "on another GPU": Tensor(X, number=1),
    "a number": Tensor(np.array(1, np.uint32)),
    "of another type": Tensor(X.view(np.int32), "torch.int32"),
    "of a type that NumPy lacks": Tensor(X.view(np.uint16), "torch.bfloat16"),
    "misaligned": Tensor(np.frombuffer(bytes(17), np.uint8)[1:].view(np.uint32)),
    "a strided host array": X[::2],
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.usefixtures("streams")
def test_what_is_unusual_goes_the_long_way(what: str) -> None:
    driver, _, compiled = opened()
    assert plan_of(compiled)({"a": ODD[what]}, {"out": ("a",)}, None, copy=False, zeroed=()) is None
    assert driver.calls == []


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_work_on_another_stream_goes_the_long_way(library: str, streams: dict[str, int]) -> None:
    streams[library] = 77
    driver, _, compiled = opened()
    value = Tensor(X) if library == "torch" else CupyArray(X)
    assert plan_of(compiled)({"a": value}, {"out": ("a",)}, None, copy=False, zeroed=()) is None
    assert driver.calls == []


@pytest.mark.parametrize("make", [Tensor, CupyArray])
@pytest.mark.usefixtures("streams")
def test_an_output_that_is_passed_is_written_where_it_lies(make: Any) -> None:
    driver, _, compiled = opened()
    out = make(np.zeros(4, np.uint32))
    assert compiled({"a": make(X), "out": out})["out"] is out
    assert out.array.tolist() == [1, 2, 3, 4]
    assert names(driver) == ["cuCtxSetCurrent", "cuLaunchKernel"]
    assert make is CupyArray or out.version == 1, "torch counts what is written"


@pytest.mark.usefixtures("streams")
def test_an_output_that_starts_as_zeros_is_cleared_unless_all_of_it_is_written() -> None:
    driver, _, compiled = opened()
    full, long = Tensor(np.ones(64, np.uint32)), Tensor(np.ones(65, np.uint32))
    compiled.call({"a": Tensor(X), "out": full}, workgroups=1, zeroed=("out",))
    assert driver.named("cuMemsetD8") == []
    compiled.call({"a": Tensor(X), "out": long}, workgroups=1, zeroed=("out",))
    assert driver.named("cuMemsetD8") == [(long.data_ptr(), 0, 260)]
    assert long.array.tolist() == [1, 2, 3, 4, *[0] * 61]
    compiled.call({"a": Tensor(X), "out": long}, workgroups=1)
    assert len(driver.named("cuMemsetD8")) == 1  # nobody asked for zeros


def test_numpy_arrays_go_up_and_down_once() -> None:
    driver, backend, compiled = opened()
    for out in (None, np.ones(4, np.uint32)):
        driver.calls.clear()
        given = {"a": X} if out is None else {"a": X, "out": out}
        found = compiled(given, lengths={"out": ("a",)})["out"]
        assert (found is out) is (out is not None)
        assert found.tolist() == [1, 2, 3, 4]
        counted = [names(driver).count(n) for n in ("cuMemcpyHtoD", "cuLaunchKernel", "cuMemcpyDtoH")]
        assert counted == [2, 1, 1]
        assert put_away(backend) == 2
    mixed = compiled({"a": X, "out": vyre.device_zeros(4, np.uint32, backend=compiled.backend)})["out"]
    assert mixed.numpy().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("fail", ["cuMemcpyHtoD", "cuLaunchKernel", "cuMemcpyDtoH"])
def test_memory_goes_back_after_a_failure(fail: str) -> None:
    driver, backend, compiled = opened()
    driver.fail = fail
    with pytest.raises(DeviceLost):
        compiled({"a": X}, lengths={"out": ("a",)})
    assert put_away(backend) == (1 if fail == "cuMemcpyHtoD" else 2)


@pytest.mark.usefixtures("streams")
def test_constants_are_made_for_calls_that_are_made_here_alone() -> None:
    n = vyre.BufferDecl.uniform("n", 0, vyre.DataType.U32)
    out = vyre.BufferDecl.read_write("out", 1, vyre.DataType.U32)
    program = vyre.Program([n, out], [64], [out.store(0, n[0])])
    driver, backend, _ = opened()
    plan = plan_of(compile_program(program, backend=backend))
    target = vyre.device_zeros(4, np.uint32, backend=backend)
    driver.calls.clear()
    assert plan({"n": bytes(4), "out": target}, {}, None, copy=False, zeroed=()) is None
    assert plan({"n": bytes(4)}, {"out": 4}, None, copy=False, zeroed=()) is None  # all of it on the host
    assert driver.calls == []


@pytest.mark.usefixtures("streams")
def test_what_overlaps_is_copied_or_is_unknown_goes_the_long_way() -> None:
    driver, _, compiled = opened()
    plan = plan_of(compiled)
    same = Tensor(X.copy())
    assert plan({"a": same, "out": same}, {}, None, copy=False, zeroed=()) is None
    assert plan({"a": Tensor(X), "out": same}, {}, None, copy=True, zeroed=()) is None
    assert plan({"a": Tensor(X), "b": Tensor(X)}, {"out": ("a",)}, None, copy=False, zeroed=()) is None
    assert plan({"a": Tensor(X)}, {}, None, copy=False, zeroed=()) is None  # nobody says how long it is
    assert driver.calls == []


@pytest.mark.usefixtures("streams")
def test_scalars_are_copied_to_the_device_once() -> None:
    @vyre.kernel
    def scaled(x: vyre.In[vyre.u32], factor: vyre.u32, out: vyre.Out[vyre.u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = x[i] * factor

    driver, backend, _ = opened()
    driver.do_cuLaunchKernel = lambda *_: (OK,)  # of three addresses, which it would read as two
    for factor in (3, 3, 4, 3):
        scaled(Tensor(X), factor, backend=backend)
    assert len(driver.named("cuMemcpyHtoD")) == 2


def test_memory_that_others_share_is_waited_for() -> None:
    driver, backend, _ = opened()
    for stream in (None, 77):
        shared = vyre.to_device(X, backend=backend)
        assert shared.__cuda_array_interface__ if stream is None else shared.__dlpack__(stream=stream)
        driver.calls.clear()
        shared.close()
        gc.collect()
        assert names(driver) == ["cuCtxSetCurrent", "cuCtxSynchronize"]
    alone = vyre.to_device(X, backend=backend)
    alone.__dlpack__(stream=1)
    driver.calls.clear()
    alone.close()
    gc.collect()
    assert "cuCtxSynchronize" not in names(driver)


def test_a_full_pool_is_trimmed_before_it_is_out_of_memory() -> None:
    driver, backend, _ = opened()
    driver.kept = driver.room
    assert vyre.device_zeros(4, np.uint32, backend=backend).numpy().tolist() == [0] * 4
    assert driver.kept == 0
    with pytest.raises(DeviceOutOfMemory):
        vyre.device_zeros(1 << 20, np.uint32, backend=backend)


def test_a_device_without_pools_has_plain_memory() -> None:
    class NoPools(PoolDriver):
        CUmemLocation = CUmemPoolProps = SimpleNamespace
        CUmemLocationType = SimpleNamespace(CU_MEM_LOCATION_TYPE_DEVICE=1)
        CUmemAllocationType = SimpleNamespace(CU_MEM_ALLOCATION_TYPE_PINNED=1)
        CUmemAllocationHandleType = SimpleNamespace(CU_MEM_HANDLE_TYPE_NONE=0)
        CUmemPool_attribute = SimpleNamespace(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD=4)
        cuuint64_t = int

        def do_cuMemPoolCreate(self, wanted: Any) -> tuple[Any, ...]:  # noqa: N802
            assert (wanted.location.type, wanted.location.id) == (1, 3)
            return (OK, "pool") if self.room else (Status(801, "CUDA_ERROR_NOT_SUPPORTED"), None)

    driver = NoPools()
    assert open_pool(driver, 3, "context", 1) is not None
    assert driver.named("cuMemPoolSetAttribute") == [("pool", 4, KEPT // 2)]
    driver.room = 0
    assert open_pool(driver, 3, "context", 1) is None
