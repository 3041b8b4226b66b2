"""Operands for float operations: the same everywhere, of every shape, and where rounding is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.conform.generate.cases import cases, layout_of
from vyre.conform.generate.float_streams import LANDMARKS
from vyre.conform.oracle.floats.layout import F16, F32, HEAD, LAYOUTS, Layout, doubles, is_nan
from vyre.conform.registry import spec
from vyre.conform.spec.program import WORKGROUP
from vyre.conform.verify.made import maker_program
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ("float.add", "float.f16.fma", "float.bf16.sqrt", "float.f64.mul", "float.sin")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["adversarial", "correlated"])
def test_host_and_program_make_the_same_cases(name: str, kind: str) -> None:
    stream = cases(kind, spec(name), 7)
    count, start = 64, (1 << 32) - 64
    wanted = stream.block(start, count)
    assert [tuple(int(c[k]) for c in wanted) for k in range(count)] == [
        stream.case(start + k) for k in range(count)
    ]
    buffers = {f"w{k}": bytes(4 * count) for k in range(stream.words)}
    buffers["start"] = np.array([start, 0], np.uint32).tobytes()
    made = run(maker_program(stream), buffers, (-(-count // WORKGROUP[0]), 1, 1)).buffers
    for k, column in enumerate(wanted):
        assert np.frombuffer(made[f"w{k}"], np.uint32).tolist() == column.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_words_stay_within_their_format(name: str) -> None:
    for kind in ("adversarial", "correlated"):
        stream = cases(kind, spec(name), 7)
        for column, mask in zip(stream.block(0, 4096), stream.masks, strict=True):
            assert not np.any(column & np.uint32(~mask & 0xFFFF_FFFF))


def heads(name: str, kind: str, count: int) -> tuple[Layout, Any]:
    found = spec(name)
    of = layout_of(found)
    assert of is not None
    block = cases(kind, found, 7).block(0, count)
    return of, block[1 if of is HEAD else 0]


SHAPES: list[tuple[str, Callable[[Layout, Any], Any]]] = [
    ("zero", lambda of, x: x & of.magnitude == 0),
    ("subnormal", lambda of, x: (x & of.infinity == 0) & (x & of.magnitude != 0)),
    ("infinity", lambda of, x: x & of.magnitude == of.infinity),
    ("NaN", is_nan),
    ("largest", lambda of, x: x & of.magnitude == of.infinity - 1),
    ("smallest normal", lambda of, x: x & of.magnitude == 1 << of.fraction),
    ("one", lambda of, x: x & of.magnitude == of.one),
    ("next to one", lambda of, x: x & of.magnitude == of.one + 1),
    ("power of two", lambda of, x: (x & ((1 << of.fraction) - 1) == 0) & (x & of.magnitude != 0)),
]


@pytest.mark.parametrize("name", ["float.exp", "float.f16.add", "float.bf16.add", "float.f64.sqrt"])
def test_every_shape_is_met_in_both_signs(name: str) -> None:
    of, column = heads(name, "adversarial", 1 << 16)
    for title, shape in SHAPES:
        members = column[shape(of, column)]
        assert np.any(members & np.uint32(of.sign)), title
        assert np.any(~members & np.uint32(of.sign)), title


def test_ties_between_integers_are_met() -> None:
    for name in ("float.round", "float.f16.add"):
        of, column = heads(name, "adversarial", 1 << 16)
        values = doubles(of, column)
        whole = np.isfinite(values) & (np.abs(values) < 1 << of.fraction)
        assert np.count_nonzero(values[whole] % 1 == 0.5) > 100


def ties(kind: str) -> int:
    """Sums that need exactly one bit more than the format has."""
    a, b = cases(kind, spec("float.add"), 7).block(0, 1 << 14)
    with np.errstate(all="ignore"):
        exact = doubles(F32, a) + doubles(F32, b)
        normal = np.isfinite(exact) & (np.abs(exact) > 2.0**-100) & (np.abs(exact) < 2.0**100)
    return int(np.count_nonzero(exact[normal].view(np.uint64) & np.uint64((1 << 29) - 1) == 1 << 28))


def test_related_operands_tie_where_random_ones_rarely_do() -> None:
    assert ties("correlated") > 2000 > 20 * ties("random")


def test_products_over_and_under_the_range_and_cancelled_sums_are_met() -> None:
    a, b = cases("correlated", spec("float.f16.mul"), 7).block(0, 1 << 14)
    with np.errstate(all="ignore"):
        product = np.abs(doubles(F16, a) * doubles(F16, b))
        total = np.abs(doubles(F16, a) + doubles(F16, b))
    finite = np.isfinite(product)
    assert np.count_nonzero((product[finite] > 32768) & (product[finite] < 131072)) > 100
    assert np.count_nonzero((product[finite] < 2.0**-13) & (product[finite] > 2.0**-15)) > 100
    assert np.count_nonzero(total == 0) > 100


def test_landmarks_are_reached_with_their_neighbours() -> None:
    assert len(LANDMARKS) == 32
    (column,) = cases("correlated", spec("float.exp"), 7).block(0, 1 << 16)
    overflow = np.float32(88.722839).view(np.uint32)
    near = column[np.abs(column.astype(np.int64) - int(overflow)) < 8]
    assert len(np.unique(near)) == 15
    assert layout_of(spec("primitive.math.add")) is None
    assert layout_of(spec("float.convert.u32.f32")) is None
    assert layout_of(spec("float.convert.f16.u32.floor")) is LAYOUTS["F16"]
