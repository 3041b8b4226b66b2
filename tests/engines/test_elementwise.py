"""Elementwise programs of several elements an invocation: the same results as of one, at every length."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre.engines import elementwise, workgroups
from vyre.errors import VyreError
from vyre.ir.expr import BinOp, Expr, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.lower.languages import lower

U32, F32 = DataType.U32, DataType.F32


def shifted(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FAdd, UnOp(UnaryOp.FExp, a), b)


def mixed(a: Expr, b: Expr) -> Expr:
    return (a ^ b) * 3 + 1


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 127, 128, 129, 1000])
def test_every_length(backend: str, length: int) -> None:
    rng = np.random.default_rng(length)
    a, b = (rng.integers(0, 1 << 32, length, dtype=np.uint32) for _ in range(2))
    program = elementwise(mixed, U32, U32, output=U32, lanes=16, items=2)
    groups = max(workgroups(length, lanes=16, items=2), 1)
    given = {"a": a, "b": b, "out": np.zeros(length, np.uint32)}
    out = vyre.dispatch(program, given, backend=backend, workgroups=groups)["out"]
    assert np.array_equal(out, (a ^ b) * np.uint32(3) + np.uint32(1))


def test_a_short_input_is_continued_with_zeros() -> None:
    program = elementwise(mixed, U32, U32, output=U32, lanes=16, items=4)
    given = {"a": np.full(70, 5, np.uint32), "b": np.zeros(20, np.uint32), "out": np.zeros(100, np.uint32)}
    out = vyre.dispatch(program, given, backend="cpu", workgroups=workgroups(100, lanes=16))["out"]
    assert out.tolist() == [16] * 70 + [1] * 30


def test_floats() -> None:
    x = np.random.default_rng(1).standard_normal(5000).astype(np.float32)
    program = elementwise(shifted, F32, F32, output=F32)
    given = {"a": x, "b": x, "out": np.zeros_like(x)}
    out = vyre.dispatch(program, given, backend="cpu", workgroups=workgroups(x.size))["out"]
    assert np.array_equal(out, np.exp(x.astype(np.float64)).astype(np.float32) + x)


def test_inside_the_buffers_nothing_is_checked_and_all_is_loaded_first() -> None:
    text = lower(elementwise(mixed, U32, U32, output=U32), "cuda").text
    inside = text[text.index(") {\n    u32 v_a_0") : text.index("} else {")]
    loads = [inside.index(f"= b_{name}[v_i_{k}]") for name in "ab" for k in range(4)]
    stores = [inside.index(f"b_out[v_i_{k}] =") for k in range(4)]
    assert max(loads) < min(stores)
    assert "load_1" not in inside
    assert "store_1" not in inside


@pytest.mark.parametrize(("count", "items"), [(0, 4), (27, 4), (1, 0)])
def test_impossible_shapes_are_refused(count: int, items: int) -> None:
    with pytest.raises(VyreError, match="not possible"):
        elementwise(mixed, *[U32] * count, output=U32, items=items)
