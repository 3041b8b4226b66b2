"""Models and calls that lie, in a file and in memory: each is refused by us, at once, with a way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre import onnx as vyre_onnx
from vyre.errors import VyreError

if TYPE_CHECKING:
    from pathlib import Path

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 - after the package is known to be there

X = np.arange(8, dtype=np.float32).reshape(2, 4)


def sound(op: str = "Relu", *, outputs: tuple[str, ...] = ("y",), **attributes: Any) -> Any:
    """A product with a weight, and an op on it."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node(op, ["a"], list(outputs), **attributes),
    ]
    graph = helper.make_graph(
        nodes,
        "hostile",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.ones((4, 3), np.float32), "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def refused(model: Any, said: str, folder: Path) -> None:
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    for given in (model, path):
        with pytest.raises(VyreError, match=said) as caught:
            vyre_onnx.load(given)
        assert "Fix:" in str(caught.value)


def test_an_output_without_a_shape_is_read_from_a_file(tmp_path: Path) -> None:
    """As exporters write what they could not infer."""
    path = tmp_path / "m.onnx"
    path.write_bytes(sound().SerializeToString())
    assert vyre_onnx.load(path).evaluate(x=X)["y"].shape == (2, 3)


def test_weights_beside_a_model_may_be_larger_than_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2 GB are what one message can hold; here it is said to hold less."""
    onnx.save(sound(), tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    monkeypatch.setattr(onnx.checker, "MAXIMUM_PROTOBUF", 64)
    assert vyre_onnx.load(tmp_path / "m.onnx").evaluate(x=X)["y"][0].tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    ("op", "attributes", "said"),
    [
        ("Concat", {}, "'axis' is missing"),
        ("LeakyRelu", {"beta": 3.0}, "Unrecognized attribute: beta"),
        ("LeakyRelu", {"alpha": b"\xff\xfe"}, "Mismatched attribute type"),
        ("Softmax", {"axis": 1.5}, "Mismatched attribute type"),
        ("DepthToSpace", {"blocksize": 2, "mode": b"\xff"}, "the attribute 'mode' cannot be read"),
    ],
)
def test_attributes_that_are_not_those_of_the_op(op: str, attributes: Any, said: str, tmp_path: Path) -> None:
    refused(sound(op, **attributes), f"^{op} 'node 1': .*{said}", tmp_path)


def test_numbers_of_inputs_and_outputs_that_the_op_does_not_have(tmp_path: Path) -> None:
    model = sound()
    model.graph.node[0].input.append("w")
    refused(model, "MatMul 'node 0': .* input size 3", tmp_path)
    refused(sound(outputs=("q", "y")), "Relu 'node 1': .* output size 2", tmp_path)


def test_an_attribute_twice_or_of_a_function_is_refused(tmp_path: Path) -> None:
    model = sound("Softmax", axis=1)
    model.graph.node[1].attribute.append(model.graph.node[1].attribute[0])
    refused(model, "appeared multiple times", tmp_path)
    model = sound("Softmax", axis=1)
    model.graph.node[1].attribute[0].ref_attr_name = "outer"
    refused(model, "the attribute 'axis' cannot be read", tmp_path)


def test_a_constant_whose_size_lies_is_refused(tmp_path: Path) -> None:
    tensor = numpy_helper.from_array(np.ones(3, np.float32))
    tensor.raw_data = b"123"
    model = sound()
    model.graph.node[1].CopyFrom(helper.make_node("Constant", [], ["y"], value=tensor))
    refused(model, "Constant 'node 1': ", tmp_path)


def test_a_weight_that_is_written_twice_is_refused(tmp_path: Path) -> None:
    model = sound()
    model.graph.initializer[0].float_data.extend([1.0] * 12)
    refused(model, "the weight 'w' holds its elements twice, in raw_data and float_data", tmp_path)


def test_a_branch_with_other_outputs_than_its_node_is_refused(tmp_path: Path) -> None:
    branch = helper.make_graph([helper.make_node("Identity", ["a"], ["q"])], "b", [], [])
    model = sound("If", then_branch=branch, else_branch=branch)
    model.graph.initializer.append(numpy_helper.from_array(np.array(True), "s"))
    model.graph.node[1].input[0] = "s"
    refused(model, "If 'node 1': then_branch has 0 outputs and the node 1", tmp_path)


def test_a_name_that_is_not_text_is_refused(tmp_path: Path) -> None:
    for old, new in ((b"Relu", b"Re\xffu"), (b"\x12\x01n", b"\x12\x01\xff")):
        data = sound().SerializeToString()
        assert old in data
        refused(onnx.load_from_string(data.replace(old, new)), "is not text", tmp_path)


@pytest.mark.parametrize(("op", "times"), [("Concat", 60), ("Mul", 30)])
def test_shapes_that_grow_without_end_are_refused(op: str, times: int, tmp_path: Path) -> None:
    """A shape put beside itself 60 times, and squared 30 times."""
    model = sound()
    model.graph.node[0].CopyFrom(helper.make_node("Shape", ["x"], ["v0"]))
    del model.graph.node[1:]
    attributes: dict[str, Any] = {"axis": 0} if op == "Concat" else {}
    for i in range(times):
        out = "y" if i == times - 1 else f"v{i + 1}"
        model.graph.node.append(helper.make_node(op, [f"v{i}", f"v{i}"], [out], **attributes))
    refused(model, f"^{op} 'node ", tmp_path)


@pytest.mark.parametrize(("op", "numbers"), [("Pad", [0, 0, 1]), ("Tile", [2])])
def test_numbers_that_are_not_those_of_the_axes(op: str, numbers: list[int], tmp_path: Path) -> None:
    model = sound(op)
    model.graph.initializer.append(numpy_helper.from_array(np.array(numbers), "s"))
    model.graph.node[1].input.append("s")
    refused(model, f"{op} 'node 1': {len(numbers)} numbers", tmp_path)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (X.astype(np.int32), "holds F32 and got int32"),
        (X.astype(np.float64), "holds F32 and got float64"),
        (X.astype(complex), "holds F32 and got complex128"),
        ([[1, 2], [3]], "the input 'x' is not an array"),
        (np.ma.array(X, mask=X > 3), "is a masked array"),
        (np.array([[1, 2, 3, None]]), "holds F32 and got object"),
        ("text", "the input 'x'"),
        (None, "the input 'x'"),
    ],
)
def test_an_array_of_another_type_is_refused_wherever_it_is_run(value: Any, said: str) -> None:
    model = vyre_onnx.load(sound())
    for call in (lambda: model(x=value, backend="cpu"), lambda: model.evaluate(x=value)):
        with pytest.raises(VyreError, match=said):
            call()


def test_an_input_is_passed_once() -> None:
    with pytest.raises(VyreError, match="the input 'x' is passed twice"):
        vyre_onnx.load(sound())({"x": X}, x=X)


@pytest.mark.parametrize("what", ["sizes", "fixed", "weights"])
def test_options_that_are_not_dicts_are_refused(what: str) -> None:
    with pytest.raises(VyreError, match=f"{what}= is list, not a dict"):
        vyre_onnx.load(sound(), **{what: [3]})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [X.astype(np.float64), np.ones((2, 9), np.float32), "text"])
def test_an_input_is_fixed_to_what_it_can_be(value: Any) -> None:
    with pytest.raises(VyreError, match="the input 'x' is float32"):
        vyre_onnx.load(sound(), fixed={"x": value})
    (found,) = vyre_onnx.load(sound(), fixed={"x": X.tolist()}).evaluate().values()
    assert found.tolist() == [[6, 6, 6], [22, 22, 22]]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("y = MatMul(x, half)", "MatMul 'node 0': input 0 is float and input 1 is float16"),
        ("y = Gather(x, x)", "Gather 'node 0': input 1 is float, which the op does not take"),
        ("y = Concat <axis = 0> (x, places)", "have different elements"),
        ("y, z = Split <axis = 0> (three)", "3 elements are not 2 equal parts"),
        ("y = Conv <kernel_shape = [3]> (image, w)", r"the kernel_shape is \[3\], and the weights are F32"),
        ("y = RNN <hidden_size = 7> (image, w, r)", "the hidden_size is 7, and the weights have 2"),
        ('y = RNN <direction = "up"> (image, w, r)', "the direction is 'up'"),
        ('y = RNN <direction = "bidirectional"> (image, w, r)', r"the weights F32\[1, 2, 5\] are for 1"),
    ],
)
def test_nodes_whose_types_or_sizes_lie(body: str, said: str, tmp_path: Path) -> None:
    header = '<ir_version: 9, opset_import: ["" : 13]>'
    model = onnx.parser.parse_model(f"{header} g (float[2, 4] x) => (float[n, m] y) {{ {body} }}")
    weights = {
        "half": np.ones((4, 3), np.float16),
        "places": np.array([[1, 2, 3, 4]]),
        "three": np.ones(3, np.float32),
        "image": np.ones((1, 2, 5), np.float32),
        "w": np.ones((1, 2, 5), np.float32),
        "r": np.ones((1, 2, 2), np.float32),
    }
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in weights.items())
    refused(model, said, tmp_path)


def test_two_versions_of_the_operators_are_refused(tmp_path: Path) -> None:
    model = sound()
    model.opset_import.append(helper.make_opsetid("ai.onnx", 11))
    refused(model, "the model uses opset 11 and 17 at once", tmp_path)


def test_weights_and_sizes_that_are_none() -> None:
    with pytest.raises(VyreError, match=r"the weight 'w' is not an array.*\n?.*Fix:"):
        vyre_onnx.load(sound(), weights={"w": [[1], [1, 2]]})
    with pytest.raises(VyreError, match=r"sizes\['n'\] is NoneType.*\n?.*Fix:"):
        vyre_onnx.load(sound(), sizes={"n": None})  # type: ignore[dict-item]
