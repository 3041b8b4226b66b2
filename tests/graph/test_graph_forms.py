"""Every graph of the table is valid, and comes back from text and from bytes as it was."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from tests.graph.graph_table import GRAPHS, NODE_GRAPHS, X, over_x, typed
from vyre.graph import NODES, Copy, ElementWise, Graph, Input, Size, ValueType
from vyre.graph.fields import FIELDS, FieldKind
from vyre.ir import expr as e
from vyre.ir.types import DataType
from vyre.text.graph_parser import usage
from vyre.text.graph_printer import WORDS
from vyre.wire.graph_tags import NODES as TAGS


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_comes_back_from_both_forms(name: str) -> None:
    graph = GRAPHS[name]
    assert set(graph.types) == {value for value, _ in graph.values}
    text, data = graph.to_text(), graph.to_wire()
    assert Graph.from_text(text) == graph
    assert Graph.from_text(text).to_text() == text
    assert Graph.from_wire(data) == graph
    assert Graph.from_wire(data).to_wire() == data
    assert pickle.loads(pickle.dumps(graph)) == graph


def test_every_node_has_every_form() -> None:
    """A node that is added to NODES and forgotten in a form is seen here."""
    assert set(NODE_GRAPHS) == {cls.__name__ for cls in NODES}
    for cls in NODES:
        assert any(isinstance(node, cls) for _, node in NODE_GRAPHS[cls.__name__].values)
    assert set(FIELDS) == set(WORDS) == set(TAGS) == set(NODES)
    for cls in NODES:
        assert [field.name for field in FIELDS[cls]] == [field.name for field in dataclasses.fields(cls)]
        assert usage(cls).startswith(WORDS[cls])


def test_a_flag_can_be_left_unsaid() -> None:
    """The text form says a flag by its word, so that none can mean anything but False."""
    flags = [field for fields in FIELDS.values() for field in fields if field.kind is FieldKind.Flag]
    assert flags
    assert all(field.default is False for field in flags)


def test_every_field_is_said_in_the_text() -> None:
    """Two graphs that differ in one field alone print other texts and write other bytes."""
    seen: dict[str, Graph] = {}
    for graph in GRAPHS.values():
        assert seen.setdefault(graph.to_text(), graph) == graph
    assert len({graph.to_wire() for graph in seen.values()}) == len(seen)


@pytest.mark.parametrize(
    "name", ["in", "let", "output", "exclusive", "stride", "axis", "größe", "_", "input", "vyre", "x" * 1000]
)
def test_a_value_may_have_any_name(name: str) -> None:
    """The words of the grammar too: what a word means, its place tells."""
    values = [
        ("x", X),
        ("first", GRAPHS["Windows"].nodes["y"]),
        (name, Copy("x")),
        ("second", GRAPHS["Scan"].nodes["y"]),
    ]
    graph = Graph(values, [name, name])
    assert Graph.from_text(graph.to_text()) == graph
    assert Graph.from_wire(graph.to_wire()) == graph
    dims = Graph({"x": Input(ValueType(DataType.F32, (Size(name) * 3 - 1,)))}, ["x"])
    assert Graph.from_text(dims.to_text()) == dims
    assert Graph.from_wire(dims.to_wire()) == dims


def test_what_is_invalid_has_forms_too() -> None:
    """A wrong graph can be shipped in a bug report."""
    wrong = Graph([("x", X), ("x", Copy("nowhere")), ("a b\n`", Copy("x"))], ["missing", ""])
    assert Graph.from_text(wrong.to_text()) == wrong
    assert Graph.from_wire(wrong.to_wire()) == wrong


def test_an_expression_of_any_kind_has_forms() -> None:
    for expr in (
        e.Load("b", e.Var("x0")),
        e.InvocationId(0),
        e.Select(e.LitBool(True), e.Var("x0"), e.Var("q")),
    ):
        graph = over_x(ElementWise(expr, ("x",), DataType.F32))
        assert Graph.from_text(graph.to_text()) == graph
        assert Graph.from_wire(graph.to_wire()) == graph


def test_expressions_are_written_once() -> None:
    """Two values that share an expression share its entries, and the bytes are still canonical."""
    expr = e.Var("x0")
    for _ in range(8):
        expr = e.FMulAdd(expr, e.Var("x0"), e.Var("x0"))
    one = Graph({"x": X, "y": ElementWise(expr, ("x",), DataType.F32)}, ["y"])
    two = Graph({**one.nodes, "z": ElementWise(expr, ("x",), DataType.F32)}, ["y", "z"])
    assert len(two.to_wire()) - len(one.to_wire()) < 10
    assert Graph.from_wire(two.to_wire()) == two


def test_the_text_is_what_a_reader_expects() -> None:
    graph = Graph(
        {
            "x": typed(DataType.F32, "seq", 64),
            "half": GRAPHS["Constant"].nodes["k"],
            "scan": GRAPHS["Scan"].nodes["y"],
            "w": GRAPHS["Windows strided"].nodes["y"],
        },
        ["scan", "w"],
    )
    assert graph.to_text() == (
        "vyre graph 1\n"
        "x = input F32[seq, 64]\n"
        "half = constant F32[2] { 0x3f800000 /* 1.0 */, 0xc0000000 /* -2.0 */ }\n"
        "scan = scan(x) axis 1 joining Mul accumulator F64 element F32 exclusive\n"
        "w = windows(x) axis 0 size 2 stride 3 dilation 4\n"
        "output scan, w\n"
    )
    assert str(graph) == graph.to_text()
