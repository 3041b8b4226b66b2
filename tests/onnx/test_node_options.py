"""What nodes give besides their first output, and the ways to compute that few models ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.onnx.test_exported import parsed
from vyre import onnx as vyre_onnx
from vyre.backends.registry import get
from vyre.errors import BackendUnavailable, VyreError

pytest.importorskip("onnx")
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(11)


def outputs(model: Any, **inputs: Any) -> list[Any]:
    """The outputs, whose bytes are those of the evaluator on each backend that is here."""
    loaded = vyre_onnx.load(model)
    exact = loaded.evaluate(inputs)
    for backend in filter(_here, ("cpu", "opencl")):
        found = loaded(inputs, backend=backend)
        assert {n: v.tobytes() for n, v in found.items()} == {n: v.tobytes() for n, v in exact.items()}
    return list(exact.values())


def _here(backend: str) -> bool:
    try:
        get(backend)
    except BackendUnavailable:
        return False
    return True


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def scores_model(mode: int) -> Any:
    return parsed(
        f"""g (float[1, 4, n, 3] q, float[1, 2, k, 3] key, float[1, 2, k, 2] v, float[n, k] mask)
            => (float[1, 4, n, 2] y, float[1, 4, n, k] scores) {{
            y, , , scores = Attention <softcap = 2.0, qk_matmul_output_mode = {mode}> (q, key, v, mask)
        }}""",
        23,
    )


def test_the_scores_of_attention_after_each_step() -> None:
    """Grouped heads, a softcap, and a mask that hides one key of one row, and all of another."""
    q, key, v = normal(1, 4, 3, 3), normal(1, 2, 5, 3), normal(1, 2, 5, 2)
    mask = normal(3, 5)
    mask[0, 4] = mask[1] = -np.inf
    key[:, :, 4] = 9
    found = [outputs(scores_model(mode), q=q, key=key, v=v, mask=mask) for mode in range(4)]
    assert len({y.tobytes() for y, _ in found}) == 1
    raw = q @ key.repeat(2, 1).swapaxes(2, 3) / np.sqrt(np.float32(3))
    capped = np.tanh(raw / 2) * 2
    powers = np.exp(capped + mask)
    weights = powers / np.maximum(powers.sum(-1, keepdims=True), 1e-30)
    for (_, scores), expected in zip(found, (raw, capped, capped + mask, weights), strict=True):
        np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)
    assert not found[3][1][:, :, 1].any()
    np.testing.assert_allclose(found[0][0], weights @ v.repeat(2, 1), rtol=1e-5, atol=1e-6)


def test_scores_after_a_step_that_there_is_not() -> None:
    with pytest.raises(VyreError, match=r"qk_matmul_output_mode is 4.*\n?.*Fix:"):
        vyre_onnx.load(scores_model(4))


@pytest.mark.parametrize("kind", ["int32", "int64", "uint32"])
def test_the_greatest_of_whole_numbers(kind: str) -> None:
    x = np.array([[3, 9, 9, 0], [7, 1, 7, 7]], kind)
    limits = np.iinfo(kind)
    x[0, 3], x[1, 1] = limits.min, limits.max
    for largest in (1, 0):
        model = parsed(
            f"""g ({kind}[n, 4] x) => ({kind}[n, 3] y, int64[n, 3] at) {{
                y, at = TopK <largest = {largest}> (x, k)
            }}""",
            k=np.array([3]),
        )
        y, at = outputs(model, x=x)
        order = np.argsort(~x if largest else x, 1, kind="stable")[:, :3]
        assert at.tolist() == order.tolist()
        assert y.tolist() == np.take_along_axis(x, order, 1).tolist()


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("exponents", [[[0, 1, 2], [5, 31, 64]], [[3.0], [3.0]], 7], ids=str)
def test_powers_of_whole_numbers_wrap(kind: str, exponents: Any) -> None:
    model = parsed(
        f"g ({kind}[1, 3] x) => ({kind}[n, m] y) {{ y = Pow(x, exponents) }}", exponents=np.array(exponents)
    )
    x = np.array([[-3, 7, 1234567]], kind)
    (found,) = outputs(model, x=x)
    bits = x.itemsize * 8
    powers = x.astype(object) ** np.array(exponents).astype(np.int64).astype(object)
    expected = (powers + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("exponent", "said"), [(-1, "with the exponent -1"), (0.5, "with the exponent 0.5"), (None, "from data")]
)
def test_other_powers_of_whole_numbers_are_refused(exponent: Any, said: str) -> None:
    given: dict[str, Any] = {} if exponent is None else {"b": np.array(exponent)}
    inputs = "int64[3] x, int64[3] b" if exponent is None else "int64[3] x"
    with pytest.raises(VyreError, match=rf"{said}.*\n?.*Fix:"):
        vyre_onnx.load(parsed(f"g ({inputs}) => (int64[3] y) {{ y = Pow(x, b) }}", **given))


def test_exponents_of_int64_beside_floats() -> None:
    model = parsed(
        "g (float[2] x, int64[2] b) => (float[2] y, float[2] z) { y = Pow(x, b)  z = Pow(x, large) }",
        large=np.array([1 << 32, 3]),
    )
    x = np.array([1.0, -2.0], np.float32)
    y, z = outputs(model, x=x, b=np.array([5, 3]))
    assert y.tolist() == z.tolist() == [1, -8]


def test_long_numbers_are_shifted() -> None:
    """By 64 and more, and by less than 0, the sign alone is left."""
    model = parsed(
        """g (int64[n] x, int64[n] b) => (int64[n] y, int64[n] z) {
            y = BitShift <direction = "LEFT"> (x, b)
            z = BitShift <direction = "RIGHT"> (x, b)
        }""",
        28,
    )
    x = np.array([-5, 1 << 40, -(1 << 63), 7, -1, -9, 9])
    y, z = outputs(model, x=x, b=np.array([62, 23, 63, 1, 64, -1, 1 << 40]))
    assert y.tolist() == [-(1 << 62), -(1 << 63), 0, 14, 0, 0, 0]
    assert z.tolist() == [-1, 1 << 17, -1, 3, -1, -1, 0]


def greatest_places(x: Any, step: int, before: int, gap: int, column: bool) -> tuple[Any, Any]:
    """Of windows of 3 by 2 over padding, one after another; both in the order of the elements."""
    shape = x.shape[2:]
    count = [(n + 2 * before - ((k - 1) * gap + 1)) // step + 1 for n, k in zip(shape, (3, 2), strict=True)]
    values, places = np.empty((*x.shape[:2], *count), x.dtype), np.empty((*x.shape[:2], *count), np.int64)
    for image, channel, i, j in np.ndindex(values.shape):
        rows = [i * step - before + k * gap for k in range(3)]
        columns = [j * step - before + k * gap for k in range(2)]
        inside = [(r, c) for r in rows for c in columns if 0 <= r < shape[0] and 0 <= c < shape[1]]
        seen = [x[image, channel, r, c] for r, c in inside]
        at = int(np.argmax(seen))  # NaN is the greatest here too
        r, c = inside[at]
        values[image, channel, i, j] = seen[at]
        flat = c * shape[0] + r if column else r * shape[1] + c
        places[image, channel, i, j] = (image * x.shape[1] + channel) * shape[0] * shape[1] + flat
    return values, places


@pytest.mark.parametrize(("step", "before", "gap"), [(1, 0, 1), (2, 1, 1), (1, 1, 2)])
@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("kind", [np.float32, np.int8])
def test_the_places_of_the_greatest(step: int, before: int, gap: int, column: int, kind: Any) -> None:
    """Equal numbers, NaN, and a corner of the least ones, which padding must not take the place of."""
    name = np.dtype(kind).name.replace("float32", "float")
    height = "h" if step == 1 else "6"
    model = parsed(
        f"""g ({name}[n, c, {height}, 5] x) => ({name}[n, c, i, j] y, int64[n, c, i, j] at) {{
            y, at = MaxPool <kernel_shape = [3, 2], strides = [{step}, {step}], storage_order = {column},
                pads = [{before}, {before}, {before}, {before}], dilations = [{gap}, {gap}]> (x)
        }}""",
    )
    x = RNG.integers(-3, 3, (2, 2, 6, 5)).astype(kind)
    least = -np.inf if kind is np.float32 else -128
    x[0, 0, :4, :3] = least
    if kind is np.float32:
        x[1, 1, 4, 2] = x[1, 1, 4, 3] = np.nan
    y, at = outputs(model, x=x)
    values, places = greatest_places(x, step, before, gap, bool(column))
    np.testing.assert_array_equal(y, values)
    np.testing.assert_array_equal(at, places)


def test_a_window_of_padding_alone_has_no_place() -> None:
    text = "y, at = MaxPool <kernel_shape = [2], pads = [2, 0]> (x)"
    model = parsed(f"g (float[n, c, w] x) => (float[n, c, v] y, int64[n, c, v] at) {{ {text} }}")
    _, at = outputs(model, x=np.array([[[3, 1, 2]]], np.float32))
    assert at.tolist() == [[[-1, 0, 0, 2]]]


def sampling(options: str, shape: tuple[int, ...]) -> Any:
    """Elements thrown back at the border."""
    sizes, outs = ", ".join(map(str, shape)), ", ".join(f"o{i}" for i in range(len(shape) - 2))
    return parsed(
        f"""g (float[{sizes}] x, float[n, {outs}, {len(shape) - 2}] grid) => (float[n, c, {outs}] y) {{
            y = GridSample <padding_mode = "reflection", {options}> (x, grid)
        }}""",
        20,
    )


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_lines_and_volumes_are_read_far_outside(mode: str, aligned: int) -> None:
    for shape in ((2, 1, 5), (1, 2, 3, 2, 4))[: 1 if mode == "cubic" else 2]:
        axes = len(shape) - 2
        model = sampling(f'mode = "{mode}", align_corners = {aligned}', shape)
        x, grid = normal(*shape), RNG.random((shape[0], *range(2, 2 + axes), axes)) * 18 - 9
        given = {"x": x, "grid": grid.astype(np.float32)}
        (found,) = outputs(model, **given)
        evaluator: Any = ReferenceEvaluator(model)
        np.testing.assert_allclose(found, evaluator.run(None, given)[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_a_line_of_one_element_is_that_element(mode: str) -> None:
    model = sampling(f'mode = "{mode}", align_corners = 1', (1, 1, 1))
    grid = np.array([[[-1], [0.3], [1], [7]]], np.float32)
    (found,) = outputs(model, x=np.array([[[4]]], np.float32), grid=grid)
    np.testing.assert_allclose(found, np.full((1, 1, 4), 4, np.float32), rtol=1e-6)
