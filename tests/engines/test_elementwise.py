"""Elementwise programs of several elements an invocation: the same results as of one, at every length."""

from __future__ import annotations

import re

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


def agrees(backend: str, lengths: tuple[int, int, int], *, lanes: int, items: int, more: int = 0) -> bool:
    """Whether buffers of these lengths give the right bytes; `more` workgroups find nothing to do."""
    rng = np.random.default_rng(sum(lengths))
    length = lengths[2]
    a, b = (rng.integers(0, 1 << 32, n, dtype=np.uint32) for n in lengths[:2])
    program = elementwise(mixed, U32, U32, output=U32, lanes=lanes, items=items)
    groups = max(workgroups(length, lanes=lanes, items=items), 1) + more
    given = {"a": a, "b": b, "out": np.zeros(length, np.uint32)}
    out = vyre.dispatch(program, given, backend=backend, workgroups=groups)["out"]
    a, b = (np.concatenate([x, np.zeros(length, np.uint32)])[:length] for x in (a, b))
    return np.array_equal(out, (a ^ b) * np.uint32(3) + np.uint32(1))


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 127, 128, 129, 1000])
def test_every_length(backend: str, length: int) -> None:
    assert agrees(backend, (length, length, length), lanes=16, items=2)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize(("lanes", "items"), [(16, 1), (8, 4), (8, 3), (12, 2), (1, 1)])
def test_every_shape(backend: str, lanes: int, items: int) -> None:
    whole = lanes * items
    for length in (0, 1, whole - 1, whole, whole + 1, 2 * whole + lanes):
        assert agrees(backend, (length, length, length), lanes=lanes, items=items, more=2)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@pytest.mark.parametrize(
    "lengths", [(70, 20, 100), (0, 100, 99), (200, 64, 65), (63, 300, 128), (64, 65, 63)]
)
def test_buffers_of_different_lengths(backend: str, lengths: tuple[int, int, int]) -> None:
    for items in (1, 3, 4):
        assert agrees(backend, lengths, lanes=16, items=items)


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


def texts(language: str, *, items: int) -> tuple[str, str]:
    """The condition of the branch inside of the buffers, and the branch."""
    text = lower(elementwise(mixed, U32, U32, output=U32, items=items), language).text
    condition, _, rest = text[text.index("  if (", text.index("vyre_main(")) :].partition("{\n")
    return condition, rest[: rest.index("} else {")]


def places(language: str, name: str) -> list[str]:
    if language == "wgsl":
        return [f"{name}(v_i", *(f"{name}((v_i + {k}u)" for k in (256, 512, 768))]
    return [f"{name}[v_i]", *(f"({name} + v_i)[{k}u]" for k in (256, 512, 768))]


@pytest.mark.parametrize("language", ["cuda", "opencl", "wgsl"])
def test_inside_the_buffers_nothing_is_checked_and_all_is_loaded_first(language: str) -> None:
    condition, inside = texts(language, items=4)
    get, put = ("get_", "put_") if language == "wgsl" else ("b_", "b_")
    loads = [inside.index(place) for name in "ab" for place in places(language, f"{get}{name}")]
    stores = [inside.index(place) for place in places(language, f"{put}out")]
    assert max(loads) < min(stores)
    assert condition.count("v_i") == condition.count("v_i + 768u") == 3


@pytest.mark.parametrize("items", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("language", ["cuda", "opencl", "wgsl"])
def test_every_access_inside_is_proved(language: str, items: int) -> None:
    condition, inside = texts(language, items=items)
    assert not re.search(r"(load|store)_", inside)
    assert inside.count("_out") == items
    assert condition.count(">") == 3 * (items if items & (items - 1) else 1)


@pytest.mark.parametrize("items", [1, 3, 4])
def test_llvm_checks_nothing_inside_the_buffers(items: int) -> None:
    text = lower(elementwise(mixed, U32, U32, output=U32, items=items), "llvm").text
    guarded = text[text.index("_guarded(") :]
    guarded = guarded[: guarded.index("\n}\n")]
    assert len(re.findall(r"%ok[.\d]* = icmp", guarded)) == 3, "the loop at the end checks each buffer once"


@pytest.mark.parametrize(("count", "items"), [(0, 4), (27, 4), (1, 0)])
def test_impossible_shapes_are_refused(count: int, items: int) -> None:
    with pytest.raises(VyreError, match="not possible"):
        elementwise(mixed, *[U32] * count, output=U32, items=items)
