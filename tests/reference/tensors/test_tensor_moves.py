"""Views, padding, concatenation and indices against NumPy."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.reference.tensors.arrays import DTYPES, array_of, elements, value_of
from vyre.graph import (
    Broadcast,
    Concat,
    Constant,
    Copy,
    Gather,
    Graph,
    Input,
    Iota,
    Pad,
    Pick,
    Reshape,
    Size,
    Slice,
    Transpose,
    ValueType,
    Windows,
)
from vyre.graph.types import ELEMENTS
from vyre.ir.types import DataType
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from numpy.typing import NDArray

_T = DataType
SEEDS = range(30)


def sizes(*values: int) -> tuple[Size, ...]:
    return tuple(map(Size, values))


def drawn(seed: int, least: int = 0) -> tuple[Random, NDArray[Any]]:
    rng = Random(seed)
    shape = [rng.randrange(5) for _ in range(rng.randrange(least, 5))]
    return rng, np.arange(1, 1 + int(np.prod(shape)), dtype=np.uint32).reshape(shape)


@pytest.mark.parametrize("seed", SEEDS)
def test_transpose(seed: int) -> None:
    rng, x = drawn(seed)
    axes = tuple(rng.sample(range(x.ndim), x.ndim))
    np.testing.assert_array_equal(array_of(Transpose("a", axes), (_T.U32, x)), x.transpose(axes))


@pytest.mark.parametrize("seed", SEEDS)
def test_slice(seed: int) -> None:
    rng, x = drawn(seed)
    stops = [rng.randrange(n + 1) for n in x.shape]
    starts = [rng.randrange(stop + 1) for stop in stops]
    steps = [rng.randrange(1, 4) for _ in stops]
    node = Slice("a", sizes(*starts), sizes(*stops), tuple(steps))
    wanted = x[tuple(slice(*r) for r in zip(starts, stops, steps, strict=True))]
    np.testing.assert_array_equal(array_of(node, (_T.U32, x)), wanted)


@pytest.mark.parametrize("seed", SEEDS)
def test_broadcast(seed: int) -> None:
    rng, x = drawn(seed)
    x = x[tuple(slice(0, 1) if rng.randrange(2) else slice(None) for _ in x.shape)]
    shape = [rng.randrange(4) for _ in range(rng.randrange(3))]
    shape += [rng.randrange(4) if n == 1 else n for n in x.shape]
    got = array_of(Broadcast("a", sizes(*shape)), (_T.U32, x))
    np.testing.assert_array_equal(got, np.broadcast_to(x, shape))


def test_reshape_keeps_the_order_of_a_transposed_value() -> None:
    x = np.arange(24, dtype=np.uint32).reshape(2, 3, 4)
    graph = Graph(
        [
            ("a", Input(ValueType(_T.U32, (2, 3, 4)))),
            ("t", Transpose("a", (2, 0, 1))),
            ("y", Reshape("t", sizes(8, 3))),
        ],
        ["y"],
    )
    got = evaluate(graph, {"a": elements(_T.U32, x)})["y"]
    assert got == elements(_T.U32, x.transpose(2, 0, 1).reshape(8, 3))


@pytest.mark.parametrize("seed", SEEDS)
def test_windows(seed: int) -> None:
    rng, x = drawn(seed, 1)
    axis, size = rng.randrange(x.ndim), rng.randrange(1, 4)
    stride, dilation = rng.randrange(1, 4), rng.randrange(1, 3)
    reach = (size - 1) * dilation + 1
    x = (
        np.repeat(x, 3, axis)
        if x.shape[axis]
        else np.ones((*x.shape[:axis], 5, *x.shape[axis + 1 :]), np.uint32)
    )
    if x.shape[axis] < reach:
        size, dilation, reach = 1, 1, 1
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis)
    wanted = view[(*[slice(None)] * axis, slice(None, None, stride))][..., ::dilation]
    np.testing.assert_array_equal(array_of(Windows("a", axis, size, stride, dilation), (_T.U32, x)), wanted)


@pytest.mark.parametrize("seed", SEEDS)
def test_pad(seed: int) -> None:
    rng, x = drawn(seed)
    widths = [(rng.randrange(3), rng.randrange(3)) for _ in x.shape]
    node = Pad("a", sizes(*(b for b, _ in widths)), sizes(*(a for _, a in widths)), 99)
    got = array_of(node, (_T.U32, x))
    wanted = np.pad(x, widths, constant_values=99) if widths else x
    np.testing.assert_array_equal(got, wanted)


def test_a_bool_is_padded_by_0_or_1() -> None:
    assert value_of(Pad("a", sizes(1), sizes(0), 7), (_T.Bool, [0])).bits == [1, 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_concat(seed: int) -> None:
    rng, x = drawn(seed, 1)
    axis = rng.randrange(x.ndim)
    parts = [np.take(x, [i for i in range(x.shape[axis]) if rng.randrange(2)], axis) for _ in range(3)]
    got = array_of(Concat(("a", "b", "c"), axis), *((_T.U32, part) for part in parts))
    np.testing.assert_array_equal(got, np.concatenate(parts, axis))


@pytest.mark.parametrize("element", ELEMENTS)
def test_moves_keep_all_bits(element: DataType) -> None:
    width = 1 if element is _T.Bool else element.bits
    x = Elements((3,), [(1 << width) - 1, 1 << (width - 1), 1])
    assert value_of(Copy("a"), (element, x)) == x
    assert value_of(Transpose("a", (0,)), (element, x)) == x
    data = b"".join(v.to_bytes(element.stride, "little") for v in x.bits)
    graph = Graph([("y", Constant(ValueType(element, (3,)), data))], ["y"])
    assert evaluate(graph, {})["y"] == x


def test_the_bytes_of_a_bool_are_0_or_1() -> None:
    constant = Constant(ValueType(_T.Bool, (2,)), bytes([0, 1, 0, 0, 0, 0, 0, 0]))
    assert evaluate(Graph([("y", constant)], ["y"]), {})["y"].bits == [1, 0]
    assert value_of(Copy("a"), (_T.Bool, Elements((2,), [0, 5]))).bits == [0, 1]


def test_iota() -> None:
    for axis in range(2):
        graph = Graph([("y", Iota(ValueType(_T.I32, (2, 3)), axis))], ["y"])
        assert evaluate(graph, {})["y"] == elements(_T.I32, np.indices((2, 3))[axis])


INDICES = (_T.U32, _T.I32, _T.I64, _T.U8, _T.I8, _T.U16, _T.I16)


@pytest.mark.parametrize("element", INDICES)
def test_gather(element: DataType) -> None:
    x = np.arange(1, 37, dtype=np.uint32).reshape(3, 3, 4)
    indices = np.array([[0, 2], [1, 1]], DTYPES[element])
    for axis in range(3):
        got = array_of(Gather("a", "b", axis), (_T.U32, x), (element, indices))
        np.testing.assert_array_equal(got, np.take(x, indices, axis))


@pytest.mark.parametrize("element", INDICES)
def test_indices_out_of_range_give_zeros(element: DataType) -> None:
    x = elements(_T.F32, [1.0, 2.0, 3.0])
    outside = Elements((4,), [(1 << element.bits) - 1, 1 << (element.bits - 1), 3, 2])
    zeros_and_last = elements(_T.F32, [0.0, 0.0, 0.0, 3.0])
    assert value_of(Gather("a", "b", 0), (_T.F32, x), (element, outside)) == zeros_and_last
    assert value_of(Pick("a", "b", 0), (_T.F32, x), (element, outside)) == zeros_and_last


def test_an_i64_index_is_seen_whole() -> None:
    beyond = Elements((2,), [1 << 32, 1])
    assert value_of(Gather("a", "b", 0), (_T.U8, [7, 8]), (_T.I64, beyond)).bits == [0, 8]


def test_a_scalar_index_takes_the_axis_away_and_an_empty_axis_has_no_elements() -> None:
    x = np.arange(6, dtype=np.uint32).reshape(2, 3)
    np.testing.assert_array_equal(array_of(Gather("a", "b", 1), (_T.U32, x), (_T.U32, np.uint32(2))), x[:, 2])
    none = np.zeros((2, 0), np.uint32)
    got = array_of(Gather("a", "b", 1), (_T.U32, none), (_T.U32, [0]))
    np.testing.assert_array_equal(got, [[0], [0]])


@pytest.mark.parametrize("seed", SEEDS)
def test_pick(seed: int) -> None:
    rng, x = drawn(seed, 1)
    axis = rng.randrange(x.ndim)
    length = x.shape[axis]
    shape = (*x.shape[:axis], rng.randrange(4) if length else 0, *x.shape[axis + 1 :])
    indices = np.array([rng.randrange(max(length, 1)) for _ in range(int(np.prod(shape)))], np.int64)
    indices = indices.reshape(shape)
    got = array_of(Pick("a", "b", axis), (_T.U32, x), (_T.I64, indices))
    np.testing.assert_array_equal(got, np.take_along_axis(x, indices, axis))
