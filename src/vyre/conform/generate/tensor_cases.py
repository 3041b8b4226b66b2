"""Graphs that every backend is tried with: each node on its own, with the shapes where kernels change.

A case is a graph, and lengths of its dynamic dimensions that are run one after another on one plan, so that a
length of the call before would show.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know.

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.graph.types import ValueType
from vyre.ir.types import DataType
from vyre.tensor import (
    concat,
    cummax,
    cumsum,
    exp,
    fma,
    fmax,
    matmul,
    pad,
    power,
    recurrence,
    scatter,
    take,
    take_along_axis,
    where,
    windows,
)
from vyre.tensor.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.graph.graph import Graph
    from vyre.tensor import Tensor

_T = DataType
F32, F16, BF16, F64 = _T.F32, _T.F16, _T.BF16, _T.F64


@dataclass(frozen=True, slots=True)
class TensorCase:
    """A graph and the lengths it is run with, in this order, on one plan."""

    subject: str
    graph: Graph
    lengths: tuple[Mapping[str, int], ...] = ({},)
    hidden: tuple[str, ...] = ()
    """Inputs of which a mask hides elements, whatever they are."""


def case(
    subject: str,
    function: Callable[..., Any],
    lengths: tuple[Mapping[str, int], ...] = ({},),
    /,
    hidden: tuple[str, ...] = (),
    **inputs: tuple[DataType, tuple[int | str, ...]],
) -> TensorCase:
    """A traced function of inputs of these types; `subject` is what a report calls it."""
    kinds = {name: ValueType(element, shape) for name, (element, shape) in inputs.items()}
    graph, _ = traced(subject, kinds, lambda tensors: function(**tensors))
    return TensorCase(subject, graph, lengths, hidden)


TWO = ({"n": 5}, {"n": 3})
"""Lengths of which the second is shorter: what is left from the first would show."""


def _products() -> list[TensorCase]:
    def plain(a: Tensor, b: Tensor) -> Tensor:
        return a @ b

    made = [
        case(f"float matmul {m}x{k}x{n}", plain, a=(F32, (m, k)), b=(F32, (k, n)))
        for m, k, n in ((1, 1, 1), (5, 7, 3), (1, 70, 17), (33, 19, 34), (16, 0, 4))
    ]
    return [
        *made,
        case("float matmul transposed", lambda a, b: a.T @ b.T, a=(F32, (7, 5)), b=(F32, (6, 7))),
        case("float matmul batched", plain, a=(F32, (3, 1, 4, 5)), b=(F32, (2, 5, 6))),
        case("float matmul sliced", lambda a: a[1:, ::2] @ a[:3, 1::2], a=(F32, (4, 6))),
        case("float matmul dynamic", plain, TWO, a=(F32, (4, "n")), b=(F32, ("n", 3))),
        case(
            "float matmul two roundings",
            lambda a, b: matmul(a, b, step="mul_add"),
            a=(F32, (4, 23)),
            b=(F32, (23, 5)),
        ),
        case(
            "float matmul exact",
            lambda a, b: matmul(a, b, accumulator="exact"),
            a=(F32, (3, 21)),
            b=(F32, (21, 4)),
        ),
        case(
            "float matmul masked",
            lambda a, b, m: matmul(a, b, mask=m),
            hidden=("b",),
            a=(F32, (4, 9)),
            b=(F32, (9, 5)),
            m=(_T.Bool, (4, 9)),
        ),
        case("float f16 matmul", plain, a=(F16, (5, 18)), b=(F16, (18, 4))),
        case("float bf16 matmul", plain, a=(BF16, (5, 18)), b=(BF16, (18, 4))),
        case("float f64 matmul", plain, a=(F64, (4, 11)), b=(F64, (11, 5))),
        case(
            "float f64 sums of f32 products",
            lambda a, b: matmul(a, b, accumulator="f64"),
            a=(F32, (4, 17)),
            b=(F32, (17, 5)),
        ),
        case("float beside integer matmul", plain, a=(_T.I8, (5, 19)), b=(_T.I8, (19, 4))),
    ]


def _reductions() -> list[TensorCase]:
    def joined(way: str) -> Callable[[Tensor], Tensor]:
        return lambda x: getattr(x, way)(-1)

    return [
        *(
            case(f"float tree sum of {length}", joined("sum"), x=(F32, (3, length)))
            for length in (1, 2, 3, 31, 64, 65, 257, 1030)
        ),
        *(
            case(f"float {way}", joined(way), x=(F32, (4, 37)))
            for way in ("max", "min", "argmax", "argmin", "prod")
        ),
        case("float strict sum", lambda x: x.sum(-1, order="strict"), x=(F32, (3, 100))),
        case("float sum of columns", lambda x: x.sum(0), x=(F32, (37, 5))),
        case("float sum of two axes", lambda x: x.sum((0, 2)), x=(F32, (5, 3, 7))),
        case("float sum of all", lambda x: x.sum(), x=(F32, (9, 11))),
        case("float sum dynamic", lambda x: x.sum(0), TWO, x=(F32, ("n", 3))),
        case("float mean dynamic", lambda x: x.mean(0), TWO, x=(F32, ("n", 3))),
        case("float f16 sum", lambda x: x.sum(-1), x=(F16, (3, 77))),
        case("float bf16 mean", lambda x: x.mean(-1), x=(BF16, (3, 40))),
        case("float f16 sum in f16", lambda x: x.sum(-1, accumulator="f16"), x=(F16, (3, 77))),
        case("float prefix sums", lambda x: cumsum(x, -1), x=(F32, (3, 41))),
        case("float prefix maxima", lambda x: cummax(x, 0), x=(F32, (9, 4))),
        case("float recurrence", lambda a, b: recurrence(a, b, 1), a=(F32, (3, 21)), b=(F32, (3, 21))),
    ]


def _elements() -> list[TensorCase]:
    halves = (F32, F16, BF16)
    return [
        *(
            case(
                f"float {kind.value.lower()} arithmetic",
                lambda x, y: (x + y, x * y, x / y, fma(x, y, x), -x, fmax(x, y)),
                x=(kind, (5, 8)),
                y=(kind, (5, 8)),
            )
            for kind in halves
        ),
        case("float chain", lambda x, y: ((x * y + x) * y - x) * 0.5 + y, x=(F32, (40,)), y=(F32, (40,))),
        case("float functions", lambda x, y: (exp(x), power(abs(x), y)), x=(F32, (4, 9)), y=(F32, (4, 9))),
        case("float chosen", lambda x, y: where(x > y, x, y * 2), x=(F32, (6, 5)), y=(F32, (5,))),
        case(
            "float casts",
            lambda x: (x.astype("f16").astype("f32"), x.astype("bf16"), x.astype("i32"), x.astype("u8")),
            x=(F32, (50,)),
        ),
        case("float of integers", lambda x: x.astype("f32") * 0.25, x=(_T.I32, (30,))),
        case(
            "float rounded in between", lambda x, y: (x.astype("f16") * y.astype("f16")).astype("f32") + x,
            x=(F32, (30,)), y=(F32, (30,)),
        ),
    ]  # fmt: skip


def _places() -> list[TensorCase]:
    grid = (F32, (4, 6))
    return [
        case("float transposed", lambda x: x.T + 1, x=grid),
        case("float axes in another order", lambda x: x.transpose(2, 0, 1) * 2, x=(F32, (3, 4, 5))),
        case("float sliced", lambda x: x[1:, 1::2] - x[:3, ::2], x=grid),
        case("float broadcast", lambda x, y: x * y, x=(F32, (4, 1)), y=(F32, (3, 1, 6))),
        case("float reshaped with a copy", lambda x: x.T.reshape(3, 8) + x.reshape(3, 8), x=grid),
        case("float windows", lambda x: windows(x, 1, 3, 1, 2).sum(-1), x=grid),
        case("float padded", lambda x: pad(x, [(1, 2), (0, 3)], 1.5) * 2, x=grid),
        case("float put together", lambda x, y: concat([x, y, x], 1) + 1, x=grid, y=(F32, (4, 3))),
        case("float grown", lambda x, y: concat([x, y], 0) * 2, TWO, x=(F32, ("n", 3)), y=(F32, (2, 3))),
        case("float gathered", lambda x, i: take(x, i) + 1, x=grid, i=(_T.U32, (7,))),
        case("float gathered by 64 bits", lambda x, i: take(x, i, 1), x=grid, i=(_T.I64, (2, 3))),
        case("float picked", lambda x, i: take_along_axis(x, i, 1), x=grid, i=(_T.I32, (4, 3))),
        case("float scattered", lambda x, i, u: scatter(x, i, u), x=grid, i=(_T.U32, (5,)), u=(F32, (5, 6))),
        case(
            "float scattered sums",
            lambda x, i, u: scatter(x, i, u, duplicates="add"),
            x=grid,
            i=(_T.I32, (5,)),
            u=(F32, (5, 6)),
        ),
        case("float dynamic view", lambda x: x[1:].T + 1, TWO, x=(F32, ("n", 3))),
    ]


def _long() -> list[TensorCase]:
    """Rows so long that kernels change: sums in two stages, prefixes in blocks, products of many steps."""

    def product(a: Tensor, b: Tensor) -> Tensor:
        return a @ b

    return [
        case("float matmul 2x1100x3", product, a=(F32, (2, 1100)), b=(F32, (1100, 3))),
        case("float f16 matmul 1x300x2", product, a=(F16, (1, 300)), b=(F16, (300, 2))),
        case("float bf16 matmul 1x300x2", product, a=(BF16, (1, 300)), b=(BF16, (300, 2))),
        case("float tree sum in two stages", lambda x: x.sum(), x=(F32, (65_600,))),
        case("float beside integer prefix sums in blocks", lambda x: cumsum(x, -1), x=(_T.U32, (1, 2100))),
    ]


def _edges() -> list[TensorCase]:
    """What is joined where there is nothing, or nothing but -0."""
    return [
        case(
            "float joined from nothing",
            lambda x: (x.sum(0), x.prod(0), x.max(0), x.min(0), x.argmax(0)),
            ({"n": 2}, {"n": 0}),
            x=(F32, ("n", 3)),
        ),
        case(
            "float tree sums of -0",
            lambda x: tuple(where(x[:, :k] > x[:, :k], x[:, :k], -0.0).sum(-1) for k in (5, 13, 257)),
            x=(F32, (2, 257)),
        ),
    ]


@cache
def tensor_cases() -> tuple[TensorCase, ...]:
    """All of them; a case keeps its number, so new ones are added at the end."""
    return (*_elements(), *_places(), *_reductions(), *_products(), *_long(), *_edges())
