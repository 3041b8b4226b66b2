"""What people pass to `load` and to a model, models in parts, and what is said of a node that is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre import onnx as vyre_onnx
from vyre.errors import VyreError

onnx = pytest.importorskip("onnx")
from onnx import parser  # noqa: E402 - after the package is known to be there
from onnx.reference import ReferenceEvaluator  # noqa: E402 - the same

HEAD = '<ir_version: 9, opset_import: ["" : 18, "own" : 1]>\n'
X = np.array([[1, -2, 3, -4]], np.float32)


def parsed(text: str) -> Any:
    return parser.parse_model(HEAD + text)


def plain() -> Any:
    return parsed("g (float[rows, 4] x) => (float[rows, 4] y) { y = Neg(x) }")


def agree(model: Any, **inputs: Any) -> None:
    """Of `cpu`, of the evaluator and of onnx."""
    loaded = vyre_onnx.load(model)
    found, exact = loaded(inputs, backend="cpu"), loaded.evaluate(inputs)
    evaluator: Any = ReferenceEvaluator(model)
    wanted = evaluator.run(None, inputs)
    for name, expected in zip(found, wanted, strict=True):
        assert found[name].tobytes() == exact[name].tobytes()
        assert (found[name].dtype, found[name].shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found[name], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (b"\x08\x09", r"not bytes\. Fix: pass a path; bytes are read by .*load_from_string"),
        (None, "not NoneType"),
        (plain().graph, "not GraphProto"),
    ],
)
def test_what_is_not_a_model(what: Any, said: str) -> None:
    with pytest.raises(VyreError, match=f"a model is a path or an onnx.ModelProto, {said}"):
        vyre_onnx.load(what)


def test_names_that_the_model_does_not_have_are_refused() -> None:
    with pytest.raises(VyreError, match=r"no dynamic size 'row'\. Fix: name one of 'rows'\."):
        vyre_onnx.load(plain(), sizes={"row": 2})
    with pytest.raises(VyreError, match=r"no input 'z'\. Fix: name one of x\."):
        vyre_onnx.load(plain(), fixed={"z": X})
    with pytest.raises(VyreError, match="all sizes are numbers"):
        vyre_onnx.load(parsed("g (float[4] x) => (float[4] y) { y = Neg(x) }"), sizes={"n": 2})
    assert vyre_onnx.load(plain(), sizes={"rows": 1}).evaluate(x=X)["y"].shape == (1, 4)


def test_an_array_without_a_name_is_refused() -> None:
    with pytest.raises(VyreError, match=r"by their names, not as ndarray\. Fix: pass a dict, {'x': array}\."):
        vyre_onnx.load(plain())(X)  # type: ignore[arg-type]


def test_functions_of_the_model_are_put_in() -> None:
    text = """g (float[rows, 4] x) => (float[rows, 4] y) { a = own.twice(x)  y = own.twice(a) }
    <domain: "own", opset_import: ["" : 18]> twice (a) => (c) { b = Add(a, a)  c = Tanh(b) }"""
    agree(parsed(text), x=X)


BRANCHES = """y = If (known) <
    then_branch = yes () => (float[rows, 4] a) { two = Constant <value = float {2}> ()  a = Mul(x, two) },
    else_branch = no () => (float[rows, 4] b) { b = Exp(x) }
>"""


def test_a_branch_that_is_known_is_taken() -> None:
    """By the rank of a tensor, as torch exports `squeeze`, or by a size that has one answer."""
    for number in (2, 3):
        known = f"""shape = Shape(x)  rank = Size(shape)
        wanted = Constant <value = int64 {{{number}}}> ()  known = Equal(rank, wanted)"""
        agree(parsed(f"g (float[rows, 4] x) => (float[rows, 4] y) {{ {known}  {BRANCHES} }}"), x=X)


def test_a_branch_that_data_chooses_is_refused() -> None:
    model = parsed(f"g (float[rows, 4] x, bool known) => (float[rows, 4] y) {{ {BRANCHES} }}")
    with pytest.raises(
        VyreError, match=r"^If 'node 0': the condition is not known while the model is loaded"
    ):
        vyre_onnx.load(model)
    found = vyre_onnx.load(model, fixed={"known": True}).evaluate(x=X)["y"]
    np.testing.assert_array_equal(found, X * 2)


def test_an_op_that_is_not_imported_is_named_with_its_node() -> None:
    model = parsed("g (float[4] x) => (int64[1, m] y) { a = Neg(x)  y = Det(a) }")
    model.graph.node[1].name = "/head/Det"
    with pytest.raises(VyreError, match=r"the op Det cannot be imported \(Det is '/head/Det'\)"):
        vyre_onnx.load(model)


@pytest.mark.parametrize(
    "body",
    [
        "s = Constant <value = int64[2] {2, 4}> ()  y = Reshape(x, s)",
        "a = Constant <value = int64[1] {0}> ()  e = Constant <value = int64[1] {9223372036854775807}> ()  "
        "t = Constant <value = int64[1] {2}> ()  y = Slice(x, a, e, a, t)",
    ],
)
def test_a_dynamic_size_in_the_way_is_told_how_to_fix(body: str) -> None:
    model = parsed(f"g (float[rows, 4] x) => (float[k, 4] y) {{ {body} }}")
    with pytest.raises(VyreError, match=r"vyre\.onnx\.load\(…, sizes={'rows': …}\)"):
        vyre_onnx.load(model)
    x = np.ones((2, 4), np.float32)
    assert vyre_onnx.load(model, sizes={"rows": 2}).evaluate(x=x)["y"].shape[1] == 4


@pytest.mark.parametrize(
    ("attributes", "operands"),
    [
        ('coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"', "x, e, s"),
        ("", "x, e, s"),
        ('coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"', "x, e, e, sizes"),
    ],
)
@pytest.mark.parametrize("times", [2, 3])
def test_a_dynamic_axis_is_repeated_by_nearest(attributes: str, operands: str, times: int) -> None:
    model = parsed(f"""g (float[n, 1, h, w] x) => (float[n, 1, hh, ww] y) {{
        e = Constant <value = float[0] {{}}> ()
        s = Constant <value = float[4] {{1, 1, {times}, {times}}}> ()
        factors = Constant <value = int64[4] {{1, 1, {times}, {times}}}> ()
        shape = Shape(x)  sizes = Mul(shape, factors)
        y = Resize <mode = "nearest"{", " if attributes else ""}{attributes}> ({operands})
    }}""")
    for h, w in ((1, 3), (4, 2)):
        agree(model, x=np.arange(2 * h * w, dtype=np.float32).reshape(2, 1, h, w))


def test_a_dynamic_axis_that_is_not_repeated_is_refused() -> None:
    model = parsed("""g (float[n, 1, h, 4] x) => (float[n, 1, hh, 8] y) {
        e = Constant <value = float[0] {}> ()  s = Constant <value = float[4] {1, 1, 2, 2}> ()
        y = Resize <mode = "linear"> (x, e, s)
    }""")
    with pytest.raises(VyreError, match=r"axis 2 of h elements can only be .* sizes={'h': …}"):
        vyre_onnx.load(model)


def test_long_masks_are_counted() -> None:
    """Lengths of rows, places of tokens and the place of the last one, as language models have them."""
    model = parsed("""g (int64[batch, seq] mask) => (int64[batch] n, int64[batch, seq] p, int64[batch] l) {
        one = Constant <value = int64[1] {1}> ()  axis = Constant <value = int64 {1}> ()
        n = ReduceSum <keepdims = 0> (mask, one)
        c = CumSum(mask, axis)  p = Sub(c, one)
        l = ArgMax <axis = 1, keepdims = 0> (p)
    }""")
    for shape in ((2, 5), (1, 3)):
        agree(model, mask=np.random.default_rng(1).integers(0, 2, shape))


def test_a_weight_that_is_sparse_or_elsewhere_is_told_apart(tmp_path: Any) -> None:
    model = parsed("g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> { y = Add(x, w) }")
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.arange(1, 5, dtype=np.float32), "w"))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    assert vyre_onnx.load(tmp_path / "m.onnx").evaluate(x=X[0])["y"].tolist() == [2, 0, 6, 0]
    with pytest.raises(VyreError, match=r"the weight 'w' cannot be read: .* Fix: pass the path of the model"):
        vyre_onnx.load(onnx.load(tmp_path / "m.onnx", load_external_data=False))
    values = onnx.numpy_helper.from_array(np.ones(1, np.float32), "w")
    places = onnx.numpy_helper.from_array(np.zeros(1, np.int64))
    model.graph.ClearField("initializer")
    model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, places, [4]))
    with pytest.raises(VyreError, match="the weight 'w' is sparse"):
        vyre_onnx.load(model)


def test_a_causal_mask_after_a_dynamic_past() -> None:
    """The diagonal lies as far to the right as there are keys before, as torch exports `triu(past + 1)`."""
    model = parsed("""g (float[t, k] x, float[past] keys) => (float[t, k] y, float[t, k] z) {
        p = Shape(keys)  one = Constant <value = int64[1] {1}> ()  axes = Constant <value = int64[1] {0}> ()
        more = Add(p, one)  d = Squeeze(more, axes)
        y = Trilu <upper = 1> (x, d)  z = Trilu <upper = 0> (x, d)
    }""")
    for past in (0, 3):
        agree(model, x=np.arange(1, 16, dtype=np.float32).reshape(3, 5), keys=np.zeros(past, np.float32))


def test_a_tensor_is_repeated_by_a_dynamic_size() -> None:
    model = parsed("""g (float[n, 2] x, float[seq] like) => (float[m, 4] y) {
        times = Shape(like)  two = Constant <value = int64[1] {2}> ()
        both = Concat <axis = 0> (times, two)  y = Tile(x, both)
    }""")
    for n, seq in ((2, 3), (1, 1)):
        agree(model, x=np.arange(2 * n, dtype=np.float32).reshape(n, 2), like=np.zeros(seq, np.float32))
