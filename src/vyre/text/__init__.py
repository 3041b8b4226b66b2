"""The readable form of programs, ops and graphs: `parse(print(p)) == p` for everything within the limits.

The grammar is in `docs/text-form.md`. Parsing is purely syntactic: whether a program is valid is
the validator's question. Neither direction recurses, so neither depends on Python's stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.text.parser import parse_expr, parse_op, parse_program
from vyre.text.printer import print_expr, print_op, print_program
from vyre.text.reading import holds_graph

if TYPE_CHECKING:
    from vyre.graph.graph import Graph

__all__ = [
    "holds_graph",
    "parse_expr",
    "parse_graph",
    "parse_op",
    "parse_program",
    "print_expr",
    "print_graph",
    "print_op",
    "print_program",
]


def print_graph(graph: Graph) -> str:
    """The text form of a graph, valid or not. `PrintError` beyond what the forms can hold."""
    from vyre.text.graph_printer import print_graph  # who has programs alone does not wait for graphs

    return print_graph(graph)


def parse_graph(text: str, *, file: str = "<text>") -> Graph:
    """The graph of a text; every mistake in it is a `ParseError` with line and column."""
    from vyre.text.graph_parser import parse_graph

    return parse_graph(text, file=file)
