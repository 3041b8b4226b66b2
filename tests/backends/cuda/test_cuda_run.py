"""The CUDA backend on a driver: a scripted one where there is no GPU, the real one where there is."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from lab.exactness import exactness_programs
from tests.backends.cuda.scripted_driver import COPY, OUT, Driver, executable
from vyre import BufferDecl, DataType, Program
from vyre.backends.cuda.backend import CudaBackend, _unload
from vyre.backends.forks import Home
from vyre.conform.diff.differential import INTEGER_PROGRAMS, compare
from vyre.conform.generate.programs import generate_program
from vyre.errors import DispatchError, UnsupportedByBackend, VyreError


def views(length: int) -> dict[str, memoryview]:
    return {"a": memoryview(bytes(range(4 * length))).toreadonly(), "out": memoryview(bytearray(4 * length))}


def test_a_run_copies_launches_and_frees() -> None:
    driver = Driver()
    executable(driver).run(views(10), (1, 1, 1))
    assert driver.calls[0] == ("cuCtxSetCurrent", ("context",))
    (launch,) = driver.named("cuLaunchKernel")
    function, *shape = launch[:9]
    assert function == "function"
    assert shape == [1, 1, 1, 64, 1, 1, 0, 0]
    assert driver.launched[0][2:] == [0, 0, 0, 10, 10]
    assert len(driver.named("cuMemcpyHtoD")) == 2
    assert len(driver.named("cuMemcpyDtoH")) == 1
    assert not driver.memory


def test_results_come_back_into_the_callers_memory() -> None:
    driver = Driver()
    bound = views(4)
    driver.kernel = lambda a, out: ctypes.memmove(out, a, 16)
    executable(driver).run(bound, (1, 1, 1))
    assert bytes(bound["out"]) == bytes(range(16))


def test_buffers_of_no_elements_still_have_an_address() -> None:
    driver = Driver()
    executable(driver).run(views(0), (1, 1, 1))
    assert driver.named("cuMemAlloc") == [(16,), (16,)]
    assert not driver.named("cuMemcpyHtoD")
    assert not driver.named("cuMemcpyDtoH")


@pytest.mark.parametrize("call", ["cuMemAlloc", "cuMemcpyHtoD", "cuLaunchKernel", "cuCtxSynchronize"])
def test_any_failure_is_an_error_with_its_name_and_leaks_nothing(call: str) -> None:
    driver = Driver(fail=call)
    with pytest.raises(DispatchError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        executable(driver).run(views(10), (1, 1, 1))
    assert not driver.memory


def test_out_of_memory_says_what_to_do() -> None:
    driver = Driver(fail="cuMemAlloc", error="CUDA_ERROR_OUT_OF_MEMORY")
    with pytest.raises(DispatchError, match="OUT_OF_MEMORY") as caught:
        executable(driver).run(views(10), (1, 1, 1))
    assert "smaller buffers" in caught.value.fix


def test_a_grid_beyond_one_launch_takes_several() -> None:
    driver = Driver()
    single = Program(COPY.buffers, [1], COPY.entry)
    executable(driver, single).launch([1, 2], {"a": 1, "out": 1}, (2**31 + 5, 65_536, 1))
    launches = driver.named("cuLaunchKernel")
    bases = [tuple(arguments[2:5]) for arguments in driver.launched]
    grids = [launch[1:4] for launch in launches]
    limit = 2**31 - 1
    assert bases == [(0, 0, 0), (limit, 0, 0), (0, 65_535, 0), (limit, 65_535, 0)]
    assert grids == [(limit, 65_535, 1), (6, 65_535, 1), (limit, 1, 1), (6, 1, 1)]


def test_a_dropped_kernel_unloads_its_module_in_the_right_context() -> None:
    driver = Driver()
    held = executable(driver)
    driver.calls.clear()
    del held
    assert driver.calls == [("cuCtxSetCurrent", ("context",)), ("cuModuleUnload", ("module",))]


def test_unloading_on_a_lost_device_raises_nothing() -> None:
    _unload(Driver(fail="cuModuleUnload"), Home("scripted"), "context", "module")


def _sound(_: Program) -> None:
    """Nothing was examined."""


@pytest.mark.parametrize(
    "program",
    [
        Program([OUT], [1, 1, 65], [OUT.store(0, 1)]),
        Program(
            [OUT, BufferDecl.workgroup("t", DataType.U32, 12_289)],
            [1],
            [OUT.store(0, BufferDecl.workgroup("t", DataType.U32, 12_289)[0])],
        ),
    ],
)
def test_blocks_that_do_not_fit_are_refused(program: Program) -> None:
    backend: Any = SimpleNamespace(name="cuda", verdict=None, home=Home("scripted"), require_sound=_sound)
    with pytest.raises(UnsupportedByBackend):
        CudaBackend.compile(backend, program)


@pytest.fixture(scope="module")
def device() -> CudaBackend:
    try:
        return CudaBackend()
    except (ImportError, VyreError) as error:
        pytest.skip(f"no CUDA device here: {error}")


def test_the_edges_are_exact_on_the_device(device: CudaBackend) -> None:
    for name, case in exactness_programs().items():
        assert compare(case, device) is None, name


def test_generated_programs_give_the_reference_bytes_on_the_device(device: CudaBackend) -> None:
    for seed in range(150):
        assert compare(generate_program(seed, INTEGER_PROGRAMS), device) is None
