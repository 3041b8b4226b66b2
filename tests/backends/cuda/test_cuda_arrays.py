"""Arrays of other libraries on a GPU: what is read of them, what is refused, and in which order work goes."""

from __future__ import annotations

import ctypes
import gc
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import vyre
from tests.backends.cuda.scripted_driver import COPY, Driver, ScriptedBackend
from vyre.backends import compile_program, dlpack
from vyre.backends.cuda.arrays import LEGACY, read_array
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Interface:
    """An array that has `__cuda_array_interface__`; its memory is really the host's."""

    def __init__(self, array: Any, **changes: Any) -> None:
        self.array = array
        self.__cuda_array_interface__: dict[str, Any] = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, not array.flags.writeable),
            "version": 3,
            "stream": 1,
            **changes,
        }


class Capsule:
    """An array that has DLPack only, on CUDA as far as anybody can tell."""

    def __init__(self, array: Any, *, kind: int = dlpack.CUDA, ordinal: int = 0, old: bool = False) -> None:
        self.array = array
        self.where = (kind, ordinal)
        self.old = old
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.where

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        self.streams.append(stream)
        if self.old and options:
            raise TypeError("unexpected keyword argument 'max_version'")
        x = self.array
        return dlpack.export(
            x,
            x.ctypes.data,
            x.dtype,
            x.shape,
            self.where,
            not x.flags.writeable,
            options.get("max_version"),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


@pytest.fixture(autouse=True)
def every_capsule_is_given_back() -> Iterator[None]:
    yield
    gc.collect()
    assert not dlpack._given


def u32s(count: int) -> Any:
    return np.arange(count, dtype=np.uint32)


def frozen(count: int) -> Any:
    array = u32s(count)
    array.flags.writeable = False
    return array


def test_an_interface_is_read() -> None:
    x = u32s(6).reshape(2, 3)
    found = read_array(Interface(x, stream=7))
    assert (found.address, found.shape, found.dtype) == (x.ctypes.data, (2, 3), np.uint32)
    assert (found.readonly, found.stream, found.device, found.nbytes) == (False, 7, None, 24)
    assert read_array(Interface(frozen(2))).readonly


@pytest.mark.parametrize(
    ("changes", "stream"),
    [({}, LEGACY), ({"stream": None}, LEGACY), ({"version": 2}, LEGACY), ({"stream": 2}, 2)],
)
def test_streams_of_an_interface(changes: dict[str, Any], stream: int) -> None:
    assert read_array(Interface(u32s(2), **changes)).stream == stream


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strides": (8,)}, r"not contiguous.*contiguous\(\)"),
        ({"strides": (-4,)}, "not contiguous"),
        ({"mask": object()}, "masked"),
        ({"stream": 0}, "ambiguous"),
        ({"typestr": "|b1", "strides": None}, "holds bool.*convert it to u32"),
        ({"typestr": "<c8"}, "holds complex64"),
        ({"typestr": "nonsense"}, "not understood"),
        ({"data": 5}, "not understood"),
        ({"shape": None}, "not understood"),
    ],
)
def test_what_an_interface_may_not_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DispatchError, match=message):
        read_array(Interface(u32s(4), **changes))


def test_strides_that_say_contiguous_are_fine() -> None:
    assert read_array(Interface(u32s(6).reshape(2, 3), strides=(12, 4))).nbytes == 24
    assert read_array(Interface(u32s(3).reshape(1, 3), strides=(999, 4))).nbytes == 12
    assert read_array(Interface(u32s(0), strides=(64,))).nbytes == 0
    with pytest.raises(DispatchError, match="not contiguous"):
        read_array(Interface(u32s(6).reshape(2, 3), strides=(4, 8)))


@pytest.mark.parametrize("old", [False, True])
def test_a_capsule_is_taken_and_given_back(old: bool) -> None:
    x = u32s(6).reshape(3, 2)
    value = Capsule(x, ordinal=3, old=old)
    found = read_array(value)
    assert (found.address, found.shape, found.dtype) == (x.ctypes.data, (3, 2), np.uint32)
    assert (found.device, found.stream) == (3, None)
    assert set(value.streams) == {LEGACY}, "the producer must order its work before ours"
    held = len(dlpack._given)
    found.release()
    assert len(dlpack._given) == held - 1


def test_capsules_keep_read_only_and_bfloat16() -> None:
    halves = np.array([1, 2], ml_dtypes.bfloat16)
    held = [read_array(Capsule(frozen(2))), read_array(Capsule(halves))]
    assert held[0].readonly
    assert held[1].dtype == halves.dtype
    for array in held:
        array.release()


def test_what_a_capsule_may_not_be() -> None:
    with pytest.raises(DispatchError, match="DLPack kind 10, not CUDA"):
        read_array(Capsule(u32s(2), kind=10))

    class Grad(Capsule):
        def __dlpack__(self, **_: Any) -> Any:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")

    with pytest.raises(DispatchError, match=r"require gradient.*Fix: pass x\.detach\(\)"):
        read_array(Grad(u32s(2)))
    with pytest.raises(DispatchError, match="a list is not a CUDA array"):
        read_array([1, 2])


def test_torch_says_its_stream_and_has_no_interface_for_some_types(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor(Capsule):
        device = "cuda:0"

        @property
        def __cuda_array_interface__(self) -> Any:
            raise TypeError("BFloat16 is not supported")

    def current_stream(device: str) -> Any:
        return SimpleNamespace(cuda_stream=streams[device])

    streams = {"cuda:0": 0}
    torch = SimpleNamespace(Tensor=Tensor, cuda=SimpleNamespace(current_stream=current_stream))
    monkeypatch.setitem(sys.modules, "torch", torch)
    for theirs, ours in ((0, LEGACY), (0x7700, 0x7700)):
        streams["cuda:0"] = theirs
        array = read_array(Tensor(u32s(2)))
        assert array.stream == ours
        array.release()


def copying(driver: Driver, size: int) -> None:
    driver.kernel = lambda a, out: ctypes.memmove(out, a, size)


@pytest.mark.parametrize("make", [Interface, Capsule])
def test_a_strangers_arrays_are_bound_where_they_are(make: Any) -> None:
    driver = Driver()
    copying(driver, 16)
    a, out = make(u32s(4) + 5), make(u32s(4))
    result = vyre.dispatch(COPY, {"a": a, "out": out}, backend=ScriptedBackend(driver))
    assert result["out"] is out
    assert out.array.tolist() == [5, 6, 7, 8]
    assert driver.launched[0][:2] == [a.array.ctypes.data, out.array.ctypes.data]
    copies = [name for name, _ in driver.calls if "Memcpy" in name or "MemAlloc" in name]
    assert copies == []


def test_work_is_ordered_with_the_stream_of_the_owner_both_ways() -> None:
    driver = Driver()
    values = {"a": Interface(u32s(4), stream=77), "out": Interface(u32s(4), stream=88)}
    vyre.dispatch(COPY, values, backend=ScriptedBackend(driver))
    seen = [
        (name, arguments[0] if name == "cuStreamWaitEvent" else arguments[1])
        for name, arguments in driver.calls
        if name in ("cuEventRecord", "cuStreamWaitEvent")
    ]
    record, wait = "cuEventRecord", "cuStreamWaitEvent"
    before = [(record, 77), (wait, 1), (record, 88), (wait, 1)]
    after = [(record, 1), (wait, 77), (record, 1), (wait, 88)]
    assert seen == before + after
    launch = [name for name, _ in driver.calls].index("cuLaunchKernel")
    assert sum(name == "cuEventRecord" for name, _ in driver.calls[:launch]) == 2
    assert len(driver.named("cuEventDestroy")) == 4


def test_where_the_owners_stream_is_unknown_the_work_is_waited_for() -> None:
    driver = Driver()
    vyre.dispatch(COPY, {"a": Capsule(u32s(4)), "out": Capsule(u32s(4))}, backend=ScriptedBackend(driver))
    names = [name for name, _ in driver.calls]
    assert "cuCtxSynchronize" in names[names.index("cuLaunchKernel") :]
    driver.calls.clear()
    vyre.dispatch(COPY, {"a": Interface(u32s(4)), "out": Interface(u32s(4))}, backend=ScriptedBackend(driver))
    assert not {"cuCtxSynchronize", "cuEventRecord"} & {name for name, _ in driver.calls}


def test_memory_of_another_gpu_is_refused() -> None:
    driver = Driver()
    backend = ScriptedBackend(driver)
    with pytest.raises(DispatchError, match=r"'a'.*not in the memory of the GPU.*copy it to GPU 0"):
        vyre.dispatch(COPY, {"a": Capsule(u32s(4), ordinal=1), "out": Capsule(u32s(4))}, backend=backend)
    driver.ordinal = 1
    with pytest.raises(DispatchError, match="not in the memory of the GPU"):
        vyre.dispatch(COPY, {"a": Interface(u32s(4)), "out": Interface(u32s(4))}, backend=backend)
    assert driver.launched == []


def test_the_rules_of_arrays_hold_for_strangers_memory() -> None:
    backend = ScriptedBackend(Driver())
    x = u32s(8)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"a": Interface(x), "out": Capsule(x)}, "share memory"),
        ({"a": Interface(x[:5]), "out": Interface(x[4:])}, "share memory"),
        ({"a": Interface(x), "out": Interface(frozen(4))}, "'out' is read-only memory"),
        ({"a": Interface(x), "out": Capsule(frozen(4))}, "'out' is read-only memory"),
        ({"a": Interface(x.astype(np.int32)), "out": Interface(x.copy())}, "'a' holds U32 and got int32"),
        ({"a": Interface(x, strides=(8,)), "out": Interface(x.copy())}, "'a': the array.*not contiguous"),
        ({"a": Interface(x), "output": Interface(x)}, "no buffer 'output'"),
    ]
    for buffers, message in cases:
        with pytest.raises(DispatchError, match=message):
            vyre.dispatch(COPY, buffers, backend=backend)
    assert backend.driver.launched == []
    vyre.dispatch(COPY, {"a": Interface(frozen(4)), "out": Interface(x)}, backend=backend)
    vyre.dispatch(COPY, {"a": Interface(x[:4]), "out": Interface(x[4:])}, backend=backend)
    assert len(backend.driver.launched) == 2


def test_a_kernel_takes_them_and_makes_its_outputs_there() -> None:
    driver = Driver()
    copying(driver, 16)
    backend = ScriptedBackend(driver)

    @vyre.kernel
    def double(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
        out[vyre.invocation_id(0)] = a[vyre.invocation_id(0)]

    out = double(Capsule(u32s(4) + 1), backend=backend)
    assert isinstance(out, vyre.DeviceBuffer)
    assert out.numpy().tolist() == [1, 2, 3, 4]


def test_other_backends_say_where_the_memory_is() -> None:
    for value in (Interface(u32s(4)), Capsule(u32s(4))):
        with pytest.raises(DispatchError, match=r"'a' is memory of a GPU.*copy it to the host"):
            vyre.dispatch(COPY, {"a": value, "out": u32s(4)}, backend="reference")
        with pytest.raises(DispatchError, match="memory of a GPU"):
            vyre.to_device(value, backend="reference")


def test_sharing_for_more_than_one_dispatch() -> None:
    driver = Driver()
    backend = ScriptedBackend(driver)
    theirs = Interface(u32s(4))
    shared = vyre.to_device(theirs, backend=backend, copy=False)
    assert shared.memory.span[1] == theirs.array.ctypes.data
    own = vyre.to_device(theirs, backend=backend)
    assert own.memory.span[1] != theirs.array.ctypes.data
    assert own.numpy().tolist() == [0, 1, 2, 3]
    compiled = compile_program(COPY, backend=backend)
    compiled({"a": own, "out": shared})
    compiled({"a": own, "out": shared})
    assert driver.launched[0] == driver.launched[1]
    own.close()
    shared.close()
    assert not driver.memory, "what was theirs was not freed by us, and ours was"


def test_outputs_on_a_gpu_are_cleared_counted_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the program may leave unwritten is cleared, before the launch and on the device."""

    class Tensor(Capsule):
        device, versions = "cuda:0", 0

        def is_inference(self) -> bool:
            return False

    def increment_version(tensor: Tensor) -> None:
        tensor.versions += 1

    torch = SimpleNamespace(
        Tensor=Tensor,
        cuda=SimpleNamespace(current_stream=lambda _: SimpleNamespace(cuda_stream=0)),  # pyright: ignore
        autograd=SimpleNamespace(graph=SimpleNamespace(increment_version=increment_version)),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    driver = Driver()
    backend = ScriptedBackend(driver)
    compiled = compile_program(COPY, backend=backend)
    x, out = Tensor(u32s(4)), Tensor(np.full(4, 7, np.uint32))
    assert compiled({"a": x, "out": out}, zeroed=("out",))["out"] is out
    assert (x.versions, out.versions) == (0, 1)
    assert driver.named("cuMemsetD8") == [], "COPY writes all of it"
    assert compiled({"a": x, "out": out}, zeroed=("out",), workgroups=0)["out"] is out
    assert driver.named("cuMemsetD8") == [(out.array.ctypes.data, 0, 16)]
    assert out.array.tolist() == [0, 0, 0, 0]
    made = compiled({"a": x, "out": out}, copy=True)["out"]
    assert isinstance(made, vyre.DeviceBuffer)
    assert (made is out, out.versions) == (False, 2)
