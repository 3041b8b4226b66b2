"""What each node is made of, read off its definition: the one table behind the forms of a graph.

A node that is added to `NODES` has its fields here without a further word; what cannot be written down is
said once, in `unwritable`, for every form.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.graph.nodes import NODES, Accumulator, Constant, Duplicates, ElementWise, Joining, MulStep
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.ir.closed import ClosedEnum
from vyre.ir.expr import Expr
from vyre.ir.limits import (
    MAX_EXPR_DEPTH,
    MAX_GRAPH_CONSTANT_BYTES,
    MAX_GRAPH_VALUES,
    MAX_NODES,
    MAX_SIZE_DEGREE,
    MAX_SIZE_TERMS,
)
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vyre.graph.nodes import GraphNode

MAX_LISTED = 64
"""Axes, sizes or steps in one list of a form; more than any value may have, so that too many can be shown."""

MAX_NUMBER = (1 << 63) - 1
"""What a number of a form can be, with either sign. The rules allow far less."""


class FieldKind(ClosedEnum):
    """How a field is written, by the annotation that it has in its node."""

    Type = "ValueType"
    Data = "bytes"
    Expression = "Expr"
    Operand = "str"
    Operands = "tuple[str, ...]"
    Optional = "str | None"
    Number = "int"
    Numbers = "tuple[int, ...]"
    Sizes = "tuple[Size, ...]"
    Bits = "Bits"
    Flag = "bool"
    Member = "one of an enumeration"


OPERANDS = frozenset({FieldKind.Operand, FieldKind.Operands, FieldKind.Optional})

ENUMERATIONS: Mapping[str, type[ClosedEnum]] = {
    kind.__name__: kind for kind in (DataType, Joining, ReduceOrder, Accumulator, MulStep, Duplicates)
}


@dataclass(frozen=True, slots=True)
class NodeField:
    """`members` is the enumeration of a `Member`; `default` is MISSING where the field must be said."""

    name: str
    kind: FieldKind
    members: type[ClosedEnum] | None
    default: Any

    @property
    def is_required(self) -> bool:
        return self.default is MISSING


@cache
def fields_of(cls: type[GraphNode]) -> tuple[NodeField, ...]:
    """Those of a node, in the order of its constructor."""
    return tuple(_fields(cls))


def _fields(cls: type[GraphNode]) -> Iterator[NodeField]:
    for field in fields(cls):
        written = str(field.type)
        members = ENUMERATIONS.get(written)
        yield NodeField(
            field.name, FieldKind.Member if members else FieldKind(written), members, field.default
        )


FIELDS: Mapping[type[GraphNode], tuple[NodeField, ...]] = {cls: fields_of(cls) for cls in NODES}
"""The fields of every node, in the order of its constructor."""


@dataclass(frozen=True, slots=True)
class Unwritable:
    """Why a graph has no form, and the value that is to blame."""

    message: str
    fix: str
    place: str | None = None


def unwritable(values: Sequence[tuple[str, GraphNode]], outputs: Sequence[str]) -> Unwritable | None:
    """None for every graph, valid or not, whose fields hold what they are for, within the limits."""
    many = excess(values, outputs)
    if many is not None:
        return Unwritable(f"V060: {many}", "split it into several graphs.")
    for name, node in values:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            return Unwritable(f"{_short(name)} is not a name.", "use a str.")
        wrong = _unwritable(node)
        if wrong is not None:
            return Unwritable(wrong.message, wrong.fix, name)
    for name in outputs:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            return Unwritable(f"{_short(name)} is not a name.", "use a str.", "outputs")
    return None


def excess(values: Sequence[tuple[str, GraphNode]], outputs: Sequence[str]) -> str | None:
    """What a graph has too many of, beyond which no value of it is looked at."""
    nodes = sum(node.expr.size for _, node in values if isinstance(node, ElementWise))
    for number, limit, what in (
        (len(values), MAX_GRAPH_VALUES, "values"),
        (len(outputs), MAX_GRAPH_VALUES, "outputs"),
        (nodes, MAX_NODES, "nodes in its expressions"),
    ):
        if number > limit:
            return f"the graph has {number} {what}; {limit} are allowed."
    return None


def _unwritable(node: GraphNode) -> Unwritable | None:
    known = FIELDS.get(type(node))
    if known is None:
        return Unwritable(f"{type(node).__name__} is not a node of a graph.", "use the nodes of vyre.graph.")
    for field in known:
        value = getattr(node, field.name)
        if value is None and field.kind is FieldKind.Optional:
            continue
        if not _is_kind(field, value):
            wanted = field.members.__name__ if field.members else field.kind.value
            message = f"{field.name} is {_short(value)}, not of the kind {wanted}."
            return Unwritable(message, "pass a value of that kind.")
        beyond = _beyond(field.kind, value)
        if beyond:
            return Unwritable(f"V060: {field.name} has {beyond}.", "use a smaller one.")
    if isinstance(node, Constant) and len(node.data) % node.type.element.stride:
        message = (
            f"V055: {len(node.data)} bytes are not a whole number of {node.type.element.value} elements."
        )
        return Unwritable(message, "pass whole elements.")
    return None


def _is_kind(field: NodeField, value: object) -> bool:
    match field.kind:
        case FieldKind.Type:
            return isinstance(value, ValueType)
        case FieldKind.Data:
            return isinstance(value, bytes)
        case FieldKind.Expression:
            return isinstance(value, Expr)
        case FieldKind.Operand | FieldKind.Optional:
            return isinstance(value, str)
        case FieldKind.Operands:
            return isinstance(value, tuple) and all(isinstance(name, str) for name in value)  # pyright: ignore[reportUnknownVariableType]
        case FieldKind.Number | FieldKind.Bits:
            return type(value) is int
        case FieldKind.Numbers:
            return isinstance(value, tuple) and all(type(number) is int for number in value)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        case FieldKind.Sizes:
            return isinstance(value, tuple) and all(isinstance(size, Size) for size in value)  # pyright: ignore[reportUnknownVariableType]
        case FieldKind.Flag:
            return isinstance(value, bool)
        case FieldKind.Member:
            return field.members is not None and isinstance(value, field.members)


def _beyond(kind: FieldKind, value: Any) -> str | None:
    """What is too much in a value of this kind."""
    match kind:
        case FieldKind.Type:
            return _beyond(FieldKind.Sizes, value.shape)
        case FieldKind.Expression if value.depth > MAX_EXPR_DEPTH:
            return f"{value.depth} levels; {MAX_EXPR_DEPTH} are allowed"
        case FieldKind.Data if len(value) > MAX_GRAPH_CONSTANT_BYTES:
            return f"{len(value)} bytes; {MAX_GRAPH_CONSTANT_BYTES} are allowed"
        case FieldKind.Number if abs(value) > MAX_NUMBER:
            return "a number of more than 64 bits"
        case FieldKind.Bits if not 0 <= value < 1 << 64:
            return "bits of more than 64 bits, or a sign"
        case FieldKind.Numbers | FieldKind.Sizes if len(value) > MAX_LISTED:
            return f"{len(value)} entries; {MAX_LISTED} are allowed in a list"
        case FieldKind.Numbers if any(abs(number) > MAX_NUMBER for number in value):
            return "a number of more than 64 bits"
        case FieldKind.Sizes:
            return next((why for why in map(size_beyond, value) if why), None)
        case _:
            return None


def size_beyond(size: Size) -> str | None:
    """Why a size has no form."""
    if len(size.terms) > MAX_SIZE_TERMS:
        return f"a size of {len(size.terms)} terms; {MAX_SIZE_TERMS} are allowed"
    for names, factor in size.terms:
        if len(names) > MAX_SIZE_DEGREE:
            return f"a size with {len(names)} names multiplied; {MAX_SIZE_DEGREE} are allowed"
        if abs(factor) > MAX_NUMBER:
            return "a size with a number of more than 64 bits"
        wrong = next((name for name in names if not name.isidentifier()), None)
        if wrong is not None:
            return f"a dimension named {_short(wrong)}, which is not an identifier"
    return None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
