"""The shortest ways on a GPU: kernels called by position, engines on small inputs, memory from the shelf."""

from __future__ import annotations

import ctypes
import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from tests.backends.cuda.scripted_arrays import CupyArray, PoolDriver, Tensor, names, opened, put_away
from tests.backends.cuda.scripted_driver import OK, ScriptedBackend
from vyre import In, InOut, Out, u32
from vyre.backends.cuda.pool import KEPT, block_size
from vyre.backends.cuda.short import CudaCall
from vyre.backends.dispatch import _compile_named
from vyre.engines import reduce
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Iterator

X = np.array([1, 2, 3, 4], np.uint32)


@pytest.fixture
def scripted(
    monkeypatch: pytest.MonkeyPatch, streams: dict[str, int]
) -> Iterator[tuple[PoolDriver, ScriptedBackend]]:
    """A backend that goes by the name `cuda`, and its driver; torch and CuPy are there too."""
    driver, backend, _ = opened()

    def found(name: str) -> ScriptedBackend:
        return backend

    monkeypatch.setattr("vyre.backends.registry.get", found)
    _compile_named.cache_clear()  # programs are the same in every test, their backends are not
    yield driver, backend
    _compile_named.cache_clear()


def copying() -> Any:
    """A kernel that has not been called."""

    @vyre.kernel
    def copied(a: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = a[i]

    return copied


def shortened(kernel: Any, *arrays: Any) -> CudaCall:
    """What a first call leaves for those like it."""
    kernel(*arrays, backend="cuda")
    short = kernel._shorts["cuda", len(arrays)]
    assert isinstance(short, CudaCall)
    return short


@pytest.mark.parametrize("make", [Tensor, CupyArray, None])
def test_a_second_call_is_a_launch_and_nothing_else(
    make: Any, scripted: tuple[PoolDriver, ScriptedBackend]
) -> None:
    driver, backend = scripted
    kernel = copying()
    x = vyre.to_device(X, backend=backend) if make is None else make(X)
    short = shortened(kernel, x)
    for _ in range(3):
        gc.collect()
        driver.calls.clear()
        found = kernel(x, backend="cuda")
        assert names(driver) == ["cuCtxSetCurrent", "cuLaunchKernel"]
        assert found.numpy().tolist() == [1, 2, 3, 4]
        del found
    assert short((x,)) is not None
    out: Any = make(np.zeros(4, np.uint32)) if make else vyre.device_zeros(4, np.uint32, backend=backend)
    passed = shortened(kernel, x, out)
    assert passed((x, out)) is out
    assert make is not Tensor or out.version == 2, "torch counts what is written"
    del out, x
    gc.collect()
    assert put_away(backend) > 0


ODD: dict[str, Any] = {
    "on the host": Tensor(X, is_cuda=False),
    "sparse": Tensor(X, layout="sparse"),
    "with a gradient": Tensor(X, requires_grad=True),
    "strided": Tensor(X, contiguous=False),
    "negated": Tensor(X, negative=True),
    "on another GPU": Tensor(X, number=1),
    "a number": Tensor(np.array(1, np.uint32)),
    "of two dimensions": Tensor(X.reshape(2, 2)),
    "of another type": Tensor(X.view(np.int32), "torch.int32"),
    "misaligned": Tensor(np.frombuffer(bytes(17), np.uint8)[1:].view(np.uint32)),
    "of the host, strided": X[::2],
    "a length": 4,
    "nothing": None,
    "empty": Tensor(X[:0]),
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_unusual_goes_the_ordinary_way(
    what: str, scripted: tuple[PoolDriver, ScriptedBackend]
) -> None:
    driver, _ = scripted
    short = shortened(copying(), Tensor(X))
    driver.calls.clear()
    assert short((ODD[what],)) is None
    assert driver.calls == []


def test_arrays_of_the_host_go_up_and_down(scripted: tuple[PoolDriver, ScriptedBackend]) -> None:
    driver, _ = scripted
    short = shortened(copying(), Tensor(X))
    assert short((X,)).tolist() == [1, 2, 3, 4]
    assert len(driver.named("cuMemcpyDtoH")) == 1


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_work_on_another_stream_goes_the_ordinary_way(
    library: str, scripted: tuple[PoolDriver, ScriptedBackend], streams: dict[str, int]
) -> None:
    driver, _ = scripted
    value = Tensor(X) if library == "torch" else CupyArray(X)
    short = shortened(copying(), value)
    streams[library] = 77
    driver.calls.clear()
    assert short((value,)) is None
    assert driver.calls == []


def test_closed_read_only_and_foreign_buffers_go_the_ordinary_way(
    scripted: tuple[PoolDriver, ScriptedBackend],
) -> None:
    _, backend = scripted
    x, out = (vyre.to_device(X, backend=backend) for _ in range(2))
    kernel = copying()
    made, passed = shortened(kernel, x), shortened(kernel, x, out)
    elsewhere = vyre.to_device(X, backend=opened()[1])
    assert made((elsewhere,)) is None
    out.readonly = True
    assert passed((x, out)) is None
    assert made((out,)) is not None
    with vyre.capture(backend):
        assert made((x,)) is None
    x.close()
    assert made((x,)) is None
    with pytest.raises(DispatchError, match="'a' is a closed device buffer"):
        kernel(x, backend="cuda")


def test_memory_that_is_written_is_bound_once(scripted: tuple[PoolDriver, ScriptedBackend]) -> None:
    driver, _ = scripted
    kernel, whole = copying(), np.zeros(8, np.uint32)
    passed = shortened(kernel, Tensor(X), Tensor(whole[:4]))
    driver.calls.clear()
    assert passed((Tensor(whole[:4]), Tensor(whole[:4]))) is None
    assert passed((Tensor(whole[3:7]), Tensor(whole[:4]))) is None
    assert driver.calls == []
    with pytest.raises(DispatchError, match="share memory"):
        kernel(Tensor(whole[3:7]), Tensor(whole[:4]), backend="cuda")
    beside = Tensor(whole[:4])
    assert passed((Tensor(whole[4:]), beside)) is beside


def test_outputs_start_as_zeros_unless_all_of_them_is_written(
    scripted: tuple[PoolDriver, ScriptedBackend],
) -> None:
    driver, _ = scripted

    @vyre.kernel
    def half(a: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        if i < len(a) // 2:
            out[i] = a[i]

    made, passed = shortened(half, Tensor(X)), shortened(half, Tensor(X), Tensor(X.copy()))
    full = shortened(copying(), Tensor(X), Tensor(X.copy()))
    driver.calls.clear()
    out = Tensor(X.copy())
    assert passed((Tensor(X), out)) is out
    assert driver.named("cuMemsetD8") == [(out.data_ptr(), 0, 16)]
    assert made((Tensor(X),)) is not None
    assert [call[2] for call in driver.named("cuMemsetD8")] == [16, 16]
    assert full((Tensor(X), out)) is out
    assert len(driver.named("cuMemsetD8")) == 2


def test_several_outputs_come_in_the_order_of_the_kernel(
    scripted: tuple[PoolDriver, ScriptedBackend],
) -> None:
    driver, _ = scripted
    driver.do_cuLaunchKernel = lambda *_: (OK,)  # of three addresses, which it would read as two

    @vyre.kernel
    def both(a: In[u32], old: InOut[u32], new: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        new[i] = old[i]
        old[i] = a[i]

    x, old = Tensor(X), Tensor(X.copy())
    short = shortened(both, x, old)
    found = short((x, old))
    assert found[0] is old
    assert found[1].shape == (4,)
    longer = Tensor(np.arange(8, dtype=np.uint32))
    assert short((longer, old))[1].shape == (8,)


def test_scalars_and_names_go_the_ordinary_way(scripted: tuple[PoolDriver, ScriptedBackend]) -> None:
    driver, _ = scripted
    driver.do_cuLaunchKernel = lambda *_: (OK,)

    @vyre.kernel
    def scaled(a: In[u32], by: u32, out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = a[i] * by

    assert scaled(Tensor(X), 3, backend="cuda").shape == (4,)
    assert scaled._shorts == {("cuda", 2): None}
    kernel = copying()
    kernel(a=Tensor(X), backend="cuda")
    kernel(Tensor(X), backend="cuda", workgroups=1)
    assert kernel._shorts == {}


def sums(driver: PoolDriver) -> None:
    """Has every launch add up the four words that the first address holds."""

    def launch(*arguments: Any) -> tuple[Any, ...]:
        table = (ctypes.c_void_p * 2).from_address(arguments[9])
        given, out = (ctypes.c_uint64.from_address(table[k] or 0).value for k in range(2))
        ctypes.c_uint32.from_address(out).value = sum((ctypes.c_uint32 * 4).from_address(given))
        return (OK,)

    driver.do_cuLaunchKernel = launch


@pytest.mark.parametrize("make", [Tensor, CupyArray, None])
def test_an_engine_that_is_run_again_launches_and_waits(
    make: Any, scripted: tuple[PoolDriver, ScriptedBackend]
) -> None:
    driver, backend = scripted
    sums(driver)
    for turn in range(5):
        value = X + np.uint32(turn)
        given = vyre.to_device(value, backend=backend) if make is None else make(value)
        driver.calls.clear()
        assert reduce(given, backend=backend) == value.sum()
        if turn > 2:
            entered = ["cuCtxSetCurrent"]
            assert names(driver) == [*entered, "cuLaunchKernel", *entered, "cuStreamSynchronize"]
    other = np.arange(8, dtype=np.uint32)
    long = vyre.to_device(other, backend=backend)
    assert [reduce(long, backend=backend) for _ in range(4)] == [6] * 4  # of its first four words


def test_an_engine_refuses_what_it_refused_before(scripted: tuple[PoolDriver, ScriptedBackend]) -> None:
    driver, backend = scripted
    sums(driver)
    x = vyre.to_device(X, backend=backend)
    for _ in range(4):
        assert reduce(x, backend=backend) == 10
    with pytest.raises(DispatchError, match="int32"):
        reduce(vyre.to_device(X.view(np.int32), backend=backend), backend=backend)
    with vyre.capture(backend), pytest.raises(DispatchError, match="an engine cannot be part of a plan"):
        reduce(x, backend=backend)
    x.close()
    with pytest.raises(DispatchError, match="closed"):
        reduce(x, backend=backend)


def test_blocks_suit_more_than_the_buffer_they_were_made_for() -> None:
    assert [block_size(n) for n in (0, 1, 512, 513, 1 << 20)] == [512, 512, 512, 1024, 1 << 20]
    assert block_size((1 << 20) + 1) == 1 << 21
    driver, backend, _ = opened()
    first = vyre.device_zeros(100, np.uint32, backend=backend)
    place = first.memory.span[1]
    first.close()
    assert vyre.device_zeros(127, np.uint32, backend=backend).memory.span[1] == place
    assert len(driver.named("cuMemAllocFromPoolAsync")) == 1


def test_the_shelf_keeps_so_much_and_no_more() -> None:
    driver, backend, _ = opened()
    pool = backend.pool
    assert pool is not None
    pool.give(1, KEPT // 2 - (1 << 21))
    pool.give(2, 1 << 21)
    driver.memory = {1: ctypes.create_string_buffer(1), 2: ctypes.create_string_buffer(1)}
    assert driver.named("cuMemFreeAsync") == []
    driver.memory[3] = ctypes.create_string_buffer(1)
    pool.give(3, 1)
    assert sorted(address for address, _ in driver.named("cuMemFreeAsync")) == [1, 2, 3]
    assert names(driver)[0] == "cuCtxSetCurrent"  # in whatever thread
