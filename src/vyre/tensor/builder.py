"""A graph while it is written: values get names and types as they are made, equal ones are made once."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from vyre.errors import Diagnostic, ValidationError, VyreError
from vyre.graph.faults import Fault
from vyre.graph.graph import Graph
from vyre.graph.infer import inferred
from vyre.graph.nodes import GraphNode, Input

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.graph.types import ValueType


class Builder:
    """Collects nodes. A rule that is broken raises at once, so at the line that broke it."""

    def __init__(self) -> None:
        self.types: dict[str, ValueType] = {}
        self._nodes: dict[str, GraphNode] = {}
        self._known: dict[GraphNode, str] = {}
        self._named: frozenset[str] = frozenset()

    def input(self, name: str, kind: ValueType) -> str:
        """A value of the caller's, whose dynamic dimensions later values may use."""
        if name in self._nodes:
            raise VyreError(f"two inputs are named {name!r}.", fix="give each input a name of its own.")
        self._named |= kind.names
        return self._put(name, Input(kind))

    def add(self, node: GraphNode) -> str:
        """The name of the value, which may exist already."""
        found = self._known.get(node)
        if found is not None:
            return found
        return self._put(self.fresh("v"), node)

    def fresh(self, prefix: str) -> str:
        """A name that no value has, an input of the caller's neither."""
        number = len(self._nodes)
        while f"{prefix}{number}" in self._nodes:
            number += 1
        return f"{prefix}{number}"

    def _put(self, name: str, node: GraphNode) -> str:
        try:
            self.types[name] = inferred(node, self.types, self._named)
        except Fault as error:
            kind = type(node).__name__
            raise ValidationError([Diagnostic(error.code, error.message, error.fix, kind)]) from None
        self._nodes[name] = node
        if not isinstance(node, Input):
            self._known[node] = name
        return name

    def graph(self, outputs: Iterable[str]) -> Graph:
        """What the outputs need, and every input."""
        wanted = list(outputs)
        needed: set[str] = set()
        left = list(wanted)
        while left:
            name = left.pop()
            if name not in needed:
                needed.add(name)
                left += self._nodes[name].operands
        kept = {n: node for n, node in self._nodes.items() if n in needed or isinstance(node, Input)}
        return Graph(kept, wanted)


tracing: ContextVar[Builder | None] = ContextVar("tracing", default=None)
"""The graph of the function that is being traced in this thread."""


def current() -> Builder:
    """The builder of the function that is being traced."""
    found = tracing.get()
    if found is None:
        raise VyreError(
            "no function is being traced, so there is no graph to put a tensor into.",
            fix="call it inside a function under @vyre.tensor.function, or pass NumPy arrays to one.",
        )
    return found
