"""Chains of reductions over rows, and of what is computed from them, that one kernel can compute.

A softmax reduces its rows twice, with exponentials between and a division behind. Where a workgroup holds a
whole row, all of it is one kernel, which reads and writes the row once. This is for backends on which a
workgroup is the work of one core or of a team; elsewhere the values are stored as fusion alone decided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.graph.nodes import Broadcast, Constant, ElementWise, Input, Joining, Reduce, Reshape
from vyre.graph.sizes import Size
from vyre.ir.operators import ReduceOrder
from vyre.planning.fusion import HEAVY, weight_of

if TYPE_CHECKING:
    from vyre.graph.graph import Graph
    from vyre.graph.nodes import GraphNode
    from vyre.planning.fusion import Fusion

SHORTEST, LONGEST = 128, 1 << 14
"""Lengths of the rows that a workgroup holds."""
HEAVIEST = 400
"""What is computed for an element in one kernel, in nodes, which are written out for every element that an
invocation has; a function counts as many."""


@dataclass(frozen=True, slots=True)
class RowChain:
    """What one kernel computes: the reductions, in order, of rows of a shape whose last axis they reduce.

    `steps` has them too, and between them the other values that fusion alone would have stored.
    """

    shape: tuple[Size, ...]
    reductions: tuple[str, ...]
    steps: tuple[str, ...]


def by_rows(graph: Graph, fusion: Fusion) -> tuple[Fusion, dict[str, RowChain]]:
    """The fusion in which such chains are one kernel each, and what is in it, by the value that it stores."""
    return _Chains(graph, fusion).found()


class _Chains:
    def __init__(self, graph: Graph, fusion: Fusion) -> None:
        self.graph, self.fusion = graph, fusion
        self.roots = [
            name
            for name, node in graph.values
            if name in fusion.stored and not isinstance(node, Input | Constant)
        ]
        self.weight: dict[str, int] = {}
        self.reads = {root: self._reads(root) for root in self.roots}
        self.readers: dict[str, set[str]] = {root: set() for root in self.roots}
        for root, reads in self.reads.items():
            for value in reads & self.readers.keys():
                self.readers[value].add(root)

    def found(self) -> tuple[Fusion, dict[str, RowChain]]:
        chains: dict[str, RowChain] = {}
        taken: set[str] = set()
        for root in reversed(self.roots):
            shape = self._shape(root)
            if root in taken or shape is None:
                continue
            members = self._members(root, shape)
            cores = [core for name in self.roots if name in members and (core := self._reduction(name))]
            if cores and self._is_local(root, shape, members, cores):
                steps = [
                    self._reduction(name) or name
                    for name in self.roots
                    if name in members and (name != root or self._reduction(name))
                ]
                chains[root] = RowChain(shape, tuple(cores), tuple(steps))
                taken |= members - {root}
        return replace(self.fusion, stored=self.fusion.stored - taken), chains

    def _reads(self, root: str) -> set[str]:
        """The stored values that a kernel reads."""
        found: set[str] = set()
        waiting, seen = [root], {root}
        self.weight[root] = 0
        while waiting:
            node = self.graph.nodes[waiting.pop()]
            self.weight[root] += weight_of(node)
            for operand in node.operands:
                if operand in self.fusion.stored and operand != self.fusion.core.get(root):
                    found.add(operand)
                elif operand not in seen:
                    seen.add(operand)
                    waiting.append(operand)
        return found

    def _reduction(self, root: str) -> str | None:
        """The reduction over rows in a kernel that is one."""
        core = self.fusion.core.get(root)
        node = self.graph.nodes[core] if core is not None else None
        if core is None or not isinstance(node, Reduce):
            return None
        source = self.graph.types[node.source]
        length = source.shape[-1].static if source.rank else None
        fits = length is not None and SHORTEST <= length <= LONGEST and node.axes == (source.rank - 1,)
        plain = node.joining not in (Joining.ArgMin, Joining.ArgMax) and node.order is ReduceOrder.TreeBinary
        return core if fits and plain else None

    def _shape(self, root: str) -> tuple[Size, ...] | None:
        """The shape of the rows that a kernel is about, None where it is not about rows."""
        core = self._reduction(root)
        if core is not None:
            node = self.graph.nodes[core]
            assert isinstance(node, Reduce)
            return self.graph.types[node.source].shape
        is_map = root not in self.fusion.core and not isinstance(self.graph.nodes[root], HEAVY)
        return self.graph.types[root].shape if is_map and self.graph.types[root].rank else None

    def _members(self, root: str, shape: tuple[Size, ...]) -> set[str]:
        """Kernels whose results nobody else reads, which are about the same rows."""
        members = {root}
        waiting = [root]
        while waiting:
            for value in self.reads[waiting.pop()]:
                inside = self.readers.get(value, set())
                fits = value in self.readers and value not in self.graph.outputs and value not in members
                weight = self.weight.get(value, 0) + sum(self.weight[name] for name in members)
                if fits and inside <= members and self._shape(value) == shape and weight <= HEAVIEST:
                    members.add(value)
                    waiting += [value, *members]
        return members

    def _is_local(self, root: str, shape: tuple[Size, ...], members: set[str], cores: list[str]) -> bool:
        """Whether what depends on a reduction needs that of its own row alone."""
        inside, waiting = {root}, [root]
        while waiting:
            for operand in self.graph.nodes[waiting.pop()].operands:
                outside = operand in self.fusion.stored and operand not in members
                if operand not in inside and not outside:
                    inside.add(operand)
                    waiting.append(operand)
        single = (shape[:-1], (*shape[:-1], Size(1)))
        depends: set[str] = set()
        for name, node in self.graph.values:
            if name in cores or (name in inside and not depends.isdisjoint(node.operands)):
                depends.add(name)
                if name not in cores and not self._keeps_rows(name, node, shape, single):
                    return False
        return True

    def _keeps_rows(
        self, name: str, node: GraphNode, shape: tuple[Size, ...], single: tuple[tuple[Size, ...], ...]
    ) -> bool:
        """Whether a node gives every row what it was made from, an element for the row or its elements."""
        have = self.graph.types[name].shape
        match node:
            case ElementWise():
                return True
            case Broadcast(source=source):
                return self.graph.types[source].shape == single[1] and have in (shape, single[1])
            case Reshape(source=source):
                return self.graph.types[source].shape in single and have in single
            case _:
                return False
