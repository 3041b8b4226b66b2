"""What exporters write where sizes were not known to them, older ops, and products of quantized numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.onnx.test_loading import agree
from vyre import onnx as vyre_onnx
from vyre.errors import VyreError
from vyre.planning import plan_graph

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper, parser  # noqa: E402 - after the package is known to be there

RNG = np.random.default_rng(7)
X = RNG.standard_normal((3, 5)).astype(np.float32)


def parsed(text: str, opset: int = 18, **weights: Any) -> Any:
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}]>\n{text}')
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(a), n) for n, a in weights.items())
    return model


@pytest.mark.parametrize("shape", ["3, 5", "rows, 5"])
def test_parts_of_a_sequence(shape: str) -> None:
    """`chunk` of torch, whose last part is shorter, and a part of a shape itself."""
    model = parsed(
        f"""g (float[{shape}] x)
            => (float[n, m] a, float[n, m] b, float[k, n, m] c, int64 count, int64[n] size) {{
            parts = SplitToSequence <axis = 1> (x, two)
            a = SequenceAt(parts, zero)
            last = SequenceAt(parts, end)
            gone = SequenceErase(parts, end)
            pair = SequenceInsert(gone, last, zero)
            b = ConcatFromSequence <axis = 1> (pair)
            c = ConcatFromSequence <axis = 0, new_axis = 1> (gone)
            count = SequenceLength(pair)
            sizes = Shape(x)
            each = SplitToSequence <keepdims = 1> (sizes)
            size = SequenceAt(each, end)
        }}""",
        two=np.int64(2),
        zero=np.int64(0),
        end=np.int64(-1),
    )
    agree(model, x=X)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "s = SplitToSequence(x)  y = Neg(s)",
            "a sequence is passed where a tensor is needed",
        ),
        ("s = SplitToSequence(x)  y = SequenceAt(s, three)", "position 3 is outside a sequence of 3 values"),
        ("y = SplitToSequence(x)", "the output 'y' is a sequence"),
        ("y = SequenceAt(x, three)", "input 0 is not a sequence"),
        ("s = SequenceEmpty()  y = ConcatFromSequence <axis = 0> (s)", "the sequence is empty"),
        ("s = SplitToSequence(x, zero)  y = SequenceAt(s, zero)", "parts of 0 elements"),
    ],
)
def test_sequences_that_cannot_be_used(body: str, said: str) -> None:
    model = parsed(f"g (float[3, 5] x) => (float[n, m] y) {{ {body} }}", three=np.int64(3), zero=np.int64(0))
    with pytest.raises(VyreError, match=said) as caught:
        vyre_onnx.load(model)
    assert "Fix:" in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        "ones = Expand(one, length)  wanted = Mul(ones, size)",
        "size1 = Sub(size, none)  wanted = ScatterElements(size1, one, two)",
        "ones = Expand(one, one)  twice = Tile(ones, two)  wanted = CumSum(twice, axis)",
        "wanted = Max(pair, two, one)",
    ],
)
@pytest.mark.parametrize("shape", ["3, 5", "rows, 5"])
def test_a_shape_is_known_whatever_computes_it(body: str, shape: str) -> None:
    model = parsed(
        f"""g (float[{shape}] x) => (float[n, m] y) {{
            size = Shape(x)  length = Shape(size)  {body}
            big = Expand(cell, wanted)  y = Identity(big)
        }}""",
        one=np.array([1]),
        two=np.array([2]),
        none=np.array([0]),
        axis=np.int64(0),
        pair=np.array([3, 4]),
        cell=np.ones((1, 1), np.float32),
    )
    agree(model, x=X)


def test_sizes_of_int32_beside_tensors_of_int32() -> None:
    """As TensorFlow has them."""
    model = parsed(
        """g (float[rows, 5] x, int32[rows] lengths)
            => (bool[rows] mask, int32 more, int32[rows] rest, int32[rows] most, int32[2] shape) {
            long = Shape(x)
            shape = Cast <to = 6> (long)
            rows = Gather(shape, zero)
            places = Range(zero, rows, one)
            mask = Less(places, lengths)
            more = Add(rows, one)
            rest = Sub(rows, lengths)
            most = Max(rows, lengths)
        }""",
        zero=np.int32(0),
        one=np.int32(1),
    )
    agree(model, x=X, lengths=np.array([0, 2, 9], np.int32))


def test_a_range_that_is_written_as_the_places_of_ones() -> None:
    """As torch exports `arange` to opset 9."""
    one = numpy_helper.from_array(np.array([1], np.int64))
    model = parsed(
        """g (float[rows, 5] x) => (float[rows] y) {
            shape = Shape(x)  rows = Gather(shape, first)  ones = ConstantOfShape(rows)
            places = NonZero(ones)  columns = Transpose <perm = [1, 0]> (places)
            long = Squeeze <axes = [1]> (columns)  y = Cast <to = 1> (long)
        }""",
        9,
        first=np.array([0]),
    )
    model.graph.node[2].attribute.append(helper.make_attribute("value", one))
    agree(model, x=X)
    model.graph.node[2].attribute[0].t.raw_data = bytes(8)
    with pytest.raises(VyreError, match="how many elements are not 0 depends on data"):
        vyre_onnx.load(model)


def test_places_of_numbers_that_are_known() -> None:
    model = parsed(
        """g (float[3, 5] x) => (float[3, m] y) {
            a = NonZero(mask)  b = Reshape(a, flat)  y = Gather <axis = 1> (x, b)
        }""",
        mask=np.array([1, 0, -2, 0, 3]),
        flat=np.array([-1]),
    )
    agree(model, x=X)


def test_output_shape_of_a_transposed_convolution_cuts_the_start_first() -> None:
    text = """g (float[1, 1, 3] x) => (float[1, 1, 6] y) {
        y = ConvTranspose <strides = [2], output_shape = [6]> (x, w)
    }"""
    model = vyre_onnx.load(parsed(text, w=np.array([[[1, 10, 100]]], np.float32)))
    x = np.array([[[1, 2, 3]]], np.float32)
    assert model.evaluate(x=x)["y"].reshape(-1).tolist() == [10, 102, 20, 203, 30, 300]


@pytest.mark.parametrize(("op", "opset"), [("Upsample", 9), ("Resize", 10)])
def test_the_nearest_before_it_had_a_mode(op: str, opset: int) -> None:
    text = f"g (float[1, c, 2, 3] x) => (float[n, c, h, w] y) {{ y = {op}(x, s) }}"
    x = X.reshape(-1)[:6].reshape(1, 1, 2, 3)
    model = vyre_onnx.load(parsed(text, opset, s=np.array([1, 1, 3, 1.5], np.float32)))
    wanted = x.repeat(3, 2)[..., [0, 0, 1, 2]]
    assert model.evaluate(x=x)["y"].tolist() == wanted.tolist()
    assert model(x=x, backend="cpu")["y"].tolist() == wanted.tolist()


def test_a_smaller_one_by_nearest_takes_the_next() -> None:
    text = "g (float[1, 1, 1, 4] x) => (float[n, c, h, w] y) { y = Resize(x, s) }"
    model = vyre_onnx.load(parsed(text, 10, s=np.array([1, 1, 1, 0.6], np.float32)))
    x = np.array([1, 2, 3, 4], np.float32).reshape(1, 1, 1, 4)
    assert model.evaluate(x=x)["y"].reshape(-1).tolist() == [1, 3]


def test_two_sizes_that_meet_in_a_product_are_named() -> None:
    text = "g (float[2, n, k] x, float[2, l, 4] y) => (float[2, n, 4] z) { z = MatMul(x, y) }"
    with pytest.raises(VyreError, match=r"sizes={'l': 'k'}"):
        vyre_onnx.load(parsed(text))
    assert vyre_onnx.load(parsed(text), sizes={"l": "k"})


@pytest.mark.parametrize(
    ("mode", "padding"),
    [(m, p) for m in ("linear", "nearest") for p in ("zeros", "border", "reflection")]
    + [("cubic", "zeros"), ("cubic", "reflection")],
)
@pytest.mark.parametrize("aligned", [0, 1])
def test_an_image_read_at_places(mode: str, padding: str, aligned: int) -> None:
    model = parsed(
        f"""g (float[n, c, h, 4] x, float[n, a, 3, 2] grid) => (float[n, c, a, 3] y) {{
            y = GridSample <mode = "{mode}", padding_mode = "{padding}", align_corners = {aligned}> (x, grid)
        }}""",
        20,
    )
    x = RNG.standard_normal((2, 2, 5, 4)).astype(np.float32)
    agree(model, x=x, grid=(RNG.random((2, 4, 3, 2)) * 2.8 - 1.4).astype(np.float32))


def test_other_ways_to_read_an_image_are_refused() -> None:
    text = """g (float[1, 1, 2, 2] x, float[1, 2, 2, 2] grid) => (float[n, c, h, w] y) {
        y = GridSample <mode = "bicubic", padding_mode = "border"> (x, grid)
    }"""
    with pytest.raises(VyreError, match=r"'bicubic' with padding by 'border' over 2 axes.*\n?.*Fix:"):
        vyre_onnx.load(parsed(text, 16))


def codes(kind: Any, *shape: int) -> Any:
    limits = np.iinfo(kind)
    return RNG.integers(limits.min, limits.max + 1, shape).astype(kind)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_a_quantized_convolution(kind: Any) -> None:
    """With a scale for each output, padding, groups and a bias, as quantizers write it."""
    model = parsed(
        """g (uint8[n, 4, 6, 5] x) => (uint8[n, 6, 4, 4] y, int32[n, 6, 6, 5] z) {
            y = QLinearConv <group = 2, pads = [1, 0, 0, 1], strides = [2, 1], kernel_shape = [2, 3]>
                (x, xs, xz, w, ws, wz, ys, yz, b)
            z = ConvInteger <group = 2, pads = [1, 1, 0, 1]> (x, w, xz)
        }""",
        xs=np.float32(0.02),
        xz=np.uint8(131),
        w=codes(kind, 6, 2, 2, 3),
        ws=np.linspace(0.001, 0.01, 6, dtype=np.float32),
        wz=np.zeros(6, kind),
        ys=np.float32(0.05),
        yz=np.uint8(100),
        b=codes(np.int16, 6).astype(np.int32),
    )
    agree(model, x=codes(np.uint8, 2, 4, 6, 5))


def test_a_quantized_product() -> None:
    model = parsed(
        """g (float[n, 4] x) => (int8[n, 3] y, float[n, 3] z) {
            q, s, zero = DynamicQuantizeLinear(x)
            y = QLinearMatMul(q, s, zero, w, ws, wz, ys, yz)
            whole = MatMulInteger(q, w, zero)
            f = Cast <to = 1> (whole)
            z = Mul(f, s)
        }""",
        w=codes(np.int8, 4, 3),
        ws=np.array([0.01, 0.02, 0.005], np.float32),
        wz=np.zeros(3, np.int8),
        ys=np.float32(0.04),
        yz=np.int8(-3),
    )
    agree(model, x=RNG.standard_normal((5, 4)).astype(np.float32))


def recurrent(op: str, gates: int, activations: list[str], **attributes: Any) -> tuple[Any, Any, Any]:
    """A layer of three units, with its weights of the input and of the state."""
    w, r = (RNG.standard_normal((1, gates * 3, n)).astype(np.float32) for n in (5, 3))
    node = helper.make_node(op, ["x", "w", "r"], ["y"], hidden_size=3, activations=activations, **attributes)
    model = parsed("g (float[2, 1, 5] x) => (float[2, 1, 1, 3] y) { y = Identity(x) }", w=w, r=r)
    model.graph.node[0].CopyFrom(node)
    return model, w[0].T, r[0].T


def test_activations_of_recurrent_layers() -> None:
    x = X[:2, None]
    model, w, r = recurrent("RNN", 1, ["Relu"])
    first = np.maximum(x[0] @ w, 0)
    wanted = np.stack([first, np.maximum(x[1] @ w + first @ r, 0)])
    loaded = vyre_onnx.load(model)
    found = loaded.evaluate(x=x)["y"]
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-5)
    assert loaded(x=x, backend="cpu")["y"].tobytes() == found.tobytes()


def test_numbers_of_activations_are_taken_in_order() -> None:
    """As Keras writes it: gates by a line that is cut off."""
    model, w, _ = recurrent(
        "GRU", 3, ["HardSigmoid", "LeakyRelu"], activation_alpha=[0.25, 0.1], activation_beta=[0.4]
    )
    z, _, h = np.split(X[:1] @ w, 3, 1)
    gate = np.clip(z * 0.25 + 0.4, 0, 1)
    wanted = (1 - gate) * np.where(h < 0, h * 0.1, h)
    found = vyre_onnx.load(model).evaluate(x=X[:2, None])["y"]
    np.testing.assert_allclose(found[0, 0], wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("activations", "said"),
    [(["Affine"], "the activation 'Affine' is not imported"), (["Tanh"] * 2, "2 activations for 1")],
)
def test_activations_that_are_not_imported(activations: list[str], said: str) -> None:
    with pytest.raises(VyreError, match=said):
        vyre_onnx.load(recurrent("RNN", 1, activations)[0])


def test_steps_of_recurrent_layers_share_their_kernels() -> None:
    """However many there are: each kernel that is compiled takes time in the first call."""
    counts: set[str] = set()
    for steps in (9, 16):
        w, r = (RNG.standard_normal((2, 12, n)).astype(np.float32) for n in (5, 3))
        model = parsed(
            f"""g (float[{steps}, 1, 5] x) => (float[n, d, b, h] y) {{
                y = LSTM <hidden_size = 3, direction = "bidirectional"> (x, w, r)
            }}""",
            w=w,
            r=r,
        )
        shown = str(plan_graph(vyre_onnx.load(model).graph).explain())
        counts |= set(re.findall(r"\d+ programs", shown))
    assert len(counts) == 1
