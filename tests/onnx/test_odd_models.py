"""Models as exporters write them: tables cut by sizes, masks of int64, constants of every type, and lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre import onnx as vyre_onnx
from vyre.errors import VyreError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 - after the package is known to be there
from onnx.reference import ReferenceEvaluator  # noqa: E402 - the same

from tests.onnx.test_models import Writer, normal, whole  # noqa: E402 - the same

F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def built(w: Writer, inputs: dict[str, tuple[int, Any]], *outputs: str, opset: int = 18) -> Any:
    graph = helper.make_graph(
        w.nodes,
        "odd",
        [helper.make_tensor_value_info(n, kind, shape) for n, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(n, F32, None) for n in outputs],
        w.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def agree(model: Any, given: dict[str, Any], **options: Any) -> list[Any]:
    """The outputs, which are those of the package's own evaluator, and the same bits on `cpu`."""
    loaded = vyre_onnx.load(model, **options)
    exact, ran = loaded.evaluate(given), loaded(given, backend="cpu")
    with np.errstate(all="ignore"):
        reference: Any = ReferenceEvaluator(model)
        expected = reference.run(None, given)
    for (name, value), wanted in zip(exact.items(), expected, strict=True):
        assert ran[name].tobytes() == value.tobytes()
        assert (value.shape, value.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)
    return list(exact.values())


def positions(w: Writer) -> str:
    """A table of 16 places cut to the length, as BERT has it, and a mask of int64 made additive."""
    length = w("Unsqueeze", w("Gather", w("Shape", "ids"), np.int64(1)), whole(0))
    places = w("Slice", np.arange(16)[None], whole(0), length, whole(1), whole(1))
    words = w("Add", w("Gather", normal(11, 4), "ids"), w("Gather", normal(16, 4), places))
    mask = w("Cast", w("Unsqueeze", "mask", whole(2)), to=F32)
    return w("Add", words, w("Mul", w("Sub", np.float32(1), mask), np.float32(-10000)))


def test_tables_are_cut_by_dynamic_sizes_and_masks_are_cast() -> None:
    w = Writer()
    shape = ["batch", "seq"]
    model = built(w, {"ids": (I64, shape), "mask": (I64, shape)}, positions(w))
    for rows, columns in ((2, 5), (1, 16)):
        ids = np.arange(rows * columns).reshape(rows, columns) % 11
        agree(model, {"ids": ids, "mask": ids % 2})


def test_two_sizes_that_are_one_are_said_to_be() -> None:
    w = Writer()
    model = built(w, {"ids": (I64, ["a", "b"]), "mask": (I64, [None, None])}, positions(w))
    with pytest.raises(VyreError, match=r"say so: vyre\.onnx\.load") as caught:
        vyre_onnx.load(model)
    assert "sizes={'mask_1': 'b'}" in str(caught.value)
    ids = np.zeros((2, 3), np.int64)
    agree(model, {"ids": ids, "mask": ids}, sizes={"mask_0": "a", "mask_1": "b"})


def test_dynamic_sizes_become_numbers() -> None:
    """A mean by the length, a range that starts at another length, and a shape as an output."""
    w = Writer()
    shape = w("Shape", "x")
    length = w("Gather", shape, np.int64(1))
    mean = w("Div", w("ReduceSum", "x", whole(1), keepdims=0), w("Cast", length, to=F32))
    past = w("Gather", w("Shape", "past"), np.int64(0))
    places = w("Range", past, w("Add", past, length), np.int64(1))
    model = built(w, {"x": (F32, ["n", "seq", 2]), "past": (F32, ["p"])}, mean, places, shape)
    _, found, sizes = agree(model, {"x": normal(2, 3, 2), "past": normal(4)})
    assert found.tolist() == [4, 5, 6]
    assert sizes.tolist() == [2, 3, 2]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "uint32", "int64", "float16", "float32"])
def test_constants_of_every_type_are_computed_with(kind: str) -> None:
    a, b = np.array([[100, 3], [7, 120]]).astype(kind), np.array([[3, 2], [5, 120]]).astype(kind)
    w = Writer()
    outputs = [w(op, a, b) for op in ("Add", "Sub", "Mul", "Div", "Max", "Min")]
    if a.itemsize >= 4 or kind == "float16":
        for op in ("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"):
            axes = ([0], [1], [-1], [0, 1])
            outputs += [w(op, b, whole(*x), keepdims=keep) for x in axes for keep in (0, 1)]
            outputs += [w(op, b), w(op, b, noop_with_empty_axes=1)]
    outputs.append(w("Identity", "x"))
    agree(built(w, {"x": (F32, [1])}, *outputs), {"x": normal(1)})


@pytest.mark.parametrize("target", [2, 3, 4, 5, 6, 7, 9, 10, 11, 12])
def test_a_constant_is_cast_as_an_input_is(target: int) -> None:
    values = [1.5, -1.5, np.nan, np.inf, -np.inf, 3e9, -3e9, 1e19, -0.99, 255.5, 256, -1, 127.9, 128]
    given = np.array(values, np.float32)
    w = Writer()
    model = built(w, {"x": (F32, [len(given)])}, w("Cast", "x", to=target), w("Cast", given, to=target))
    ran, folded = vyre_onnx.load(model).evaluate(x=given).values()
    assert ran.dtype == folded.dtype
    assert ran.tobytes() == folded.tobytes()


def test_a_constant_that_is_not_a_number_has_the_bits_of_the_graph() -> None:
    zero, infinite = np.zeros(1, np.float32), np.array([np.inf], np.float32)
    w = Writer()
    outputs = [w("Div", zero, zero), w("Div", "x", "x"), w("Sub", infinite, infinite), w("Sqrt", -infinite)]
    found = vyre_onnx.load(built(w, {"x": (F32, [1])}, *outputs)).evaluate(x=zero)
    assert {value.tobytes() for value in found.values()} == {np.array([0x7FC00000], "<u4").tobytes()}


def test_a_logarithm_of_a_sum_of_infinities() -> None:
    w = Writer()
    x = np.array([[-np.inf, -np.inf], [np.inf, 1], [1, 2]], np.float32)
    model = built(w, {"x": (F32, [3, 2])}, w("ReduceLogSumExp", "x", whole(1)))
    (found,) = vyre_onnx.load(model).evaluate(x=x).values()
    assert found[:2, 0].tolist() == [-np.inf, np.inf]
    assert found[2, 0] == pytest.approx(2.3132617)


def test_groups_have_scales_of_their_own_before_opset_21() -> None:
    w = Writer()
    out = w("GroupNormalization", "x", normal(2), normal(2), num_groups=2)
    agree(built(w, {"x": (F32, [2, 4, 3])}, out), {"x": normal(2, 4, 3)})


def sound() -> Any:
    w = Writer()
    return built(w, {"x": (F32, [2, 3])}, w("Relu", w("MatMul", "x", normal(3, 4))))


def changed(what: str) -> Any:
    model = sound()
    graph = model.graph
    match what:
        case "twice":
            graph.node[1].output[0] = graph.node[0].output[0]
            graph.output[0].name = graph.node[0].output[0]
        case "as the input":
            graph.node[1].output[0] = graph.output[0].name = "x"
        case "input twice":
            graph.input.append(graph.input[0])
        case "weight twice":
            graph.initializer.append(graph.initializer[0])
        case "negative":
            graph.initializer[0].dims[0] = -3
        case "no output":
            del graph.output[:]
        case "unknown output":
            graph.output[0].name = "nothing"
        case "no shape":
            graph.input[0].type.tensor_type.ClearField("shape")
        case "no element":
            graph.input[0].type.tensor_type.elem_type = 0
        case _:
            graph.node[0].domain = "com.other"
    return model


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("twice", "is there twice"),
        ("as the input", "'x' has the name of an input"),
        ("input twice", "the input 'x' is there twice"),
        ("weight twice", "is there twice"),
        ("negative", r"has the shape \[-3, 4\]"),
        ("no output", "has no output"),
        ("unknown output", "nothing computes the output 'nothing'"),
        ("no shape", "the input 'x' has no shape"),
        ("no element", "the input 'x' has the element type 0"),
        ("foreign", "the op com.other.MatMul cannot"),
    ],
)
def test_a_model_that_lies_is_refused(what: str, said: str) -> None:
    with pytest.raises(VyreError, match=said) as caught:
        vyre_onnx.load(changed(what))
    assert "Fix:" in str(caught.value)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "said"),
    [
        ("Range", [np.int64(0), np.int64(1 << 40), np.int64(1)], {}, "elements on the host"),
        ("Range", [np.float32(0), np.float32(1e30), np.float32(1)], {}, "elements on the host"),
        ("Resize", ["x", "", np.array([1, 1e12], np.float32)], {}, "elements on the host"),
        ("Gather", ["x", whole(7)], {}, "the index 7 is outside"),
        ("Unsqueeze", ["x", whole(0, 0)], {}, "name one twice"),
        ("Unsqueeze", ["x", whole(9)], {}, "no axis 9"),
        ("Slice", ["x", whole(0), whole(1), whole(9)], {}, "no axis 9"),
        ("Flatten", ["x"], {"axis": 9}, "no axis 9"),
        ("Gemm", ["x", np.zeros((2, 3, 2), np.float32)], {}, "use two matrices"),
    ],
)
def test_a_node_beyond_all_reason_is_refused(op: str, inputs: list[Any], attributes: Any, said: str) -> None:
    w = Writer()
    model = built(w, {"x": (F32, [2, 3])}, w(op, *inputs, **attributes))
    with pytest.raises(VyreError, match=said) as caught:
        vyre_onnx.load(model)
    assert str(caught.value).startswith(f"{op} 'node 0': ")


def test_a_large_constant_of_a_shape_is_not_made_on_the_host() -> None:
    w = Writer()
    value = numpy_helper.from_array(np.array([1], np.float32))
    grown = w("ConstantOfShape", whole(1 << 20, 1 << 11), value=value)
    out = w("Add", w("Slice", grown, whole(0, 0), whole(2, 3)), "x")
    x = normal(2, 3)
    found = vyre_onnx.load(built(w, {"x": (F32, [2, 3])}, out))({"x": x}, backend="cpu")
    assert found[out].tobytes() == (x + 1).tobytes()
