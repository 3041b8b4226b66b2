"""Arrays in and out, and what is refused before anything runs (decision 15)."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from vyre.backends.host import Bound, bind
from vyre.errors import DeviceOutOfMemory, DispatchError
from vyre.ir import BufferAccess, BufferDecl, DataType, Program

if TYPE_CHECKING:
    from numpy.typing import NDArray

RW = BufferAccess.ReadWrite
RO = BufferAccess.ReadOnly


def bound(
    element: DataType, value: Any, *, access: BufferAccess = RW, count: int = 0, **options: Any
) -> Bound:
    decl = BufferDecl("x", 0, access, element, count)
    settings: dict[str, Any] = {"lengths": {}, "copy": True, **options}
    return bind(Program([decl], [1], []), {} if value is None else {"x": value}, **settings)


DTYPES: list[tuple[DataType, Any]] = [
    (DataType.U32, np.uint32),
    (DataType.I32, np.int32),
    (DataType.U64, np.uint64),
    (DataType.Bool, np.uint32),
    (DataType.Bool, np.bool_),
    (DataType.Bytes, np.uint8),
    (DataType.F16, np.float16),
    (DataType.BF16, np.uint16),
    (DataType.BF16, ml_dtypes.bfloat16),
    (DataType.F32, np.float32),
    (DataType.F64, np.float64),
]


@pytest.mark.parametrize(("element", "dtype"), DTYPES)
def test_arrays_go_in_and_come_back_in_their_dtype(element: DataType, dtype: Any) -> None:
    x = np.array([0, 1, 1, 0], dtype)
    b = bound(element, x)
    assert b.lengths["x"] == (1 if element is DataType.Bytes else 4)
    assert b.views["x"].nbytes == b.lengths["x"] * element.stride
    result = b.results()["x"]
    assert result.dtype == x.dtype
    assert result.tolist() == x.tolist()
    assert not np.shares_memory(result, x)


@pytest.mark.parametrize(
    ("element", "lanes"), [(DataType.Vec2U32, 2), (DataType.Vec4U32, 4), (DataType.U128, 4)]
)
def test_lanes_are_the_last_axis(element: DataType, lanes: int) -> None:
    x = np.arange(3 * lanes, dtype=np.uint32).reshape(3, lanes)
    b = bound(element, x)
    assert b.lengths["x"] == 3
    assert b.views["x"].tobytes() == x.astype("<u4").tobytes()
    assert b.results()["x"].tolist() == x.tolist()
    with pytest.raises(DispatchError, match=rf"shape \(3,\).*shape \(n, {lanes}\)"):
        bound(element, np.zeros(3, np.uint32))


@pytest.mark.parametrize("element", list(DataType))
def test_outputs_that_are_not_supplied_are_zeros_of_the_documented_dtype(element: DataType) -> None:
    result = bound(element, None, count=3).results()["x"]
    expected = {
        DataType.I32: "int32",
        DataType.U64: "uint64",
        DataType.Bool: "bool",
        DataType.Bytes: "uint8",
        DataType.F16: "float16",
        DataType.BF16: "uint16",
        DataType.F32: "float32",
        DataType.F64: "float64",
        DataType.I8: "int8",
        DataType.U8: "uint8",
        DataType.I16: "int16",
        DataType.U16: "uint16",
        DataType.I64: "int64",
    }
    assert result.dtype.name == expected.get(element, "uint32")
    assert result.nbytes == 3 * (1 if element is DataType.Bool else element.stride)
    assert not result.any()


def test_memory_is_little_endian() -> None:
    assert bound(DataType.U32, np.array([1], np.uint32)).views["x"].tobytes() == b"\1\0\0\0"
    assert bound(DataType.Bool, np.array([True])).views["x"].tobytes() == b"\1\0\0\0"


def test_bytes_are_padded_to_whole_words() -> None:
    b = bound(DataType.Bytes, b"abcde")
    assert b.lengths["x"] == 2
    assert b.results()["x"].tobytes() == b"abcde\0\0\0"
    assert bound(DataType.Bytes, b"").lengths["x"] == 0


def test_raw_bytes_are_the_contents_of_any_type() -> None:
    assert bound(DataType.F32, bytes(8)).results()["x"].tolist() == [0.0, 0.0]
    assert bound(DataType.Vec2U32, bytearray(16)).results()["x"].shape == (2, 2)
    with pytest.raises(DispatchError, match=r"not a whole number of F32 elements.*multiple of 4"):
        bound(DataType.F32, bytes(7))


def test_the_buffer_protocol_and_dlpack() -> None:
    assert bound(DataType.U32, array.array("I", [1, 2])).results()["x"].tolist() == [1, 2]
    assert bound(DataType.F64, np.array([1.5]).data).results()["x"].tolist() == [1.5]

    class Foreign:
        def __init__(self, array: NDArray[Any]) -> None:
            self.array = array

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    x = np.array([7, 8], np.uint32)
    assert bound(DataType.U32, Foreign(x)).results()["x"].tolist() == [7, 8]
    with pytest.raises(DispatchError, match="share memory"):
        pair({"a": Foreign(x), "b": x})


def test_a_foreign_array_that_cannot_come_is_refused() -> None:
    class Broken:
        def __dlpack__(self, **options: Any) -> Any:
            raise RuntimeError("on another device")

        def __dlpack_device__(self) -> Any:
            return (1, 0)

    with pytest.raises(DispatchError, match=r"on another device.*copy it to the CPU"):
        bound(DataType.U32, Broken())


def test_higher_dimensions_are_row_major_and_keep_their_shape() -> None:
    x = np.arange(6, dtype=np.uint32).reshape(2, 3)
    assert bound(DataType.U32, x).results()["x"].tolist() == x.tolist()
    assert bound(DataType.U32, x.T).views["x"].tobytes() == np.ascontiguousarray(x.T).tobytes()


@pytest.mark.parametrize("access", [RO, BufferAccess.Uniform])
def test_inputs_are_not_copied_and_not_writable(access: BufferAccess) -> None:
    x = np.arange(4, dtype=np.uint32)
    view = bound(DataType.U32, x, access=access).views["x"]
    assert view.readonly
    assert np.shares_memory(np.frombuffer(view, np.uint8), x)


REFUSED: list[tuple[DataType, Any, str]] = [
    (DataType.U32, np.zeros(2, np.int32), r"got int32.*pass vyre\.array\(x, vyre\.u32\), which"),
    (DataType.U32, np.zeros(2, np.float32), r"got float32.*pass vyre\.array\(x, vyre\.u32\), which"),
    (DataType.U32, np.zeros(2, np.int64), r"got int64.*pass vyre\.array\(x, vyre\.u32\), which"),
    (DataType.F32, np.zeros(2), r"got float64.*pass vyre\.array\(x, vyre\.f32\), which"),
    (DataType.U32, np.zeros(2, ">u4"), r"big-endian uint32.*pass vyre\.array\(x, vyre\.u32\), which"),
    (DataType.BF16, np.zeros(2, np.float32), r"got float32.*pass vyre\.array\(x, vyre\.bf16\), which"),
    (DataType.Bytes, np.zeros(2, np.uint32), r"got uint32.*pass vyre\.array\(x, vyre\.packed_bytes\), which"),
    (DataType.U32, np.uint32(3), "single number|got a uint32"),
    (DataType.U32, np.array(3, np.uint32), "single number"),
    (DataType.U32, 3, r"got an int.*pass vyre\.array\(\[x\], vyre\.u32\)\."),
    (DataType.U32, [1, 2], r"got a list.*vyre\.array"),
    (DataType.U32, np.array(["a"]), "got str"),
    (DataType.U32, np.array([None]), "got object"),
]


@pytest.mark.parametrize(("element", "value", "message"), REFUSED)
def test_what_does_not_fit_is_refused_with_the_fix(element: DataType, value: Any, message: str) -> None:
    with pytest.raises(DispatchError, match=message):
        bound(element, value)


def test_lengths_must_match_a_declared_count() -> None:
    with pytest.raises(DispatchError, match="has 3 elements, and the program declares 4"):
        bound(DataType.U32, np.zeros(3, np.uint32), count=4)
    with pytest.raises(DispatchError, match="has 2 words, and the program declares 1"):
        bound(DataType.Bytes, b"12345", count=1)
    assert bound(DataType.Bytes, b"1234", count=1).lengths["x"] == 1


def test_missing_buffers() -> None:
    with pytest.raises(DispatchError, match="is ReadOnly and was not supplied"):
        bound(DataType.U32, None, access=RO, count=4)
    with pytest.raises(
        DispatchError, match=r"sized by the host and was not supplied.*np\.zeros\(n, np\.uint32\)"
    ):
        bound(DataType.U32, None)
    assert bound(DataType.U32, None, lengths={"x": 0}).lengths["x"] == 0


def test_a_uniform_buffer_holds_64_kib() -> None:
    limit = 64 * 1024 // 4
    assert bound(DataType.U32, np.zeros(limit, np.uint32), access=BufferAccess.Uniform).lengths["x"] == limit
    with pytest.raises(DispatchError, match=r"65536 are allowed.*declare it ReadOnly"):
        bound(DataType.U32, np.zeros(limit + 1, np.uint32), access=BufferAccess.Uniform)


def pair(arrays: dict[str, Any], *, first: BufferAccess = RO, second: BufferAccess = RW) -> Bound:
    decls = [BufferDecl("a", 0, first, DataType.U32), BufferDecl("b", 1, second, DataType.U32)]
    return bind(Program(decls, [1], []), arrays, lengths={}, copy=True)


def test_overlapping_memory_is_refused_where_one_side_is_writable() -> None:
    x = np.zeros(10, np.uint32)
    for a, b in [(x, x), (x[:6], x[5:]), (x[::2], x[2:3]), (x, x.view(np.uint32)[9:])]:
        with pytest.raises(DispatchError, match="'a' and 'b' share memory"):
            pair({"a": a, "b": b})
        with pytest.raises(DispatchError, match="'a' and 'b' share memory"):
            pair({"a": a, "b": b}, first=RW, second=RO)


def test_memory_that_does_not_overlap_or_is_only_read_is_fine() -> None:
    x = np.zeros(10, np.uint32)
    pair({"a": x[:5], "b": x[5:]})
    pair({"a": x[::2], "b": x[1::2]})
    pair({"a": x, "b": x}, second=RO)
    pair({"a": x, "b": x.copy()})


def test_unknown_buffers_are_refused_with_a_suggestion() -> None:
    with pytest.raises(DispatchError, match=r"no buffer 'aa'.*did you mean 'a'\? Choose one of a, b"):
        pair({"aa": np.zeros(1, np.uint32)})


def test_workgroup_memory_is_never_supplied() -> None:
    program = Program([BufferDecl.workgroup("tile", DataType.U32, 4)], [1], [])
    with pytest.raises(DispatchError, match="'tile' is workgroup memory"):
        bind(program, {"tile": np.zeros(4, np.uint32)}, lengths={}, copy=True)
    assert bind(program, {}, lengths={}, copy=True).views == {}


def test_what_is_written_is_the_callers_memory_and_comes_back_itself() -> None:
    x = np.zeros(4, np.uint32)
    raw, ints = bytearray(4), array.array("I", [0])
    values: list[Any] = [x, raw, ints, memoryview(bytearray(4)).cast("I")]
    for value in values:
        b = bound(DataType.U32, value, copy=False)
        b.views["x"][0] = 9
        assert b.results()["x"] is value
        assert memoryview(value).cast("B")[0] == 9


def test_truth_values_are_written_back_into_an_array_of_bool() -> None:
    x = np.array([[True, False], [False, True]])
    b = bound(DataType.Bool, x, copy=False)
    b.views["x"][:8] = bytes(4) + b"\2\0\0\0"
    assert b.results()["x"] is x
    assert x.tolist() == [[False, True], [False, True]]


def test_memory_that_cannot_be_written_is_refused_unless_copied() -> None:
    frozen = np.zeros(4, np.uint32)
    frozen.flags.writeable = False
    cases: list[tuple[DataType, Any, str]] = [
        (DataType.U32, frozen, "read-only memory"),
        (DataType.U32, bytes(4), "read-only memory"),
        (DataType.U32, np.zeros(4, np.uint32)[::2], "not contiguous"),
        (DataType.Bool, np.zeros(4, np.bool_)[::2], "not contiguous"),
        (DataType.Bytes, bytearray(5), "whole words"),
    ]
    for element, value, message in cases:
        with pytest.raises(DispatchError, match=f"{message}.*Fix: pass .*copy=True"):
            bound(element, value, copy=False)
        bound(element, value)


class _Series:
    """What a column of a data frame is to us: no buffer, no DLPack, but an array if asked."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.arange(3, dtype=np.uint32)


@pytest.mark.parametrize(
    ("value", "zeroed", "fix"),
    [
        (_Series(), False, "pass np.asarray(x)."),
        ({"a": 1}, False, "pass an array of np.uint32."),
        ("abc", False, "pass an array of np.uint32."),
        ([1, 2], False, "pass vyre.array(x, vyre.u32)."),
        (2.5, False, "pass vyre.array([x], vyre.u32)."),
        (2.5, True, "omit x, or pass its length as a whole number, or an array of np.uint32."),
        (_Series(), True, "omit x, or pass an array of np.uint32."),
    ],
)
def test_what_is_not_an_array_is_told_what_keeps_its_contents(value: Any, zeroed: bool, fix: str) -> None:
    with pytest.raises(DispatchError) as caught:
        bound(DataType.U32, value, zeroed=("x",) if zeroed else ())
    assert caught.value.fix == fix


def test_a_copy_that_has_no_room_is_told_so() -> None:
    many = np.broadcast_to(np.uint32(1), (1 << 50,))
    with pytest.raises(DeviceOutOfMemory, match="a copy of buffer 'x', of 4,503,599,627,370,496 bytes"):
        bound(DataType.U32, many, access=RO)
