"""Loads and stores have as many uniform cases as other operations, in buffers that many of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.conform.verify.runs import certify
from tests.wrong import Right
from vyre.conform.registry import specs
from vyre.conform.spec.levels import WITNESSES
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import graph_of
from vyre.conform.verify.cases import LENGTHS, LONG_FROM, LONG_LENGTHS, is_memory, kind_of, kinds
from vyre.conform.verify.rounds import _rounds
from vyre.ir.expr import Expr, InvocationId, LitU32, Load, Select

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = [s.id for s in specs() if is_memory(s)]


class FarLoads(Right):
    """A load from behind the first hundred thousand elements has its lowest bit changed."""

    name = "far-loads"

    def fault(self, expr: Expr) -> Expr:
        if not isinstance(expr, Load) or expr.buffer != "memory" or isinstance(expr.index, InvocationId):
            return expr
        return expr ^ Select(expr.index >= 100_000, LitU32(1), LitU32(0))


@pytest.mark.parametrize("op", MEMORY)
def test_the_plan_has_a_million_uniform_cases_of_each(op: str) -> None:
    counts = {k.name: k.count for k in kinds(graph_of(op), make_plan("x"))}
    assert counts["random"] >= WITNESSES
    assert {k.name: k.count for k in kinds(graph_of(op), make_plan("x", cases=64))}["random"] == 64


@pytest.mark.parametrize("op", MEMORY)
def test_cases_with_old_numbers_are_what_they_were(op: str) -> None:
    kind = kind_of(graph_of(op), "random", make_plan("x"))
    assert set(kind.block(0, LONG_FROM)[1].tolist()) <= set(LENGTHS.tolist())
    later = kind.block(LONG_FROM, 1 << 15)
    lengths, counts = np.unique(later[1], return_counts=True)
    assert set(LONG_LENGTHS.tolist()) < set(lengths.tolist()) <= {*LONG_LENGTHS.tolist(), *LENGTHS.tolist()}
    assert counts[np.isin(lengths, LONG_LENGTHS)].sum() == (1 << 15) * 255 // 256
    inside = later[0] < later[1]
    assert 0.4 < inside.mean() < 0.6


def one_by_one(touched: list[Any], size: int) -> list[list[int]]:
    """The rounds as they are meant: a case comes after all earlier ones that touch an element of its own."""
    last = np.zeros(size, np.intp)
    number: list[int] = []
    for case in range(len(touched[0])):
        mine = {int(t[case]) for t in touched if t[case] < size}
        number.append(max((int(last[e]) for e in mine), default=0))
        for e in mine:
            last[e] = number[-1] + 1
    return [[c for c, n in enumerate(number) if n == turn] for turn in range(max(number, default=-1) + 1)]


@pytest.mark.parametrize("size", [1, 2, 33, 257])
@pytest.mark.parametrize("ways", [1, 2])
def test_no_two_cases_of_a_round_touch_an_element(size: int, ways: int) -> None:
    rng = np.random.default_rng(size)
    touched = [rng.integers(0, size + 3, 400, dtype=np.uint32) for _ in range(ways)]
    assert [r.tolist() for r in _rounds(touched, size)] == one_by_one(touched, size)
    assert _rounds([t[:0] for t in touched], size) == []


def test_a_fault_far_into_a_buffer_is_found(tmp_path: Path) -> None:
    results = certify(FarLoads(), tmp_path, ops=("memory.load.u32",), cases=1 << 17)
    (op,) = results.ops
    assert op.status == "failed"
    failure = next(f for f in results.failures if f.kind == "value")
    assert int(failure.inputs[0], 16) == 100_000
