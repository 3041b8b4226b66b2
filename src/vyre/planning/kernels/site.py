"""What a kernel is while it is written, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.planning.draft import Draft, Drafted, Place
from vyre.planning.numbers import reloaded
from vyre.planning.pull import Pull

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.graph.graph import Graph
    from vyre.graph.nodes import GraphNode
    from vyre.graph.sizes import Size
    from vyre.graph.types import ValueType
    from vyre.ir.expr import Expr
    from vyre.ir.types import DataType
    from vyre.planning.fusion import Fusion

ALWAYS = 1 << 62


class WrittenLater:
    """A kernel that is written when it is first asked for: of several for one value most calls take one.

    Two threads may write it at once, and either is kept. It equals what is written like it.
    """

    __slots__ = ("_made", "_write")

    def __init__(self, write: Callable[[], Drafted]) -> None:
        self._write = write
        self._made: Drafted | None = None

    def __call__(self) -> Drafted:
        if self._made is None:
            self._made = self._write()
        return self._made

    def __eq__(self, other: object) -> bool:
        return self() == (other() if isinstance(other, WrittenLater) else other)

    def __hash__(self) -> int:
        return hash(self())


@dataclass(frozen=True, slots=True)
class Variant:
    """A program for some lengths: a workgroup for every so many of each size in `cover`.

    It is for the calls in which each size of `when` lies from the first number to before the second, on
    backends that have every instruction of `hardware`, where the name of a backend stands for itself.
    """

    source: Drafted | WrittenLater
    cover: tuple[tuple[Size, int], ...]
    when: tuple[tuple[Size, int, int], ...] = ()
    label: str = ""
    hardware: frozenset[str] = frozenset()

    @property
    def drafted(self) -> Drafted:
        return self.source() if isinstance(self.source, WrittenLater) else self.source

    def groups(self, sizes: Mapping[str, int]) -> int:
        total = 1
        for size, each in self.cover:
            total *= -(-size.value(sizes) // each)
        return total

    def suits(self, sizes: Mapping[str, int], hardware: frozenset[str]) -> bool:
        fits = all(low <= size.value(sizes) < high for size, low, high in self.when)
        return fits and self.hardware <= hardware

    @property
    def possible(self) -> bool:
        """Whether some lengths would take it."""
        known = ((size.static, low, high) for size, low, high in self.when)
        return all(static is None or low <= static < high for static, low, high in known)


@dataclass(frozen=True, slots=True)
class Site:
    """The value that a kernel stores and, where it has one, the heavy value that it starts from."""

    graph: Graph
    fusion: Fusion
    root: str
    core: str | None

    @property
    def node(self) -> GraphNode:
        return self.graph.nodes[self.core or self.root]

    @property
    def type(self) -> ValueType:
        return self.graph.types[self.core or self.root]

    def of(self, name: str) -> ValueType:
        return self.graph.types[name]

    def stores(self, name: str) -> bool:
        """Whether a value lies in a buffer that this kernel reads, where it reads the value."""
        if name == self.core or self.fusion.absorbed.get(name) == self.root:
            return False
        return name in self.fusion.stored

    def pull(self) -> Pull:
        return Pull(self.graph, Draft(), self.stores)

    def close(self, pull: Pull, place: Place, value: Expr, kind: DataType) -> None:
        """Stores the root at a place of the core, whose value there is `value` of the type `kind`."""
        pull.draft.store(pull.draft.flat(place), self.closed(pull, place, value, kind))

    def closed(self, pull: Pull, place: Place, value: Expr, kind: DataType) -> Expr:
        """The root there; the number of its element is that of the core's."""
        draft = pull.draft
        if self.core is None or self.core == self.root:
            return value
        seen = draft.let(reloaded(self.type.element, value, kind))
        group = [v for v, behind in self.fusion.absorbed.items() if behind == self.root]
        target = place
        if any(self.of(v).shape != place.shape for v in group):
            target = Place(self.of(self.root).shape, None, draft.flat(place))
            draft.note((self.core, Place(place.shape, None, draft.flat(place))), seen)
        draft.note((self.core, place), seen)
        return pull.computed(self.root, target)

    def finished(self, pull: Pull, lanes: int, element: DataType | None = None) -> Drafted:
        """The program; `element` is what it sees its output as, where that is not the type of the root."""
        return pull.draft.finished(element or self.of(self.root).element, lanes)
