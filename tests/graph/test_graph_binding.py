"""The shapes of a call against the inputs of a graph: one length a dimension, and clear refusals."""

from __future__ import annotations

import pytest

from vyre.errors import DispatchError
from vyre.graph import Concat, Graph, GraphNode, Input, Pad, Size, Slice, ValueType, Windows, sizes_of
from vyre.ir.types import DataType

SEQ, HEADS = Size("seq"), Size("heads")
X = Input(ValueType(DataType.F32, (SEQ, 4)))


def graph(node: GraphNode, *more: tuple[str, GraphNode]) -> Graph:
    return Graph([("x", X), *more, ("y", node)], ["y"])


def test_lengths_come_in_the_order_of_the_inputs() -> None:
    other = Input(ValueType(DataType.U32, (HEADS, SEQ + 1, 2)))
    two = Graph([("x", X), ("z", other)], ["x", "z"])
    assert list(sizes_of(two, {"z": (3, 8, 2), "x": (7, 4)}).items()) == [("seq", 7), ("heads", 3)]


def test_a_dimension_may_be_named_after_its_first_use() -> None:
    late = Graph([("z", Input(ValueType(DataType.U32, (SEQ + 1,)))), ("x", X)], ["x"])
    assert sizes_of(late, {"z": (1,), "x": (0, 4)}) == {"seq": 0}


@pytest.mark.parametrize(
    ("shapes", "message", "fix"),
    [
        ({}, "the input 'x' is missing.", "pass x: F32[seq, 4]."),
        ({"x": (2, 4), "w": ()}, "the graph has no input 'w'.", "pass x: F32[seq, 4]."),
        (
            {"x": (2,)},
            "the input 'x' is F32[seq, 4] and the shape passed is [2].",
            "pass an array of 2 axes.",
        ),
        (
            {"x": (2, 5)},
            "the input 'x' is F32[seq, 4] with seq = 2 and the shape passed is [2, 5].",
            "pass an array of the shape [2, 4].",
        ),
    ],
)
def test_wrong_inputs_are_named(shapes: dict[str, tuple[int, ...]], message: str, fix: str) -> None:
    with pytest.raises(DispatchError) as caught:
        sizes_of(graph(Concat(("x", "x"), 0)), shapes)
    assert (caught.value.message, caught.value.fix) == (message, fix)


def test_lengths_that_contradict_each_other_are_both_named() -> None:
    two = graph(Concat(("x", "z"), 0), ("z", Input(ValueType(DataType.F32, (SEQ, 4)))))
    with pytest.raises(DispatchError, match="'seq' is 2 in axis 0 of 'x' and 3 in axis 0 of 'z'"):
        sizes_of(two, {"x": (2, 4), "z": (3, 4)})


def test_a_size_that_follows_from_a_name_is_checked() -> None:
    two = Graph([("x", X), ("z", Input(ValueType(DataType.F32, (SEQ + 1,))))], ["x", "z"])
    with pytest.raises(DispatchError, match=r"F32\[seq \+ 1\] with seq = 2 and the shape passed is \[2\]"):
        sizes_of(two, {"x": (2, 4), "z": (2,)})


def test_a_size_that_would_be_negative_is_refused() -> None:
    windows = graph(Windows("x", 0, 4))
    assert sizes_of(windows, {"x": (3, 4)}) == {"seq": 3}
    with pytest.raises(DispatchError, match=r"the dimension seq - 3 of F32\[seq - 3, 4, 4\] would be -1"):
        sizes_of(windows, {"x": (2, 4)})


def test_a_range_that_leaves_its_axis_is_refused() -> None:
    last_three = graph(Slice("x", (SEQ - 3, Size(0)), (SEQ, Size(4)), (1, 1)))
    assert sizes_of(last_three, {"x": (3, 4)}) == {"seq": 3}
    with pytest.raises(DispatchError, match="'y' needs 0 <= seq - 3, which does not hold for seq = 2"):
        sizes_of(last_three, {"x": (2, 4)})
    first_three = graph(Slice("x", (Size(0), Size(0)), (Size(3), Size(4)), (1, 1)))
    with pytest.raises(DispatchError, match="'y' needs 3 <= seq"):
        sizes_of(first_three, {"x": (2, 4)})


def test_padding_by_less_than_nothing_is_refused() -> None:
    padded = graph(Pad("x", (SEQ - 2, Size(0)), (Size(5), Size(0))))
    assert sizes_of(padded, {"x": (2, 4)}) == {"seq": 2}
    with pytest.raises(DispatchError, match="'y' needs 0 <= seq - 2"):
        sizes_of(padded, {"x": (1, 4)})
