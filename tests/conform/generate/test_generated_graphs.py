"""Random graphs: valid, alive, of every node and element, small, and a function of the seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
from vyre.graph import (
    NODES,
    Accumulator,
    Broadcast,
    Concat,
    Constant,
    Duplicates,
    ElementWise,
    Graph,
    Input,
    Joining,
    MatMul,
    MulStep,
    Pad,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Slice,
    Transpose,
)
from vyre.graph.types import ELEMENTS
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType
from vyre.reference.floats import FORMATS
from vyre.reference.tensors import evaluate

GRAPHS = 600


@cache
def graphs() -> list[Graph]:
    return [random_graph(seed) for seed in range(GRAPHS)]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_graphs_validate_and_evaluate(block: int) -> None:
    for seed in range(250 * block, 250 * (block + 1)):
        graph = random_graph(seed)
        sizes = random_sizes(graph, seed)[seed % 2]
        got = evaluate(graph, random_inputs(graph, sizes, seed))
        assert got.keys() == set(graph.outputs)
        assert all(graph.types[name].resolved(sizes) == value.shape for name, value in got.items())


def test_every_value_reaches_an_output() -> None:
    for graph in graphs():
        needed = set(graph.outputs)
        for name, node in reversed(graph.values):
            assert name in needed
            needed.update(node.operands)


def test_every_node_and_element_occurs() -> None:
    nodes = Counter(type(node) for graph in graphs() for _, node in graph.values)
    assert {kind: nodes[kind] for kind in NODES if nodes[kind] < 20} == {}
    computed = Counter(
        (type(node), graph.types[name].element) for graph in graphs() for name, node in graph.values
    )
    for kind in (Input, Constant, ElementWise, Broadcast, Reshape, Concat, Transpose):
        assert [element for element in ELEMENTS if not computed[kind, element]] == []


def test_every_way_to_join_occurs() -> None:
    reductions = {(n.joining, n.accumulator.is_float) for g in graphs() for n in g.nodes.values()
                  if isinstance(n, Reduce)}  # fmt: skip
    wanted = {(joining, kept) for joining in Joining for kept in (False, True)}
    wanted -= {(j, False) for j in (Joining.FMin, Joining.FMax)}
    wanted -= {(j, True) for j in (Joining.And, Joining.Or, Joining.Xor)}
    assert reductions == wanted
    accumulators = {n.accumulator for g in graphs() for n in g.nodes.values() if isinstance(n, Reduce)}
    floats = {DataType.F32, DataType.F64, DataType.F16, DataType.BF16}
    assert accumulators == {DataType.U32, DataType.I32, *floats}
    assert {n.order for g in graphs() for n in g.nodes.values() if isinstance(n, Reduce)} == set(ReduceOrder)
    assert {n.exclusive for g in graphs() for n in g.nodes.values() if isinstance(n, Scan)} == {False, True}
    products = {(n.accumulator, n.step, n.mask is None) for g in graphs() for n in g.nodes.values()
                if isinstance(n, MatMul)}  # fmt: skip
    assert {a for a, _, masked in products if masked} == {a for a, _, masked in products if not masked}
    assert {a for a, _, _ in products} == set(Accumulator)
    assert {step for _, step, _ in products} == set(MulStep)
    scatters = {n.duplicates for g in graphs() for n in g.nodes.values() if isinstance(n, Scatter)}
    assert scatters == set(Duplicates)


def test_shapes_of_every_kind_occur() -> None:
    types = [kind for graph in graphs() for kind in graph.types.values()]
    assert {kind.rank for kind in types} >= {0, 1, 2, 3, 4}
    sizes = {size for kind in types for size in kind.shape}
    assert {0, 1} <= {size.static for size in sizes}
    assert any(len(size.terms) > 1 for size in sizes)
    dynamic = [node for graph in graphs() for node in graph.nodes.values()
               if isinstance(node, Slice | Pad) and graph.dims]  # fmt: skip
    assert any(size.names for node in dynamic if isinstance(node, Slice) for size in node.starts)
    assert any(size.names for node in dynamic if isinstance(node, Pad) for size in node.before)
    views = [(node, graph.nodes[node.operands[0]]) for graph in graphs() for node in graph.nodes.values()
             if node.is_view]  # fmt: skip
    assert sum(below.is_view for _, below in views) > 50
    assert any(isinstance(node, Reshape) and isinstance(below, Transpose) for node, below in views)


def test_values_are_shared_and_outputs_several() -> None:
    uses = [Counter(o for n in graph.nodes.values() for o in n.operands) for graph in graphs()]
    assert sum(max(count.values()) > 1 for count in uses if count) > GRAPHS // 4
    assert sum(len(graph.outputs) > 1 for graph in graphs()) > GRAPHS // 4
    assert any(name in count for graph, count in zip(graphs(), uses, strict=True) for name in graph.outputs)
    assert any(isinstance(graph.nodes[name], Input) for graph in graphs() for name in graph.outputs)


def test_inputs_have_specials_ties_and_indices_on_both_sides() -> None:
    found: Counter[str] = Counter()
    for seed, graph in enumerate(graphs()[:200]):
        for name, given in random_inputs(graph, random_sizes(graph, seed)[0], seed).items():
            element = graph.types[name].element
            if element is DataType.Bool:
                assert set(given.bits) <= {0, 1}
            if element is DataType.I32:
                found["negative index"] += (1 << 32) - 1 in given.bits
                found["index"] += 3 in given.bits
            if not element.is_float:
                continue
            form = FORMATS[element]
            magnitudes = [bits & form.magnitude for bits in given.bits]
            found["nan"] += any(m > form.infinity for m in magnitudes)
            found["inf"] += form.infinity in magnitudes
            found["minus zero"] += form.sign in given.bits
            found["subnormal"] += any(0 < m < form.hidden for m in magnitudes)
            found["opposite"] += any(bits ^ form.sign in given.bits for bits in given.bits)
            found["plain"] += bool(magnitudes) and max(magnitudes) < form.infinity
    assert min(found.values()) > 5
    assert found["plain"] > found["nan"]


def test_two_lengths_of_every_dimension() -> None:
    pairs = [random_sizes(graph, seed) for seed, graph in enumerate(graphs())]
    assert all(first.keys() == second.keys() for first, second in pairs)
    assert sum(first != second for first, second in pairs) > GRAPHS // 2
    assert {0, 1} <= {length for pair in pairs for sizes in pair for length in sizes.values()}


def test_elements_that_are_not_asked_for_do_not_occur() -> None:
    few = [element for element in ELEMENTS if element not in (DataType.F64, DataType.BF16)]
    for seed in range(100):
        graph = random_graph(seed, elements=few)
        assert {kind.element for kind in graph.types.values()} <= set(few)
        kept = [n.accumulator for n in graph.nodes.values() if isinstance(n, Reduce | Scan)]
        assert not {DataType.F64, DataType.BF16}.intersection(kept)


_DIGEST = """
import hashlib
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
made = [(g := random_graph(s), random_inputs(g, random_sizes(g, s)[0], s)) for s in range(40)]
print(hashlib.sha256(repr(made).encode()).hexdigest())
"""


def test_a_graph_is_a_function_of_its_seed() -> None:
    made = [(g := random_graph(s), random_inputs(g, random_sizes(g, s)[0], s)) for s in range(40)]
    here = hashlib.sha256(repr(made).encode()).hexdigest()
    for order in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": order}
        run = subprocess.run(
            [sys.executable, "-c", _DIGEST], env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == here
    assert len({repr(graph) for graph in graphs()[:100]}) == 100
