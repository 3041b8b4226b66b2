"""From bytes to graphs. Whatever the bytes are, the outcome is a graph or a `WireError`.

Every accepted input is canonical: it is what `encode_graph` writes for the graph it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vyre.graph.fields import FIELDS, MAX_LISTED, MAX_NUMBER, FieldKind
from vyre.graph.graph import Graph
from vyre.graph.nodes import Constant
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.ir.limits import (
    MAX_GRAPH_CONSTANT_BYTES,
    MAX_GRAPH_VALUES,
    MAX_NODES,
    MAX_SIZE_DEGREE,
    MAX_SIZE_TERMS,
    U32_MAX,
)
from vyre.wire.cursor import refuse
from vyre.wire.frame import opened
from vyre.wire.graph_tags import ELEMENT_TAGS, MEMBERS, NODES
from vyre.wire.layout import GRAPH_MAGIC, by_tag
from vyre.wire.tables import build_exprs, scan_exprs

if TYPE_CHECKING:
    from vyre.graph.fields import NodeField
    from vyre.graph.nodes import GraphNode
    from vyre.ir.expr import Expr
    from vyre.wire.cursor import Cursor
    from vyre.wire.tables import Table

_NODES: Final = by_tag(NODES.items())
_ELEMENTS: Final = by_tag(ELEMENT_TAGS.items())
_MEMBERS: Final = {kind: by_tag(numbers.items()) for kind, numbers in MEMBERS.items()}
_SPLIT: Final = "split it into several graphs."


def decode_graph(data: bytes | bytearray | memoryview) -> Graph:
    """The graph whose wire form `data` is; `WireError` for everything else."""
    with opened(data, GRAPH_MAGIC, "graph") as cursor:
        reader = _Reader(cursor)
        values = reader.values()
        outputs = reader.outputs()
    exprs = build_exprs(cursor.data, reader.exprs, reader.strings)
    reader.exprs.check_unique(exprs, "expression")
    return Graph([(name, _built(cls, fields, exprs)) for name, cls, fields in values], outputs)


_Entry = tuple[str, "type[GraphNode]", tuple[Any, ...]]
"""A value before it is built: its name, its kind, its fields, of which an expression is an index."""


def _built(cls: type[GraphNode], fields: tuple[Any, ...], exprs: list[Expr]) -> GraphNode:
    known = zip(FIELDS[cls], fields, strict=True)
    return cls(*[exprs[x] if field.kind is FieldKind.Expression else x for field, x in known])


class _Reader:
    """Reads a payload in order, and has refused all that can be refused when `outputs` returns."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.strings = cursor.string_table(U32_MAX)
        self.exprs: Table = scan_exprs(cursor)
        self.roots: list[int] = []

    def values(self) -> list[_Entry]:
        found: list[_Entry] = []
        nodes = 0
        for _ in range(self.cursor.count("values", MAX_GRAPH_VALUES, "V060", _SPLIT)):
            start = self.cursor.pos
            name = self.name()
            cls: type[GraphNode] = self.cursor.tag(_NODES, "a node")
            before = len(self.roots)
            fields = tuple([self.field(field) for field in FIELDS[cls]])
            if cls is Constant and len(fields[1]) % fields[0].element.stride:
                refuse(start, f"V055: a constant of {fields[0]} ends inside an element.")
            found.append((name, cls, fields))
            nodes += sum(self.exprs.sizes[root] for root in self.roots[before:])
            if nodes > MAX_NODES:
                refuse(start, f"V060: expressions of more than {MAX_NODES} nodes.", _SPLIT)
        return found

    def outputs(self) -> list[str]:
        cursor = self.cursor
        number = cursor.count("outputs", MAX_GRAPH_VALUES, "V060", _SPLIT)
        found = [self.name() for _ in range(number)]
        if cursor.pos != len(cursor.data):
            refuse(cursor.pos, f"{len(cursor.data) - cursor.pos} bytes follow the outputs.")
        if cursor.used != len(self.strings):
            refuse(len(cursor.data), f"string {cursor.used} of the table is never used.")
        self.exprs.check_order(self.roots, "expression")
        return found

    def name(self) -> str:
        return self.strings[self.cursor.name()]

    def field(self, field: NodeField) -> Any:
        cursor = self.cursor
        match field.kind:
            case FieldKind.Type:
                element = cursor.tag(_ELEMENTS, "an element of a tensor")
                return ValueType(element, self.sizes())
            case FieldKind.Data:
                length = cursor.count(
                    "bytes of a constant", MAX_GRAPH_CONSTANT_BYTES, "V060", "make it an input."
                )
                return cursor.raw(length, "a constant")
            case FieldKind.Expression:
                return self.root()
            case FieldKind.Operand:
                return self.name()
            case FieldKind.Operands:
                return tuple([self.name() for _ in range(cursor.count("operands", U32_MAX, "V060"))])
            case FieldKind.Optional:
                return self.name() if cursor.varint(1) else None
            case FieldKind.Number:
                return self.number()
            case FieldKind.Numbers:
                return tuple([self.number() for _ in range(self.listed())])
            case FieldKind.Sizes:
                return self.sizes()
            case FieldKind.Bits:
                return cursor.varint((1 << 64) - 1)
            case FieldKind.Flag:
                return cursor.varint(1) == 1
            case FieldKind.Member:
                assert field.members is not None
                return cursor.tag(_MEMBERS[field.members], f"the {field.name}")

    def root(self) -> int:
        start = self.cursor.pos
        root = self.cursor.varint(MAX_NODES)
        if root >= len(self.exprs):
            refuse(start, f"expression {root} of {len(self.exprs)} does not exist.")
        self.roots.append(root)
        return root

    def number(self) -> int:
        value = self.cursor.varint(2 * MAX_NUMBER)
        return ~(value >> 1) if value & 1 else value >> 1

    def listed(self) -> int:
        return self.cursor.count("entries of a list", MAX_LISTED, "V060", "use fewer axes.")

    def sizes(self) -> tuple[Size, ...]:
        return tuple([self.size() for _ in range(self.listed())])

    def size(self) -> Size:
        cursor = self.cursor
        start = cursor.pos
        terms: list[tuple[tuple[str, ...], int]] = []
        for _ in range(cursor.count("terms of a size", MAX_SIZE_TERMS, "V060", "write a shorter sum.")):
            degree = cursor.count("dimensions of a term", MAX_SIZE_DEGREE, "V060", "multiply fewer of them.")
            names = tuple([self.name() for _ in range(degree)])
            wrong = next((name for name in names if not name.isidentifier()), None)
            if wrong is not None:
                refuse(start, f"{wrong[:40]!r} cannot name a dimension.", "name it like a variable.")
            terms.append((names, self.number()))
        size = Size.of(terms)
        if size.terms != tuple(terms):
            refuse(start, f"the terms of the size {size} are not in order.")
        return size
