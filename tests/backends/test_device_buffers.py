"""Buffers that stay on the device, on every backend of this machine: the same rules and the same bytes."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import vyre
from tests.backends.counted_copies import Counter
from vyre import BufferAccess, BufferDecl, DataType, DeviceBuffer, InvocationId, Program
from vyre.backends import compile_program, get
from vyre.backends.host_memory import HostMemory
from vyre.backends.protocol import DeviceMemory, ResidentBackend, ResidentExecutable
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre import Backend

ID = InvocationId(0)
A = BufferDecl.read("a", 0, DataType.U32)
B = BufferDecl.read("b", 1, DataType.U32)
OUT = BufferDecl.read_write("out", 2, DataType.U32)
ADD = Program([A, B, OUT], [64], [OUT.store(ID, A[ID] + B[ID])])
TWICE = Program([OUT], [64], [OUT.store(ID, OUT[ID] * 2)])


@pytest.fixture(scope="module", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Canary results of the tests stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(params=["reference", "cpu", "opencl", "wgpu", "dawn", "cuda"])
def backend(request: pytest.FixtureRequest) -> Backend:
    try:
        return get(request.param)
    except DispatchError as error:
        pytest.skip(str(error))


def u32s(*values: int) -> Any:
    return np.array(values, np.uint32)


def test_what_goes_in_comes_out(backend: Backend) -> None:
    x = u32s(*range(37))
    with vyre.to_device(x, backend=backend) as held:
        assert (held.dtype, held.shape, held.nbytes, len(held), held.size) == (x.dtype, (37,), 148, 37, 37)
        assert (held.backend, held.closed, held.readonly, held.ndim) == (backend.name, False, False, 1)
        x[0] = 99
        assert held.numpy().tolist() == list(range(37))
    assert held.closed
    with pytest.raises(DispatchError, match="is closed"):
        held.numpy()
    assert "closed" in repr(held)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3, dtype=np.float16),
        np.arange(5, dtype=np.float32),
        np.arange(3, dtype=np.float64),
        np.arange(7, dtype=np.int32) - 3,
        np.arange(12, dtype=np.uint32).reshape(3, 4),
        np.arange(3, dtype=np.uint64),
        np.arange(8, dtype=np.uint8),
        np.arange(5, dtype=ml_dtypes.bfloat16),
        np.arange(20, dtype=np.uint32).reshape(4, 5).T,
        np.zeros(0, np.uint32),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_dtypes_and_shapes_are_kept(backend: Backend, array: Any) -> None:
    held = vyre.to_device(array, backend=backend)
    assert held.dtype == array.dtype
    assert held.shape == array.shape
    assert held.numpy().tobytes() == array.tobytes()


def test_bool_and_bytes_take_the_form_that_programs_see(backend: Backend) -> None:
    truths = vyre.to_device(np.array([True, False]), backend=backend)
    assert truths.numpy().tolist() == [1, 0]
    assert truths.dtype == np.uint32
    text = vyre.to_device(b"abcde", backend=backend)
    assert text.numpy().tobytes() == b"abcde\0\0\0"


def test_zeros(backend: Backend) -> None:
    assert vyre.device_zeros(5, np.uint32, backend=backend).numpy().tolist() == [0] * 5
    assert vyre.device_zeros((2, 3), np.float32, backend=backend).shape == (2, 3)
    assert vyre.device_zeros(3, DataType.Vec2U32, backend=backend).shape == (3, 2)
    assert vyre.device_zeros(3, vyre.f16, backend=backend).numpy().tobytes() == bytes(6)
    assert vyre.device_zeros(5, DataType.Bytes, backend=backend).nbytes == 8
    for shape in (-1, ()):
        with pytest.raises(DispatchError, match="not a shape"):
            vyre.device_zeros(shape, np.uint32, backend=backend)
    with pytest.raises(DispatchError, match="no buffer holds complex64"):
        vyre.device_zeros(1, np.complex64, backend=backend)


def test_a_chain_copies_nothing(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (
        vyre.to_device(u32s(*range(70)), backend=backend),
        vyre.device_zeros(70, np.uint32, backend=backend),
    )
    one = vyre.to_device(np.ones(70, np.uint32), backend=backend)
    compiled = compile_program(ADD, backend=backend)
    counter = Counter(monkeypatch, x.memory)
    for _ in range(10):
        result = compiled({"a": x, "b": one, "out": y})
        assert result == {"out": y}
        x, y = y, x
        vyre.dispatch(TWICE, {"out": x}, backend=backend)
    assert counter.count == 0
    expected = np.arange(70, dtype=np.uint32)
    for _ in range(10):
        expected = (expected + 1) * 2
    assert x.numpy().tolist() == expected.tolist()
    assert counter.count == 1


def test_read_write_buffers_are_written_in_place_and_come_back_as_they_are(backend: Backend) -> None:
    out = vyre.to_device(u32s(1, 2, 3), backend=backend)
    assert vyre.dispatch(TWICE, {"out": out}, backend=backend)["out"] is out
    assert out.numpy().tolist() == [2, 4, 6]


def test_arrays_beside_resident_buffers(backend: Backend) -> None:
    a = vyre.to_device(u32s(1, 2, 3), backend=backend)
    b, out = u32s(10, 20, 30), u32s(7, 7, 7)
    result = vyre.dispatch(ADD, {"a": a, "b": b, "out": out}, backend=backend, copy=True)["out"]
    assert result.tolist() == [11, 22, 33]
    assert out.tolist() == [7, 7, 7]
    same = vyre.dispatch(ADD, {"a": a, "b": b, "out": out}, backend=backend)["out"]
    assert out.tolist() == [11, 22, 33]
    assert same is out


def test_copies_leave_buffers_alone_and_are_new_ones(backend: Backend) -> None:
    out = vyre.to_device(u32s(1, 2, 3), backend=backend)
    compiled = compile_program(TWICE, backend=backend)
    compiled({"out": out})
    made = compiled({"out": out}, copy=True)["out"]
    assert isinstance(made, DeviceBuffer)
    assert made.numpy().tolist() == [4, 8, 12]
    assert out.numpy().tolist() == [2, 4, 6]


def test_what_is_not_supplied_is_zeros_on_the_device(backend: Backend) -> None:
    a = vyre.to_device(u32s(1, 2, 3), backend=backend)
    made = compile_program(ADD, backend=backend)({"a": a, "b": a}, lengths={"out": 5})["out"]
    assert isinstance(made, DeviceBuffer)
    assert made.numpy().tolist() == [2, 4, 6, 0, 0]
    with pytest.raises(DispatchError, match="sized by the host and was not supplied"):
        vyre.dispatch(ADD, {"a": a, "b": a}, backend=backend)
    with pytest.raises(DispatchError, match="'b' is ReadOnly and was not supplied"):
        vyre.dispatch(ADD, {"a": a, "out": made}, backend=backend)


def test_a_kernel_makes_its_output_where_its_input_is(backend: Backend) -> None:
    @vyre.kernel
    def scaled(a: vyre.In[vyre.u32], n: vyre.u32, out: vyre.Out[vyre.u32]) -> None:
        out[vyre.invocation_id(0)] = a[vyre.invocation_id(0)] * n

    first = scaled(vyre.to_device(u32s(1, 2, 3), backend=backend), 5, backend=backend)
    assert isinstance(first, DeviceBuffer)
    assert scaled(first, 2, backend=backend).numpy().tolist() == [10, 20, 30]


def test_scalars_are_copied_once(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    n = BufferDecl.uniform("n", 0, DataType.U32)
    scale = Program([n, OUT], [64], [OUT.store(ID, OUT[ID] * n[0])])
    compiled = compile_program(scale, backend=backend)
    out = vyre.to_device(u32s(1, 2), backend=backend)
    two, three = (2).to_bytes(4, "little"), (3).to_bytes(4, "little")
    made: list[weakref.ref[Any]] = []
    owner: Any = type(backend)
    borrow = owner.borrow

    def noted(self: Any, data: memoryview) -> Any:
        memory = borrow(self, data)
        made.append(weakref.ref(memory))
        return memory

    monkeypatch.setattr(owner, "borrow", noted)
    for factor in (two, three, two, three, (2).to_bytes(4, "little")):
        compiled({"n": factor, "out": out})
    assert out.numpy().tolist() == [72, 144]
    assert len(made) == 2
    compiled({"n": u32s(5), "out": out})
    compiled({"n": u32s(5), "out": out})
    assert len(made) == 4, "an array may change, so it is copied every time"
    assert [reference() is None for reference in made] == [False, False, True, True]
    compiled._launches.clear()
    gc.collect()
    assert all(reference() is None for reference in made), "forgotten with the calls"


def test_buffers_of_no_elements(backend: Backend) -> None:
    empty = vyre.device_zeros(0, np.uint32, backend=backend)
    assert vyre.dispatch(TWICE, {"out": empty}, backend=backend)["out"] is empty
    assert empty.numpy().size == 0
    out = vyre.device_zeros(3, np.uint32, backend=backend)
    one = vyre.to_device(u32s(1, 1, 1), backend=backend)
    vyre.dispatch(ADD, {"a": empty, "b": one, "out": out}, backend=backend)
    assert out.numpy().tolist() == [1, 1, 1], "loads outside of an empty buffer give zero"


def test_lanes_and_halves(backend: Backend) -> None:
    for element, array, length in [
        (DataType.Vec4U32, u32s(*range(8)).reshape(2, 4), 2),
        (DataType.U128, u32s(*range(8)).reshape(2, 4), 2),
        (DataType.U32, u32s(*range(8)).reshape(2, 4), 8),
        (DataType.F16, np.zeros(3, np.float16), 3),
        (DataType.U8, np.zeros(5, np.uint8), 5),
        (DataType.I64, np.zeros(3, np.int64), 3),
        (DataType.Bytes, np.zeros(8, np.uint8), 2),
        (DataType.Bytes, b"hello", 2),
    ]:
        x = BufferDecl.read_write("x", 0, element)
        out = vyre.device_zeros(1, np.uint32, backend=backend)
        program = Program([x, OUT], [1], [OUT.store(0, x.length)])
        vyre.dispatch(program, {"x": vyre.to_device(array, backend=backend), "out": out}, backend=backend)
        assert out.numpy().tolist() == [length]
    raw = Program([BufferDecl.read("x", 0, DataType.Bytes), OUT], [1], [])
    odd = vyre.to_device(np.zeros(5, np.uint8), backend=backend)
    with pytest.raises(DispatchError, match=r"has 5 bytes.*append zeros up to a multiple of 4"):
        vyre.dispatch(raw, {"x": odd, "out": u32s(0)}, backend=backend)
    wide = Program([BufferDecl.read("x", 0, DataType.Vec4U32), OUT], [1], [])
    flat = vyre.to_device(u32s(*range(8)), backend=backend)
    with pytest.raises(DispatchError, match=r"has shape \(8,\).*shape \(n, 4\)"):
        vyre.dispatch(wide, {"x": flat, "out": u32s(0)}, backend=backend)


def rules(first: BufferAccess = BufferAccess.ReadOnly, count: int = 0) -> Program:
    return Program([BufferDecl("a", 0, first, DataType.U32, count), OUT], [1], [OUT.store(ID, A[ID])])


def test_memory_is_not_bound_twice_where_it_is_written(backend: Backend) -> None:
    x = vyre.to_device(u32s(1, 2), backend=backend)
    for first in (BufferAccess.ReadOnly, BufferAccess.ReadWrite):
        with pytest.raises(DispatchError, match="'a' and 'out' share memory"):
            vyre.dispatch(rules(first), {"a": x, "out": x}, backend=backend)
    assert x.numpy().tolist() == [1, 2]
    y = vyre.device_zeros(2, np.uint32, backend=backend)
    vyre.dispatch(ADD, {"a": x, "b": x, "out": y}, backend=backend)
    assert y.numpy().tolist() == [2, 4]


def test_lengths_types_and_uniforms_are_checked(backend: Backend) -> None:
    out = vyre.device_zeros(2, np.uint32, backend=backend)
    three = vyre.device_zeros(3, np.uint32, backend=backend)
    signed = vyre.device_zeros(3, np.int32, backend=backend)
    big = vyre.device_zeros(64 * 1024 // 4 + 1, np.uint32, backend=backend)
    cases: list[tuple[Program, dict[str, Any], str]] = [
        (rules(count=4), {"a": three, "out": out}, "has 3 elements, and the program declares 4"),
        (rules(), {"a": signed, "out": out}, "'a' holds U32 and got int32"),
        (rules(BufferAccess.Uniform), {"a": big, "out": out}, "65536 are allowed"),
        (rules(), {"a": three, "outt": out}, "did you mean 'out'"),
    ]
    for program, buffers, message in cases:
        with pytest.raises(DispatchError, match=message):
            vyre.dispatch(program, buffers, backend=backend)
    assert out.numpy().tolist() == [0, 0]


def test_a_closed_buffer_is_refused_even_where_it_ran_before(backend: Backend) -> None:
    compiled = compile_program(TWICE, backend=backend)
    out = vyre.to_device(u32s(1), backend=backend)
    compiled({"out": out})
    compiled({"out": out})
    out.close()
    with pytest.raises(DispatchError, match="'out' is a closed device buffer"):
        compiled({"out": out})


def test_a_remembered_call_knows_its_grid(backend: Backend) -> None:
    compiled = compile_program(TWICE, backend=backend)
    out = vyre.to_device(np.ones(130, np.uint32), backend=backend)
    compiled({"out": out})
    compiled({"out": out}, workgroups=1)
    compiled({"out": out}, workgroups=0)
    compiled({"out": out}, workgroups=[1])
    compiled({"out": out}, workgroups=1)
    assert out.numpy().tolist() == [16] * 64 + [2] * 66
    with pytest.raises(DispatchError, match="no buffer 'x'"):
        compiled({"out": out, "x": out})


def test_remembered_calls_keep_no_memory(backend: Backend) -> None:
    compiled = compile_program(TWICE, backend=backend)
    out = vyre.to_device(u32s(1), backend=backend)
    compiled({"out": out})
    memory = weakref.ref(out.memory)
    del out
    gc.collect()
    assert memory() is None


def test_copies_into_a_buffer(backend: Backend) -> None:
    x, y = vyre.to_device(u32s(1, 2, 3), backend=backend), vyre.device_zeros(3, np.uint32, backend=backend)
    y.copy_from(x)
    y.copy_from(y)
    x.copy_from(u32s(4, 5, 6))
    assert (x.numpy().tolist(), y.numpy().tolist()) == ([4, 5, 6], [1, 2, 3])
    for wrong in (u32s(1, 2), np.zeros(3, np.float32), vyre.device_zeros(2, np.uint32, backend=backend)):
        with pytest.raises(DispatchError, match="a device buffer of 3 uint32 cannot take"):
            x.copy_from(wrong)
    again = vyre.to_device(x, backend=backend)
    x.copy_from(u32s(0, 0, 0))
    assert again.numpy().tolist() == [4, 5, 6]
    assert vyre.to_device(x, backend=backend, copy=False) is x


def test_buffers_of_another_backend_are_refused(backend: Backend) -> None:
    other = "reference" if backend.name != "reference" else "cpu"
    theirs = vyre.to_device(u32s(1, 2), backend=other)
    ours = vyre.device_zeros(2, np.uint32, backend=backend)
    with pytest.raises(DispatchError, match=rf"'a' is on the backend '{other}'.*runs on '{backend.name}'"):
        vyre.dispatch(rules(), {"a": theirs, "out": ours}, backend=backend)
    with pytest.raises(DispatchError, match=rf"on the backend '{other}', not on '{backend.name}'"):
        vyre.to_device(theirs, backend=backend)
    with pytest.raises(DispatchError, match=rf"on the backend '{other}'"):
        ours.copy_from(theirs)


def test_numpy_and_dlpack_see_the_memory_of_the_host_and_no_other(backend: Backend) -> None:
    x = vyre.to_device(u32s(1, 2, 3), backend=backend)
    if not isinstance(x.memory, HostMemory):
        with pytest.raises(DispatchError, match=r"not in the host's memory.*\.numpy\(\)"):
            np.asarray(x)
        assert not hasattr(x, "__array_interface__")
        if backend.name != "cuda":
            with pytest.raises(BufferError, match="no form in DLPack"):
                np.from_dlpack(x)
        return
    views = [np.asarray(x), np.from_dlpack(x)]
    vyre.dispatch(TWICE, {"out": x}, backend=backend)
    assert [v.tolist() for v in views] == [[2, 4, 6]] * 2
    assert np.array(x, dtype=np.float32).tolist() == [2.0, 4.0, 6.0]
    x.close()
    del x
    gc.collect()
    assert [v.tolist() for v in views] == [[2, 4, 6]] * 2, "they keep the memory"


def test_sharing_the_memory_of_an_array(backend: Backend) -> None:
    x = u32s(1, 2, 3)
    if not isinstance(vyre.to_device(x, backend=backend).memory, HostMemory):
        with pytest.raises(DispatchError, match="without a copy"):
            vyre.to_device(x, backend=backend, copy=False)
        return
    held = vyre.to_device(x, backend=backend, copy=False)
    vyre.dispatch(TWICE, {"out": held}, backend=backend)
    assert x.tolist() == [2, 4, 6]
    with pytest.raises(DispatchError, match="share memory"):
        vyre.dispatch(ADD, {"a": x, "b": x, "out": held}, backend=backend)
    other = vyre.to_device(x[1:], backend=backend, copy=False)
    with pytest.raises(DispatchError, match="share memory"):
        vyre.dispatch(rules(), {"a": other, "out": held}, backend=backend)
    x.flags.writeable = False
    frozen = vyre.to_device(x, backend=backend, copy=False)
    assert frozen.readonly
    assert not np.asarray(frozen).flags.writeable
    with pytest.raises(DispatchError, match="'out' is read-only memory"):
        vyre.dispatch(TWICE, {"out": frozen}, backend=backend)
    with pytest.raises(DispatchError, match="read-only"):
        frozen.copy_from(u32s(0, 0, 0))
    with pytest.raises(DispatchError, match="without a copy"):
        vyre.to_device(np.arange(9, dtype=np.uint32)[::2], backend=backend, copy=False)


def test_limits_are_named(backend: Backend) -> None:
    limit = backend.describe().limits.buffer_bytes
    if limit is None or backend.name == "cuda":
        pytest.skip("no limit of its own")
    with pytest.raises(DispatchError, match=rf"accepts {limit} each"):
        vyre.device_zeros(limit // 4 + 1, np.uint32, backend=backend)


def test_what_is_no_array_is_refused(backend: Backend) -> None:
    for value, message in [([1, 2], "a list cannot become a buffer"), (np.uint32(3), "single number|uint32")]:
        with pytest.raises(DispatchError, match=message):
            vyre.to_device(value, backend=backend)


def test_the_protocols_are_implemented(backend: Backend) -> None:
    assert isinstance(backend, ResidentBackend)
    assert isinstance(backend.compile(TWICE), ResidentExecutable)
    assert isinstance(backend.allocate(4), DeviceMemory)
