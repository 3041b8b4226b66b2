"""ONNX models: node tests, a model of several nodes with dynamic sizes, and files that lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre import onnx as vyre_onnx
from vyre.errors import VyreError

if TYPE_CHECKING:
    from pathlib import Path

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402 - after the package is known to be there

from tests.onnx.node_tests import FAILED, PASSED, collected, run  # noqa: E402

W = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
SAMPLE = 8
"""One in so many node tests is run here; `python -m tests.onnx.node_tests` runs all."""
LEAST = 130


def test_node_tests_of_the_package_pass_or_are_refused() -> None:
    results = [run(case) for case in collected()[::SAMPLE]]
    failed = {r.name: r.why for r in results if r.status == FAILED}
    assert failed == {}
    assert sum(r.status == PASSED for r in results) >= LEAST


def model(
    nodes: list[Any], inputs: dict[str, Any], outputs: list[str], weights: dict[str, Any] | None = None
) -> Any:
    """A model of these nodes; inputs are name to shape, of F32."""
    made = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None] * 4) for n in outputs],
        [onnx.numpy_helper.from_array(a, n) for n, a in (weights or {}).items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)])


def reshaping() -> Any:
    """[batch, seq, 6] to [batch, seq, 2, 3] by nodes that compute the shape, then a product with weights."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Slice", ["shape", "zero", "two"], ["front"]),
        helper.make_node("Concat", ["front", "tail"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["parts"]),
        helper.make_node("MatMul", ["parts", "w"], ["product"]),
        helper.make_node("Relu", ["product"], ["y"]),
    ]
    weights = {
        "zero": np.array([0], np.int64),
        "two": np.array([2], np.int64),
        "tail": np.array([2, 3], np.int64),
        "w": W,
    }
    return model(nodes, {"x": ["batch", "seq", 6]}, ["y"], weights)


def test_shapes_are_folded_on_the_host(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(reshaping(), path)
    loaded = vyre_onnx.load(path)
    assert loaded.graph.dims == ("batch", "seq")
    for batch, seq in ((1, 2), (3, 1)):
        x = np.random.default_rng(batch).integers(-4, 4, (batch, seq, 6)).astype(np.float32)
        expected = np.maximum(x.reshape(batch, seq, 2, 3) @ W, 0)
        np.testing.assert_array_equal(loaded({"x": x}, backend="cpu")["y"], expected)
        np.testing.assert_array_equal(loaded.evaluate(x=x)["y"], expected)


def test_sizes_can_be_fixed() -> None:
    loaded = vyre_onnx.load(reshaping(), sizes={"batch": 2})
    assert loaded.graph.dims == ("seq",)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([("NonZero", ["x"], ["y"])], "the op NonZero"),
        ([("Softmax", ["gone"], ["y"])], "which nothing computes"),
        ([("Reshape", ["x", "x"], ["y"])], "computed from data"),
        ([("MatMul", ["x", "x"], ["y"])], "columns meet"),
        ([("Cast", ["x"], ["y"])], "Cast 'node 0'"),
        ([("Flatten", [""], ["y"])], "Flatten 'node 0'"),
        ([("Shape", ["x"], ["s"]), ("Slice", ["s", "s"], ["y"])], "Slice 'node 1'"),
    ],
)
def test_what_cannot_be_imported_is_named(nodes: list[tuple[Any, ...]], message: str) -> None:
    made = model([helper.make_node(*node) for node in nodes], {"x": [2, 3]}, ["y"])
    with pytest.raises(VyreError, match="Fix:") as caught:
        vyre_onnx.load(made)
    assert message in str(caught.value)


def test_files_that_are_cut_or_lie(tmp_path: Path) -> None:
    whole = reshaping().SerializeToString()
    path = tmp_path / "model.onnx"
    for cut in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(VyreError, match="Fix:"):
            vyre_onnx.load(path)
    with pytest.raises(VyreError, match="is not a file"):
        vyre_onnx.load(tmp_path / "gone.onnx")
    lying = reshaping()
    lying.graph.initializer[3].dims[0] = 999
    path.write_bytes(lying.SerializeToString())
    with pytest.raises(VyreError, match="Fix:"):
        vyre_onnx.load(path)


def test_names_of_the_model_are_kept_apart() -> None:
    """`a.b` and `a_b` are two inputs, and one called as the graph calls its own values is not another."""
    big = np.ones((300, 1), np.float32)
    nodes = [
        helper.make_node("Sub", ["a.b", "a_b"], ["d"]),
        helper.make_node("Mul", ["d", "v2"], ["p"]),
        helper.make_node("Sub", ["p", "w3"], ["q"]),
        helper.make_node("Mul", ["q", "big"], ["y"]),
    ]
    made = model(nodes, {name: [1, 2] for name in ("a.b", "a_b", "v2", "w3")}, ["y"], {"big": big})
    loaded = vyre_onnx.load(made)
    assert list(loaded.inputs) == ["a.b", "a_b", "v2", "w3"]
    one = np.ones((1, 2), np.float32)
    found = loaded.evaluate({"a.b": 7 * one, "a_b": 2 * one, "v2": 3 * one, "w3": one})["y"]
    np.testing.assert_array_equal(found, np.full((300, 2), 14, np.float32))


def test_scalars_stay_scalars() -> None:
    made = model([helper.make_node("Add", ["x", "one"], ["y"])], {"x": []}, ["y"], {"one": np.float32(1)})
    assert vyre_onnx.load(made).evaluate(x=np.float32(2))["y"].shape == ()


@pytest.mark.parametrize(
    ("op", "other", "expected"),
    [
        ("Equal", -1, [False, False]),
        ("Greater", 0, None),
        ("Equal", 1, None),
        ("GreaterOrEqual", 0, [True, True]),
    ],
)
def test_sizes_are_compared_where_every_length_agrees(op: str, other: int, expected: Any) -> None:
    nodes = [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node(op, ["shape", "other"], ["y"])]
    made = model(nodes, {"x": ["n", 3]}, ["y"], {"other": np.array([other], np.int64)})
    if expected is None:
        with pytest.raises(VyreError, match="differs from length to length"):
            vyre_onnx.load(made)
    else:
        assert vyre_onnx.load(made).evaluate(x=np.zeros((1, 3), np.float32))["y"].tolist() == expected


def test_sizes_are_computed_with() -> None:
    """3 - -n - 3, divided by 1, is a size of a reshape."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["n"]),
        helper.make_node("Neg", ["n"], ["minus"]),
        helper.make_node("Sub", ["three", "minus"], ["more"]),
        helper.make_node("Sub", ["more", "three"], ["again"]),
        helper.make_node("Div", ["again", "one"], ["rows"]),
        helper.make_node("Unsqueeze", ["rows", "axes"], ["list"]),
        helper.make_node("Concat", ["list", "tail"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["y"]),
    ]
    weights = {"zero": np.int64(0), "three": np.int64(3), "one": np.int64(1)}
    lists = {"axes": np.array([0], np.int64), "tail": np.array([2, 3], np.int64)}
    loaded = vyre_onnx.load(model(nodes, {"x": ["n", 6]}, ["y"], {**weights, **lists}))
    assert loaded.evaluate(x=np.zeros((5, 6), np.float32))["y"].shape == (5, 2, 3)


def test_indices_from_the_end_of_a_dynamic_axis() -> None:
    nodes = [helper.make_node("Gather", ["x", "last"], ["y"], axis=0)]
    made = model(nodes, {"x": ["n", 2]}, ["y"], {"last": np.array([-1, 0], np.int64)})
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.testing.assert_array_equal(vyre_onnx.load(made).evaluate(x=x)["y"], x[[-1, 0]])


def test_softplus_of_great_numbers() -> None:
    made = model([helper.make_node("Softplus", ["x"], ["y"])], {"x": [3]}, ["y"])
    found = vyre_onnx.load(made).evaluate(x=np.array([200, 0, -200], np.float32))["y"]
    np.testing.assert_allclose(found, [200, np.log(2), 0], rtol=1e-6)


def test_external_data_and_weights_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(reshaping(), path, save_as_external_data=True, size_threshold=0, location="weights.bin")
    x = np.ones((1, 1, 6), np.float32)
    expected = np.maximum(x.reshape(1, 1, 2, 3) @ W, 0)
    np.testing.assert_array_equal(vyre_onnx.load(path).evaluate(x=x)["y"], expected)
    doubled = vyre_onnx.load(path, weights={"w": W * 2})
    np.testing.assert_array_equal(doubled.evaluate(x=x)["y"], expected * 2)
    with pytest.raises(VyreError, match="has no weight 'z'"):
        vyre_onnx.load(path, weights={"z": W})
    with pytest.raises(VyreError, match=r"float32\[4, 3\]"):
        vyre_onnx.load(path, weights={"w": W.T})


def test_inputs_are_asked_for_by_name() -> None:
    loaded = vyre_onnx.load(reshaping())
    with pytest.raises(VyreError, match="the input 'x' is missing"):
        loaded({})
    with pytest.raises(VyreError, match="there is no input 'z'"):
        loaded(x=np.zeros((1, 1, 6), np.float32), z=1)


def test_weights_out_of_a_safetensors_file(tmp_path: Path) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "weights.safetensors"
    numpy_files.save_file({"w": np.ascontiguousarray(W * 2)}, path)
    x = np.ones((1, 1, 6), np.float32)
    found = vyre_onnx.load(reshaping(), weights=path).evaluate(x=x)["y"]
    np.testing.assert_array_equal(found, np.maximum(x.reshape(1, 1, 2, 3) @ W, 0) * 2)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(VyreError, match="not a sound safetensors file"):
        vyre_onnx.load(reshaping(), weights=str(path))
