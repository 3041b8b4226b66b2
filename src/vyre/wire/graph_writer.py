"""From graphs to bytes: the tables of a program, with values in the place of statements.

Strings stand in the order in which expressions, values and outputs use them, expressions in that of the
values. The order depends on nothing but the graph, which makes the bytes canonical.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import WireError
from vyre.graph.fields import FIELDS, FieldKind, unwritable
from vyre.graph.graph import Graph
from vyre.graph.nodes import ElementWise
from vyre.wire.frame import framed
from vyre.wire.graph_tags import ELEMENT_TAGS, MEMBERS, NODES
from vyre.wire.layout import GRAPH_MAGIC, append_signed, append_varint
from vyre.wire.writer import expression_order, string_table, write_exprs

if TYPE_CHECKING:
    from vyre.graph.fields import NodeField
    from vyre.graph.sizes import Size
    from vyre.ir.expr import Expr


def encode_graph(graph: Graph) -> bytes:
    """The one wire form of a graph, valid or not; `WireError` when it is beyond what the forms can hold."""
    if not isinstance(graph, Graph):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WireError(f"{type(graph).__name__} is not a Graph.", fix="pass a vyre.graph.Graph.")
    wrong = unwritable(graph.values, graph.outputs)
    if wrong is not None:
        raise WireError(wrong.message, fix=wrong.fix, place=wrong.place)
    writer = _Writer(graph)
    return framed(GRAPH_MAGIC, string_table(writer.names) + writer.out)


class _Writer:
    """The payload behind the strings, and the strings in the order of their use."""

    def __init__(self, graph: Graph) -> None:
        self.out = bytearray()
        self.names: dict[str, int] = {}
        self.exprs: dict[Expr, int] = expression_order(
            node.expr for _, node in graph.values if isinstance(node, ElementWise)
        )
        self.number(len(self.exprs))
        write_exprs(self.out, self.exprs, self.names)
        self.number(len(graph.values))
        for name, node in graph.values:
            self.name(name)
            self.out.append(NODES[type(node)])
            for field in FIELDS[type(node)]:
                self.field(field, getattr(node, field.name))
        self.number(len(graph.outputs))
        for name in graph.outputs:
            self.name(name)

    def number(self, value: int) -> None:
        append_varint(self.out, value)

    def name(self, name: str) -> None:
        self.number(self.names.setdefault(name, len(self.names)))

    def field(self, field: NodeField, value: Any) -> None:
        match field.kind:
            case FieldKind.Type:
                self.out.append(ELEMENT_TAGS[value.element])
                self.sizes(value.shape)
            case FieldKind.Data:
                self.number(len(value))
                self.out += value
            case FieldKind.Expression:
                self.number(self.exprs[value])
            case FieldKind.Operand:
                self.name(value)
            case FieldKind.Operands:
                self.number(len(value))
                for name in value:
                    self.name(name)
            case FieldKind.Optional:
                self.number(0 if value is None else 1)
                if value is not None:
                    self.name(value)
            case FieldKind.Number:
                append_signed(self.out, value)
            case FieldKind.Numbers:
                self.number(len(value))
                for number in value:
                    append_signed(self.out, number)
            case FieldKind.Sizes:
                self.sizes(value)
            case FieldKind.Bits | FieldKind.Flag:
                self.number(int(value))
            case FieldKind.Member:
                assert field.members is not None
                self.out.append(MEMBERS[field.members][value])

    def sizes(self, shape: tuple[Size, ...]) -> None:
        self.number(len(shape))
        for size in shape:
            self.number(len(size.terms))
            for names, factor in size.terms:
                self.number(len(names))
                for name in names:
                    self.name(name)
                append_signed(self.out, factor)
