"""Models of many nodes as exporters write them: shapes computed by nodes, scalars, dynamic axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from vyre import onnx as vyre_onnx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402 - after the package is known to be there

RNG = np.random.default_rng(1)
HEADS, WIDTH = 2, 8


def normal(*shape: int) -> Any:
    return (RNG.standard_normal(shape) * 0.5).astype(np.float32)


class Writer:
    """Nodes one after another; an array as an input becomes an initializer."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def __call__(self, op: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        made = [f"/{op}.{len(self.nodes)}:{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, made, **attributes))
        return made[0] if outputs == 1 else made

    def constant(self, value: Any) -> str:
        name = f"onnx::c_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def model(self, inputs: dict[str, Any], output: str, kinds: dict[str, int] | None = None) -> Any:
        graph = helper.make_graph(
            self.nodes,
            "model",
            [
                helper.make_tensor_value_info(n, (kinds or {}).get(n, TensorProto.FLOAT), shape)
                for n, shape in inputs.items()
            ],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def norm(w: Writer, x: str) -> str:
    shifted = w("Sub", x, w("ReduceMean", x, axes=[-1]))
    variance = w("ReduceMean", w("Pow", shifted, np.float32(2)), axes=[-1])
    return w("Div", shifted, w("Sqrt", w("Add", variance, np.float32(1e-5))))


def transformer(wqkv: Any, wo: Any, w1: Any, w2: Any) -> Any:
    """A block as torch exports it: heads by computed shapes, a mask by Trilu, GELU by Erf."""
    w = Writer()
    shape = w("Shape", "tokens")
    batch = w("Unsqueeze", w("Gather", shape, np.int64(0)), whole(0))
    length = w("Unsqueeze", w("Gather", shape, np.int64(1)), whole(0))
    heads = w("Concat", batch, length, whole(HEADS), whole(WIDTH // HEADS), axis=0)
    parts = w("Split", w("MatMul", norm(w, "tokens"), wqkv), outputs=3, axis=-1)
    q, k, v = (w("Transpose", w("Reshape", p, heads), perm=[0, 2, 1, 3]) for p in parts)
    scores = w(
        "Div", w("MatMul", q, w("Transpose", k, perm=[0, 1, 3, 2])), np.float32(math.sqrt(WIDTH // HEADS))
    )
    square = w("Concat", length, length, axis=0)
    value = numpy_helper.from_array(np.array([1], np.float32))
    below = w("Cast", w("Trilu", w("ConstantOfShape", square, value=value), upper=0), to=TensorProto.BOOL)
    hidden = w("Where", below, scores, np.float32(np.finfo(np.float32).min))
    mixed = w("Transpose", w("MatMul", w("Softmax", hidden, axis=-1), v), perm=[0, 2, 1, 3])
    joined = w("Reshape", mixed, w("Concat", batch, length, whole(-1), axis=0))
    x = w("Add", "tokens", w("MatMul", joined, wo))
    inner = w("MatMul", norm(w, x), w1)
    erf = w("Add", w("Erf", w("Div", inner, np.float32(math.sqrt(2)))), np.float32(1))
    out = w("Add", x, w("MatMul", w("Mul", w("Mul", inner, erf), np.float32(0.5)), w2))
    return w.model({"tokens": ["batch", "seq.len", WIDTH]}, out)


def in_numpy(x: Any, wqkv: Any, wo: Any, w1: Any, w2: Any) -> Any:
    def normed(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)

    batch, length, _ = x.shape
    shape = (batch, length, HEADS, WIDTH // HEADS)
    q, k, v = (p.reshape(shape).swapaxes(1, 2) for p in np.split(normed(x) @ wqkv, 3, -1))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(WIDTH // HEADS)
    powers = np.where(np.tri(length, dtype=bool), np.exp(scores), 0)
    mixed = powers / powers.sum(-1, keepdims=True) @ v
    x = x + mixed.swapaxes(1, 2).reshape(x.shape) @ wo
    inner = normed(x) @ w1
    return x + inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2 @ w2


def test_a_transformer_block_with_dynamic_axes() -> None:
    weights = normal(WIDTH, 3 * WIDTH), normal(WIDTH, WIDTH), normal(WIDTH, 32), normal(32, WIDTH)
    loaded = vyre_onnx.load(transformer(*weights))
    for batch, length in ((2, 3), (1, 5)):
        x = normal(batch, length, WIDTH)
        (found,) = loaded(tokens=x, backend="cpu").values()
        (exact,) = loaded.evaluate(tokens=x).values()
        assert found.tobytes() == exact.tobytes()
        np.testing.assert_allclose(found, in_numpy(x.astype(np.float64), *weights), rtol=1e-4, atol=1e-5)


def test_a_convolutional_network() -> None:
    w = Writer()
    weight, dense = normal(4, 1, 3, 3), normal(16, 3)
    h = w("Conv", "image", weight, normal(4), pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    statistics = (
        np.ones(4, np.float32),
        np.zeros(4, np.float32),
        np.zeros(4, np.float32),
        np.ones(4, np.float32),
    )
    h = w("Relu", w("BatchNormalization", h, *statistics, epsilon=0.0))
    h = w("MaxPool", h, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    out = w("Gemm", w("Flatten", h), dense, transB=0)
    loaded = vyre_onnx.load(w.model({"image": ["n", 1, 3, 3]}, out))
    x = normal(2, 1, 3, 3)
    (found,) = loaded(image=x, backend="cpu").values()
    assert found.shape == (2, 3)
    assert found.tobytes() == next(iter(loaded.evaluate(image=x).values())).tobytes()


def test_an_output_without_a_name_is_no_input() -> None:
    """An LSTM of which only the last state is used: its first output has no name, as have inputs left out."""
    w = Writer()
    x, weight, recurrent = normal(3, 2, 4), normal(1, 20, 4), normal(1, 20, 5)
    names = [w.constant(weight), w.constant(recurrent)]
    w.nodes.append(helper.make_node("LSTM", ["x", *names], ["", "last"], hidden_size=5))
    out = w("Clip", "last", "", np.float32(0.1))
    (found,) = vyre_onnx.load(w.model({"x": [3, 2, 4]}, out)).evaluate(x=x).values()
    h, c = np.zeros((2, 5)), np.zeros((2, 5))
    for step in x:
        i, o, f, n = np.split(step @ weight[0].T + h @ recurrent[0].T, 4, 1)
        c = c / (1 + np.exp(-f)) + np.tanh(n) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
    np.testing.assert_allclose(found[0], np.minimum(h, 0.1), rtol=1e-5, atol=1e-6)


def test_a_fixed_size_beside_a_dynamic_one() -> None:
    w = Writer()
    shape = w("Shape", "x")
    batch, length = (w("Unsqueeze", w("Gather", shape, np.int64(axis)), whole(0)) for axis in (0, 1))
    out = w("Reshape", "x", w("Concat", batch, length, whole(2, 4), axis=0))
    x = normal(3, 6, 8)
    (found,) = vyre_onnx.load(w.model({"x": ["batch", 6, 8]}, out)).evaluate(x=x).values()
    assert found.tobytes() == x.tobytes()
    assert found.shape == (3, 6, 2, 4)
