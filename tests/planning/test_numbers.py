"""Indices that are folded while a kernel is written are what the kernel would compute."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.graph import Graph
from vyre.ir.expr import LitU32
from vyre.planning import plan_graph, run_graph
from vyre.planning.kernels.site import WrittenLater
from vyre.planning.numbers import plus, times

FAR = """vyre graph 1
x = input Bool[m, 1, 2, seq]
far = constant U32[] { 0xffffffff }
where = broadcast(far) shape [1]
taken = gather(x, where) axis 0
turned = transpose(taken) axes [2, 3, 1, 0]
output turned
"""


def test_sums_and_products_of_literals_wrap() -> None:
    assert plus(LitU32(0xFFFF_FFFF), LitU32(2)) is LitU32(1)
    assert times(LitU32(0x8000_0001), LitU32(6)) is LitU32(6)


@pytest.mark.parametrize("fuse", [True, False])
def test_a_constant_index_far_out_of_range_gives_zeros(fuse: bool) -> None:
    plan = plan_graph(Graph.from_text(FAR), fuse=fuse)
    got = run_graph(plan, {"x": np.ones((9, 1, 2, 3), bool)}, backend="cpu")["turned"]
    assert got.shape == (2, 3, 1, 1)
    assert not got.any()


def test_a_kernel_is_written_when_it_is_asked_for_and_once() -> None:
    written: list[str] = []

    def write() -> object:
        written.append("once")
        return "drafted"

    later = WrittenLater(write)  # pyright: ignore[reportArgumentType] - a stand-in for a kernel
    assert written == []
    assert later() == later() == "drafted"
    assert written == ["once"]
