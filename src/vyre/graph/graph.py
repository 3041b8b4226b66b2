"""A graph: named values, each computed once from those before it, and those that are handed back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from vyre.errors import boundary
from vyre.graph.infer import infer_all
from vyre.graph.nodes import Input

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre.graph.nodes import GraphNode
    from vyre.graph.types import ValueType


@dataclass(frozen=True, init=False)
class Graph:
    """Immutable. Two graphs are equal when their values and outputs are, names included."""

    values: tuple[tuple[str, GraphNode], ...]
    outputs: tuple[str, ...]

    def __init__(
        self, values: Mapping[str, GraphNode] | Iterable[tuple[str, GraphNode]], outputs: Iterable[str]
    ) -> None:
        pairs = values.items() if hasattr(values, "items") else values  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownVariableType]
        object.__setattr__(self, "values", tuple(pairs))  # pyright: ignore[reportUnknownArgumentType]
        object.__setattr__(self, "outputs", tuple(outputs))

    @cached_property
    def nodes(self) -> Mapping[str, GraphNode]:
        """Every value by its name, operands first."""
        return MappingProxyType(dict(self.values))

    @cached_property
    def types(self) -> Mapping[str, ValueType]:
        """The type of every value. Raises `ValidationError` where a rule is broken."""
        return MappingProxyType(infer_all(self.values, self.outputs))

    @cached_property
    def inputs(self) -> Mapping[str, ValueType]:
        """The inputs, in the order in which they are defined."""
        return MappingProxyType({n: node.type for n, node in self.values if isinstance(node, Input)})

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """The names of the dynamic dimensions, in the order of the inputs that have them."""
        found: dict[str, None] = {}
        for kind in self.inputs.values():
            for size in kind.shape:
                found |= dict.fromkeys(sorted(size.names))
        return tuple(found)

    @boundary
    def to_wire(self) -> bytes:
        """The canonical binary form. Raises `WireError` for a graph beyond the limits of the forms."""
        from vyre.wire import encode_graph

        return encode_graph(self)

    @classmethod
    @boundary
    def from_wire(cls, data: bytes) -> Graph:
        """The graph of a wire form; anything else in `data` raises `WireError`."""
        from vyre.wire import decode_graph

        return decode_graph(data)

    @boundary
    def to_text(self) -> str:
        """The readable form, which `Graph.from_text` reads back without loss."""
        from vyre.text import print_graph

        return print_graph(self)

    @classmethod
    @boundary
    def from_text(cls, text: str, *, file: str = "<text>") -> Graph:
        from vyre.text import parse_graph

        return parse_graph(text, file=file)

    def __str__(self) -> str:
        return self.to_text()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Graph.from_wire, (self.to_wire(),))
