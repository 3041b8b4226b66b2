"""Mistakes in the text of a graph: where each points, what was expected there, what to do."""

from __future__ import annotations

import contextlib
from random import Random

import pytest

from tests.graph.graph_table import GRAPHS
from vyre.errors import ParseError
from vyre.graph import Graph
from vyre.graph.fields import MAX_LISTED, MAX_NUMBER
from vyre.ir import Program
from vyre.ir.limits import MAX_GRAPH_CONSTANT_BYTES, MAX_GRAPH_VALUES, MAX_SIZE_DEGREE, MAX_SIZE_TERMS
from vyre.text import holds_graph, parse_graph

HEAD = "vyre graph 1\nx = input F32[n, 4]\n"

LINES = [
    ("y", 2, "expected `=` after the name, found the end", "y = copy(x)"),
    ("5 = copy(x)", 1, "expected the name of a value, or `output`, found `5`", "a name such as"),
    ("let = copy(x)", 1, "`let` is a keyword", "backticks"),
    ("y = ", 5, "expected a node, found the end of the text", "use one of input, constant"),
    ("y = cpy(x)", 5, "expected a node, found `cpy`", "did you mean copy?"),
    ("y = copy", 9, "expected `(` after `copy`", "write copy(source)"),
    ("y = copy(x", 11, "expected `)` after the operands", "write copy(source)"),
    ("y = copy()", 9, "`copy` takes 1 operand, not 0", "write copy(source)"),
    ("y = matmul(x)", 11, "`matmul` takes 2 to 3 operands, not 1", "matmul(left, right, mask)"),
    ("y = copy(5)", 10, "expected the name of an operand, found `5`", "a name such as"),
    ("y = windows(x) size 3", 16, "expected `axis`, found `size`", "windows(source) axis 0 size 1"),
    ("y = windows(x) axis", 20, "expected a number, found the end", "as in 2"),
    ("y = windows(x) axis 1.5", 21, "expected a number, found `1.5`", "as in 2"),
    (f"y = windows(x) axis {MAX_NUMBER + 1}", 21, "is not a number", "63 bits"),
    ("y = transpose(x) axes 1", 23, "expected `[` before a list, found `1`", "[0, 1]"),
    ("y = transpose(x) axes [1", 25, "expected `]` after the list", "[0, 1]"),
    (
        f"y = transpose(x) axes [{'0, ' * (MAX_LISTED + 1)}]",
        217,
        "V060: a list of more than 64",
        "fewer axes",
    ),
    ("y = input", 10, "expected a type, found the end", "use one of U32"),
    ("y = input F31[2]", 11, "expected a type, found `F31`", "did you mean F32?"),
    ("y = input U64[2]", 11, "a tensor cannot hold U64", "use one of F32"),
    ("y = input F32", 14, "expected `[` before a list", "[0, 1]"),
    ("y = input F32[*]", 15, "expected a size, found `*`", "a name such as"),
    ("y = input F32[2*3]", 17, "expected the name of a dimension, found `3`", "a name such as"),
    ("y = input F32[`a b`]", 20, "'a b' is not an identifier", "like a variable"),
    (f"y = input F32[{'n + ' * MAX_SIZE_TERMS}1]", 15, "V060: a size of more than 16 terms", "shorter sum"),
    (f"y = input F32[{'n*' * MAX_SIZE_DEGREE}n]", 15, "V060: more than 8 dimensions", "fewer"),
    ("y = constant F32[1]", 20, "expected `{` before the elements", "constant U32 { 1, 0x80 }"),
    ("y = constant U8[1] { 256 }", 22, "256 has more bits than one U8", "by their bits"),
    ("y = constant U8[1] { 1.5 }", 22, "expected an element of the table", "by their bits"),
    ("y = elementwise(x) element F32 x0", 32, "expected `=>` before the expression", "=> x0"),
    ("y = elementwise(x) element F32 => ", 35, "expected an expression", "write a literal"),
    ("y = elementwise(x) element F32 => fad(x0)", 35, "there is no function `fad`", "did you mean fadd?"),
    (
        "y = reduce(x) axes [0] joining add order Strict accumulator F32 element F32",
        32,
        "expected the joining, found `add`",
        "did you mean Add?",
    ),
    ("y = pad(x) before [0, 0] after [0, 0] value -1", 45, "expected the bits of an element", "0x3f800000"),
    ("output y z", 10, "expected `,` or the end of the graph, found `z`", "remove what follows"),
    ("output 5", 8, "expected the name of an output, found `5`", "a name such as"),
]


@pytest.mark.parametrize(("line", "column", "message", "fix"), LINES, ids=[row[0][:40] for row in LINES])
def test_a_mistake_is_shown_where_it_is(line: str, column: int, message: str, fix: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_graph(HEAD + line, file="net.vyre")
    error = caught.value
    assert message in error.message
    assert fix in error.fix
    assert (error.line, error.column) == (3, column)
    assert str(error).startswith(f"net.vyre:3:{column}: ")


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("", "expected `vyre graph 1`", "make `vyre graph 1` the first line"),
        ("vyre 1\nworkgroup 1\nentry { }", "expected `vyre graph 1`, found `1`", "Program.from_text"),
        ("vyre graph x", "this text is not a `vyre graph 1`", "first line"),
        ("vyre graph 2\noutput", "version 2 of the text form is unknown", "a newer vyre"),
        (HEAD, "found the end of the text", "a name such as"),
    ],
)
def test_a_text_that_is_no_graph_is_explained(text: str, message: str, fix: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_graph(text)
    assert message in caught.value.message
    assert fix in caught.value.fix


def test_a_graph_is_no_program() -> None:
    with pytest.raises(ParseError, match=r"Graph\.from_text reads graphs"):
        Program.from_text(f"{HEAD}output x")
    assert holds_graph(f"/* first */ {HEAD}output")
    assert not holds_graph("vyre 1\nworkgroup 1\nentry { }")
    assert not holds_graph("§")


def test_sizes_are_read_in_any_order() -> None:
    read = Graph.from_text("vyre graph 1\nx = input F32[1 + 2*b*a - n + a*b, -0]\noutput x")
    assert read.to_text() == "vyre graph 1\nx = input F32[-n + 3*a*b + 1, 0]\noutput x\n"


def test_limits_of_the_text() -> None:
    bytes_of = "0, " * (MAX_GRAPH_CONSTANT_BYTES // 8 + 1)
    with pytest.raises(ParseError, match=r"V060: a table of more than 1048576 bytes\. Fix: make it an input"):
        parse_graph(f"{HEAD}y = constant I64[1] {{ {bytes_of} }}")
    with pytest.raises(ParseError, match="V060: more than 100000 values"):
        parse_graph("vyre graph 1" + " x=copy(x)" * (MAX_GRAPH_VALUES + 1))
    with pytest.raises(ParseError, match="V060: more than 100000 outputs"):
        parse_graph("vyre graph 1 output" + " x," * (MAX_GRAPH_VALUES + 1))
    large = " y = elementwise(x) element F32 => " + "+".join(["x0"] * 900)
    with pytest.raises(ParseError, match="V060: more than 100000 nodes of expressions"):
        parse_graph(HEAD + large * 60)


def test_a_changed_text_is_a_graph_or_an_error() -> None:
    """Anything but a `ParseError` escapes, and so fails."""
    random = Random(20261116)
    texts = [graph.to_text() for graph in GRAPHS.values()]
    pieces = [
        *'[](){}=,*+-/\\`"\n0x§ ',
        "output",
        "axis",
        "=>",
        "input",
        "F32",
        "9" * 30,
        "0x" + "f" * 30,
        "x0",
        ".",
    ]
    accepted = 0
    for _ in range(3_000):
        text = random.choice(texts)
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(text) + 1)
            text = text[:at] + random.choice(pieces) + text[at + random.randrange(3) :]
        with contextlib.suppress(ParseError):
            graph = parse_graph(text)
            assert parse_graph(graph.to_text()) == graph
            accepted += 1
    assert accepted > 50
