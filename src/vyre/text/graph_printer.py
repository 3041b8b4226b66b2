"""Graphs to text: one value a line, always the same lines for the same graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from vyre.errors import PrintError
from vyre.graph.fields import FIELDS, OPERANDS, FieldKind, unwritable
from vyre.graph.nodes import NODES, Constant, ElementWise
from vyre.ir.types import FLOAT_TYPES
from vyre.text.expressions import expression_text
from vyre.text.literals import decimal_of
from vyre.text.tables import table_text
from vyre.text.vocabulary import VERSION, name_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.graph.fields import NodeField
    from vyre.graph.graph import Graph
    from vyre.graph.nodes import GraphNode
    from vyre.graph.sizes import Size
    from vyre.graph.types import ValueType
    from vyre.ir.types import DataType

WORDS: Final[Mapping[type[GraphNode], str]] = {cls: cls.__name__.lower() for cls in NODES}
"""What each node is called."""

_ON_ONE_LINE: Final = 8
"""Elements of a constant that are written beside its type."""


def print_graph(graph: Graph) -> str:
    """The text form of a graph, valid or not. `PrintError` beyond what the forms can hold."""
    wrong = unwritable(graph.values, graph.outputs)
    if wrong is not None:
        raise PrintError(wrong.message, fix=wrong.fix, place=wrong.place)
    lines = [f"vyre graph {VERSION}"]
    lines += [f"{name_text(name)} = {_node(node)}" for name, node in graph.values]
    lines.append(f"output {', '.join(map(name_text, graph.outputs))}".rstrip())
    return "\n".join([*lines, ""])


def _node(node: GraphNode) -> str:
    """The word, the type of what has no operands, the operands, the rest by name; last what may be long."""
    known = FIELDS[type(node)]
    parts = [WORDS[type(node)]]
    parts += [type_text(getattr(node, field.name)) for field in known if field.kind is FieldKind.Type]
    if any(field.kind in OPERANDS for field in known):
        parts[0] += f"({', '.join(map(name_text, node.operands))})"
    parts += [text for field in known for text in _attribute(field, getattr(node, field.name))]
    match node:
        case Constant(type=kind, data=data):
            parts.append(_elements(kind.element, data))
        case ElementWise(expr=expr):
            parts.append(f"=> {expression_text(expr)}")
        case _:
            pass
    return " ".join(parts)


def _attribute(field: NodeField, value: Any) -> tuple[str, ...]:
    """A field by its name, where it is not what it would be unsaid."""
    if value == field.default:
        return ()
    match field.kind:
        case FieldKind.Number:
            return field.name, str(value)
        case FieldKind.Bits:
            return field.name, hex(value)
        case FieldKind.Numbers:
            return field.name, f"[{', '.join(map(str, value))}]"
        case FieldKind.Sizes:
            return field.name, shape_text(value)
        case FieldKind.Member:
            return field.name, value.name
        case FieldKind.Flag:
            return (field.name,)
        case _:
            return ()


def type_text(of: ValueType) -> str:
    return f"{of.element.value}{shape_text(of.shape)}"


def shape_text(shape: tuple[Size, ...]) -> str:
    return f"[{', '.join(size.written(name_text) for size in shape)}]"


def _elements(element: DataType, data: bytes) -> str:
    """The bits of every element; a few floats with their values, for the reader."""
    stride = element.stride
    if len(data) > _ON_ONE_LINE * stride:
        return f"{{\n{table_text(element, data)}}}"
    values = [int.from_bytes(data[at : at + stride], "little") for at in range(0, len(data), stride)]
    is_float = element in FLOAT_TYPES
    shown = (
        f"0x{bits:0{2 * stride}x}" + (f" /* {decimal_of(element, bits)} */" if is_float else "")
        for bits in values
    )
    return f"{{ {', '.join(shown)} }}" if values else "{ }"
