"""Whatever the bytes are, `decode_graph` answers with a graph that has these bytes, or with a `WireError`."""

from __future__ import annotations

import contextlib
import hashlib
import tracemalloc
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.graph.graph_table import GRAPHS, over_x, sizes, typed
from tests.wire.wire_bytes import varint
from tests.wire.wire_programs import golden_programs
from vyre.errors import ValidationError, VyreError, WireError
from vyre.graph import NODES, Constant, Copy, ElementWise, Graph, Reshape, Size, Transpose, ValueType
from vyre.graph.fields import MAX_LISTED, MAX_NUMBER
from vyre.graph.nodes import GraphNode, Pad, UnaryNode, Windows
from vyre.ir import Program
from vyre.ir import expr as e
from vyre.ir.limits import MAX_GRAPH_CONSTANT_BYTES, MAX_GRAPH_VALUES
from vyre.ir.types import DataType
from vyre.wire import GRAPH_MAGIC, MAGIC, decode, decode_graph, encode, encode_graph

GOLDEN = dict(line.split() for line in Path(__file__).with_name("golden_graphs.txt").read_text().splitlines())
"""The payloads of a graph of every node, as they were first written: lines are added, none is changed."""

HEADER = len(GRAPH_MAGIC) + 1


def payload_of(data: bytes) -> bytes:
    at = HEADER
    while data[at] > 127:
        at += 1
    return data[at + 1 + 32 :]


def frame(payload: bytes) -> bytes:
    return GRAPH_MAGIC + b"\x01" + varint(len(payload)) + hashlib.sha256(payload).digest() + payload


def outcome(data: bytes) -> str:
    """What is neither a graph nor a `WireError` is a failure, and so are types that end in another error."""
    try:
        graph = decode_graph(data)
    except WireError as error:
        return "refused" if error.offset is not None and error.fix else "refused without a place"
    assert encode_graph(graph) == data
    assert Graph.from_text(graph.to_text()) == graph
    with contextlib.suppress(ValidationError):
        _ = graph.types
    return "accepted"


@pytest.mark.parametrize("name", GRAPHS)
def test_every_truncation_is_refused(name: str) -> None:
    data = GRAPHS[name].to_wire()
    assert outcome(data) == "accepted"
    for length in range(len(data)):
        assert outcome(data[:length]) == "refused"
    payload = payload_of(data)
    for length in range(len(payload)):
        assert outcome(frame(payload[:length])) == "refused"
    assert outcome(frame(payload + b"\x00")) == "refused"


@pytest.mark.parametrize("name", GRAPHS)
def test_every_changed_byte_is_a_graph_or_an_error(name: str) -> None:
    payload = payload_of(GRAPHS[name].to_wire())
    random = Random(name)
    for position in range(len(payload)):
        for value in {0, 1, 127, 128, 255, *(random.randrange(256) for _ in range(8))}:
            changed = payload[:position] + bytes([value]) + payload[position + 1 :]
            outcome(frame(changed))
        outcome(frame(payload[:position] + payload[position + 1 :]))
        outcome(frame(payload[:position] + bytes([random.randrange(256)]) + payload[position:]))


def test_mutants_of_many_bytes() -> None:
    """Pieces of graphs put together, and bytes changed in several places."""
    payloads = [payload_of(graph.to_wire()) for graph in GRAPHS.values()]
    random = Random(20261116)
    seen = {"refused": 0, "accepted": 0}
    for _ in range(4_000):
        first, second = random.choice(payloads), random.choice(payloads)
        mutant = bytearray(
            first[: random.randrange(len(first) + 1)] + second[random.randrange(len(second)) :]
        )
        for _ in range(random.randrange(4)):
            if mutant:
                mutant[random.randrange(len(mutant))] = random.randrange(256)
        seen[outcome(frame(bytes(mutant)))] += 1
    assert seen["refused"] > 3_000
    assert seen["accepted"] > 10


def test_a_graph_and_a_program_are_never_confused() -> None:
    graph, program = GRAPHS["Copy"].to_wire(), next(iter(golden_programs().values())).to_wire()
    with pytest.raises(WireError, match=r"wire form of a graph\. Fix: use Graph\.from_wire"):
        Program.from_wire(graph)
    with pytest.raises(WireError, match=r"wire form of a program\. Fix: use Program\.from_wire"):
        Graph.from_wire(program)
    for payload in (payload_of(graph), payload_of(program)):
        rest = b"\x01" + varint(len(payload)) + hashlib.sha256(payload).digest() + payload
        for magic, read in ((MAGIC, decode), (GRAPH_MAGIC, decode_graph)):
            written = {decode: encode, decode_graph: encode_graph}[read]
            try:
                found: Any = read(magic + rest)
            except WireError:
                continue
            assert written(found) == magic + rest


def _payload(values: bytes, count: int) -> bytes:
    return b"\x01\x01x" + b"\x00" + varint(count) + values * count + b"\x00"


_LIST = b"\x40"
HOSTILE = {
    "copies": _payload(b"\x00\x0a\x00", 20_000),
    "scalars": _payload(b"\x00\x01\x09\x00", 20_000),
    "sizes of no terms": _payload(b"\x00\x07\x00" + _LIST + b"\x00" * 64, 500),
    "sizes of one term": _payload(b"\x00\x07\x00" + _LIST + b"\x01\x00\x02" * 64, 500),
    "sizes of one name": _payload(b"\x00\x07\x00" + _LIST + b"\x01\x01\x00\x02" * 64, 500),
    "axes": _payload(b"\x00\x05\x00" + _LIST + b"\x00" * 64, 500),
    "operands": _payload(b"\x00\x0c" + varint(40_000) + b"\x00" * 40_000 + b"\x00", 1),
    "strings": varint(8_000) + b"".join(b"\x03%03x" % i for i in range(4_096)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_refusing_takes_memory_in_proportion(name: str) -> None:
    """Whatever the bytes hold most of, and a byte too many at their end."""
    data = frame(HOSTILE[name] + b"\x07")
    assert outcome(data) == "refused"
    assert _peak(data) < 64 * len(data)


def test_a_count_promises_nothing() -> None:
    payload = payload_of(GRAPHS["Slice"].to_wire())
    for at in range(len(payload)):
        data = frame(payload[:at] + b"\xff" * 9 + b"\x01" + payload[at:])
        assert outcome(data) == "refused"
        assert _peak(data) < 50_000


def _peak(data: bytes) -> int:
    tracemalloc.start()
    with pytest.raises(WireError):
        decode_graph(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


UNWRITABLE: dict[str, tuple[GraphNode, str]] = {
    "a node of another kind": (UnaryNode("x"), "not a node of a graph"),
    "a list for a tuple": (Transpose("x", [0, 1]), "axes is"),  # pyright: ignore[reportArgumentType]
    "a float": (Windows("x", 0.0, 1), "axis is"),  # pyright: ignore[reportArgumentType]
    "a truth for a number": (Windows("x", True, 1), "axis is True"),
    "a word for a member": (
        replace(GRAPHS["Reduce Add"].nodes["y"], joining="add"),  # pyright: ignore[reportCallIssue]
        "not of the kind Joining",
    ),
    "a number for a name": (Copy(5), "source is 5"),  # pyright: ignore[reportArgumentType]
    "sizes as numbers": (Reshape("x", (1, 2)), "shape is"),  # pyright: ignore[reportArgumentType]
    "a number of 64 bits": (Windows("x", 1 << 63, 1), "V060: axis"),
    "negative bits": (Pad("x", (), (), -1), "V060: value"),
    "bits of 65": (Pad("x", (), (), 1 << 64), "V060: value"),
    "a long list": (Transpose("x", tuple(range(MAX_LISTED + 1))), "V060: axes has 65 entries"),
    "a long shape": (Reshape("x", sizes(*[1] * (MAX_LISTED + 1))), "V060: shape has 65 entries"),
    "a product of many": (Reshape("x", (Size.of([(("n",) * 9, 1)]),)), "V060: shape has a size with 9 names"),
    "a huge factor": (Reshape("x", (Size.of([((), 1 << 63)]),)), "V060: shape has a size with a number"),
    "a dimension of two words": (Reshape("x", (Size.of([(("a b",), 1)]),)), "not an identifier"),
    "half an element": (Constant(ValueType(DataType.F32, (1,)), b"\x00"), "V055: 1 bytes"),
    "a large constant": (
        Constant(ValueType(DataType.U8, (1,)), bytes(MAX_GRAPH_CONSTANT_BYTES + 1)),
        "V060: data has 1048577 bytes",
    ),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_what_has_no_form_is_refused_by_both(name: str) -> None:
    node, message = UNWRITABLE[name]
    graph = over_x(node)
    for write in (graph.to_wire, graph.to_text):
        with pytest.raises(VyreError, match=message) as caught:
            write()
        assert caught.value.place == "y"
        assert caught.value.fix


def test_a_deep_expression_has_no_form() -> None:
    expr: e.Expr = e.Var("x0")
    for _ in range(1_024):
        expr = e.Lane(expr, 0)
    graph = over_x(ElementWise(expr, ("x",), DataType.F32))
    for write in (graph.to_wire, graph.to_text):
        with pytest.raises(VyreError, match="V060: expr has 1025 levels"):
            write()


def test_limits_of_the_whole_graph_are_those_of_both_forms() -> None:
    node = Copy("x")
    many = Graph([("x", node)] * (MAX_GRAPH_VALUES + 1), [])
    outputs = Graph([], ["x"] * (MAX_GRAPH_VALUES + 1))
    wide: e.Expr = e.Var("x0")
    for _ in range(14):
        wide = e.FMulAdd(wide, wide, e.Var("x0"))
    deep = Graph([("x", ElementWise(wide, ("x",), DataType.F32))] * 4, [])
    for graph, what in ((many, "values"), (outputs, "outputs"), (deep, "nodes in its expressions")):
        for write in (graph.to_wire, graph.to_text, lambda graph=graph: graph.types):
            with pytest.raises(VyreError, match=f"[0-9]+ {what}; 100000 are allowed"):
                write()
    data = Graph([("x", node)], []).to_wire()
    assert payload_of(data) == b"\x01\x01x" + b"\x00" + b"\x01" + b"\x00\x0a\x00" + b"\x00"
    number = varint(MAX_GRAPH_VALUES + 1)
    hostile = frame(b"\x01\x01x\x00" + number + b"\x00\x0a\x00" * (MAX_GRAPH_VALUES + 1) + b"\x00")
    with pytest.raises(WireError, match="V060: 100001 values"):
        decode_graph(hostile)


def test_expressions_are_counted_where_they_are_used() -> None:
    """One entry of the table, used often, is as many nodes as its uses have."""
    wide: e.Expr = e.Var("x0")
    for _ in range(14):
        wide = e.FMulAdd(wide, wide, e.Var("x0"))
    value = ("x", ElementWise(wide, ("x",), DataType.F32))
    one, two = (payload_of(Graph([value] * count, []).to_wire()) for count in (1, 2))
    entry = two[len(one) - len(two) - 1 : -1]
    assert two == one[: -2 - len(entry)] + b"\x02" + entry * 2 + b"\x00"
    with pytest.raises(WireError, match="V060: expressions of more than 100000 nodes"):
        decode_graph(frame(one[: -2 - len(entry)] + b"\x03" + entry * 3 + b"\x00"))


def test_a_constant_that_ends_inside_an_element_is_refused() -> None:
    payload = bytes.fromhex(GOLDEN["Constant"])
    cut = payload.replace(b"\x08" + payload[-10:-2], b"\x07" + payload[-10:-3])
    assert len(cut) == len(payload) - 1
    with pytest.raises(WireError, match="V055: a constant of F32"):
        decode_graph(frame(cut))


def test_numbers_of_63_bits_and_a_sign_have_forms() -> None:
    for number in (0, -1, MAX_NUMBER, -MAX_NUMBER):
        graph = over_x(Windows("x", number, 1))
        assert Graph.from_wire(graph.to_wire()) == graph
        assert Graph.from_text(graph.to_text()) == graph
    size = Size.of([(("n", "n"), -MAX_NUMBER), ((), 7)])
    graph = over_x(Reshape("x", (size,)))
    assert Graph.from_wire(graph.to_wire()) == graph
    assert Graph.from_text(graph.to_text()) == graph


def test_bytes_stay_readable() -> None:
    assert set(GOLDEN) == {cls.__name__ for cls in NODES}
    for name, text in GOLDEN.items():
        assert payload_of(GRAPHS[name].to_wire()).hex() == text, name
        assert decode_graph(frame(bytes.fromhex(text))) == GRAPHS[name]


def test_terms_out_of_order_are_refused() -> None:
    graph = Graph({"x": typed(DataType.F32, Size("a") + Size("b"))}, [])
    payload = payload_of(graph.to_wire())
    swapped = bytearray(payload)
    first, second = payload.index(b"\x01\x01\x02"), payload.index(b"\x01\x02\x02")
    swapped[first + 1], swapped[second + 1] = 2, 1
    with pytest.raises(WireError):
        decode_graph(frame(bytes(swapped)))
    zero = payload.replace(b"\x01\x02\x02", b"\x01\x02\x00")
    with pytest.raises(WireError, match="not in order"):
        decode_graph(frame(zero))
