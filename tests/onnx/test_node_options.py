"""What nodes give besides their first output, and the ways to compute that few models ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.onnx.test_exported import parsed
from vyre import onnx as vyre_onnx
from vyre.backends.registry import get
from vyre.errors import BackendUnavailable, VyreError

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
