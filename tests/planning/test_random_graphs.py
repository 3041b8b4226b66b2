"""Random graphs, planned and run at two lengths, give the bits of the evaluator, fused and unfused."""

from __future__ import annotations

import pytest

from tests.planning.compared import require_same
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes


@pytest.mark.parametrize("seed", [*range(12), 431])
def test_random_graphs_agree(seed: int) -> None:
    graph = random_graph(seed)
    for sizes in random_sizes(graph, seed):
        require_same(graph, random_inputs(graph, sizes, seed))
