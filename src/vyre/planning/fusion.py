"""What is stored and what is computed where it is read.

Fusion pulls: a value that one kernel alone reads is computed inside that kernel, and a view is never stored.
What would be computed many times over is stored instead, unless it is as cheap as the load. Reductions and
products of matrices also take what is computed from their result element by element. No bits depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from vyre.graph.nodes import (
    Accumulator,
    Broadcast,
    Concat,
    Constant,
    Copy,
    ElementWise,
    Gather,
    GraphNode,
    Input,
    Iota,
    MatMul,
    Pick,
    Recurrence,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Windows,
)
from vyre.ir.expr import BinOp, Call, Cast, Expr, UnOp, Var
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder
from vyre.planning.layout import is_copy
from vyre.planning.pull import is_splat

if TYPE_CHECKING:
    from vyre.graph.graph import Graph

MAX_READS = 7
"""Buffers that a kernel reads: with its output WebGPU's eight."""
MAX_WEIGHT = 1_500
"""What is computed in one kernel, in nodes; a function counts as many."""
_FUNCTION = 40
_MOST_BEHIND = 40
_CHEAP = 8
HEAVY = (Reduce, Scan, Recurrence, MatMul, Scatter)
_TAKES_EPILOGUE = (Reduce, MatMul, Scatter)
_COSTLY = {BinaryOp.FDiv, BinaryOp.FATan2, BinaryOp.FPow, BinaryOp.Div, BinaryOp.Mod}


@dataclass(slots=True)
class Fusion:
    """The decisions for one graph. `why` has a sentence for each stored value that could have been fused."""

    stored: set[str] = field(default_factory=set[str])
    why: dict[str, str] = field(default_factory=dict[str, str])
    core: dict[str, str] = field(default_factory=dict[str, str])
    """The heavy value in the kernel of each root that has one."""
    absorbed: dict[str, str] = field(default_factory=dict[str, str])
    """The root in whose kernel a value behind a heavy one is computed, for each such value."""


def decided(graph: Graph, *, fuse: bool) -> Fusion:
    """Which values are stored, and why."""
    return _Decision(graph, fuse=fuse).made()


class _Decision:
    def __init__(self, graph: Graph, *, fuse: bool) -> None:
        self.graph = graph
        self.fuse = fuse
        self.found = Fusion()
        self.order = [name for name, _ in graph.values]
        self.place = {name: number for number, name in enumerate(self.order)}
        self.consumers: dict[str, list[str]] = {name: [] for name in self.order}
        self.live: set[str] = set(graph.outputs)
        for name in reversed(self.order):
            if name in self.live:
                for operand in dict.fromkeys(graph.nodes[name].operands):
                    self.live.add(operand)
                    self.consumers[operand].append(name)
        self._users: dict[str, set[str]] = {}
        self._again: dict[str, str | None] = {}
        self._taken_by: dict[str, str] = {}
        self._leaves: dict[str, set[str]] = {}
        self._weight: dict[str, int] = {}

    def made(self) -> Fusion:
        for name, node in self.graph.values:
            if name in self.live and isinstance(node, HEAVY):
                self._behind(name, node)
        for name in reversed(self.order):
            if name in self.live:
                self._decide(name, self.graph.nodes[name])
        for name in self.order:
            if name in self.live:
                self._bound(name, self.graph.nodes[name])
        return self.found

    def _behind(self, name: str, node: GraphNode) -> None:
        """Looks for the last value that only depends on `name` through single elements of it."""
        group, best = {name}, name
        if self.fuse and isinstance(node, _TAKES_EPILOGUE) and not _gives_bits(node):
            for later in self._reached(name):
                group.add(later)
                open_values = [v for v in group if v in self.graph.outputs or self._leaves_group(v, group)]
                if open_values == [later]:
                    best = later
        self.found.core[best] = name
        for value in group:
            if self.place[value] <= self.place[best]:
                self.found.absorbed[value] = best

    def _reached(self, name: str) -> list[str]:
        """What is computed from single elements of `name` and of values that are, in order."""
        waiting = [self.place[user] for user in self.consumers[name]]
        seen = set(waiting)
        heapify(waiting)
        found: list[str] = []
        while waiting and len(found) < _MOST_BEHIND:
            later = self.order[heappop(waiting)]
            node = self.graph.nodes[later]
            if not isinstance(node, ElementWise | Reshape) or later in self.found.absorbed:
                continue
            found.append(later)
            for user in self.consumers[later]:
                if self.place[user] not in seen:
                    seen.add(self.place[user])
                    heappush(waiting, self.place[user])
        return found

    def _leaves_group(self, value: str, group: set[str]) -> bool:
        return any(user not in group for user in self.consumers[value])

    def _decide(self, name: str, node: GraphNode) -> None:
        users: set[str] = set()
        again: str | None = None
        for user in self.consumers[name]:
            behind = self.found.absorbed.get(user)
            if behind is not None:
                users.add(behind)
            elif user in self.found.stored:
                users.add(user)
            else:
                users |= self._users[user]
                again = again or self._again[user]
            again = again or self._repeats(name, user)
            if self._takes_bits(name, user):
                self._taken_by.setdefault(name, self._taken_by.get(user, user))
        self._users[name], self._again[name] = users, again
        reason = self._reason(name, node)
        if reason is not None:
            self.found.stored.add(name)
            if reason:
                self.found.why[name] = reason

    def _reason(self, name: str, node: GraphNode) -> str | None:
        """Why a value is stored, "" where that goes without saying, None where it is not."""
        absorbed = self.found.absorbed.get(name)
        if absorbed is not None:
            return "" if absorbed == name else None
        match node:
            case Input():
                return ""
            case Constant():
                return None if is_splat(node) and name not in self.graph.outputs else ""
            case Copy():
                return "a copy is in memory of its own"
            case _ if name in self.graph.outputs:
                return ""
            case _ if node.is_view:
                return None
            case _ if not self.fuse:
                return "every value is stored without fusion"
            case Iota():
                return None
            case _:
                return self._costs(name, node)

    def _costs(self, name: str, node: GraphNode) -> str | None:
        users, again = self._users[name], self._again[name]
        if name in self._taken_by:
            return f"{self._taken_by[name]} reads the bits of its elements"
        if isinstance(node, ElementWise) and _is_cheap(node.expr) and self._is_from_nothing(name):
            return None
        if len(users) > 1:
            return f"{len(users)} kernels read it: {', '.join(sorted(users, key=self.place.__getitem__))}"
        if again is None:
            return None
        if not isinstance(node, ElementWise):
            return again
        fits = _is_cast(node.expr) if again.startswith(_MATMUL) else _is_cheap(node.expr)
        return None if fits else again

    def _is_from_nothing(self, name: str) -> bool:
        """Whether a value follows from coordinates and literals alone, so that nothing is loaded for it."""
        waiting, seen = [name], 0
        while waiting and seen < _CHEAP:
            node = self.graph.nodes[waiting.pop()]
            seen += 1
            if not (isinstance(node, Iota | ElementWise) or node.is_view or is_splat(node)):
                return False
            if isinstance(node, ElementWise) and not _is_cheap(node.expr):
                return False
            waiting += node.operands
        return not waiting

    def _takes_bits(self, name: str, user: str) -> bool:
        """Whether the bits of an F64 are read, which only memory and literals have, by itself or a view."""
        node = self.graph.nodes[user]
        if self.graph.types[name].element is not DataType.F64:
            return False
        exact = isinstance(node, MatMul) and node.accumulator is Accumulator.Exact
        return exact or (node.is_view and user in self._taken_by and user not in self.found.stored)

    def _repeats(self, name: str, user: str) -> str | None:
        """Why `user` would compute an element of `name` more than once, None where it does not."""
        node = self.graph.nodes[user]
        match node:
            case Broadcast() if self.graph.types[user].count != self.graph.types[name].count:
                return f"{user} broadcasts it, so that it would be computed for every element there"
            case Windows():
                return f"the windows of {user} share elements"
            case Gather(source=source) | Pick(source=source) if source == name:
                return f"{user} takes elements of it by index, any number of times"
            case Gather(indices=indices) if indices == name and self.graph.types[node.source].rank > 1:
                return f"{user} takes many elements by each of its indices"
            case Concat() if len(node.sources) > 1:
                return f"{user} chooses among sources that would all be computed"
            case MatMul() if self._is_read_once(name, node):
                return None
            case MatMul():
                return f"{_MATMUL} {user} reads it again for every row or column"
            case Scatter(indices=indices) if indices == name:
                return f"every element of {user} looks at all indices"
            case _:
                return None

    def _is_read_once(self, name: str, node: MatMul) -> bool:
        """Whether the other side is one row or one column: a vector times the values of codes, say."""
        rows, columns = self.graph.types[node.left].shape[-2], self.graph.types[node.right].shape[-1]
        across = columns if name in (node.left, node.mask) else rows
        both = name == node.right and name in (node.left, node.mask)
        return across.static == 1 and not both and node.accumulator is not Accumulator.Exact

    def _bound(self, name: str, node: GraphNode) -> None:
        """Keeps kernels within the limits, and gives a reshape memory where strides forbid a view."""
        stored = self.found.stored
        inside = self.found.absorbed.get(name)
        if (
            name not in stored
            and inside is None
            and isinstance(node, Reshape)
            and is_copy(self.graph, name, stored)
        ):
            self._store(name, "its strides forbid a view, so that a reshape is a copy")
        operands = list(dict.fromkeys(node.operands))
        if inside is not None and inside != name:
            self._leaves[name], self._weight[name] = set(), 0
            return
        if inside is not None:
            operands = self._outside(inside)
        while True:
            leaves: set[str] = set()
            for operand in operands:
                leaves |= {operand} if operand in stored else self._leaves[operand]
            weight = weight_of(node) + sum(self._weight[o] for o in operands if o not in stored)
            pulled = [o for o in operands if o not in stored and self._leaves[o]]
            over = "more than 7 buffers" if len(leaves) > MAX_READS else None
            over = over or ("more than the bound on one kernel" if weight > MAX_WEIGHT else None)
            if over is None or not pulled:
                break
            widest = max(pulled, key=lambda o: (len(self._leaves[o]), self._weight[o]))
            if len(self._leaves[widest]) == 1 and weight <= MAX_WEIGHT:
                break
            self._store(widest, f"the kernel of {name} would take {over}")
        self._leaves[name], self._weight[name] = leaves, weight

    def _outside(self, root: str) -> list[str]:
        """What the kernel of a root takes from elsewhere."""
        group = [value for value, behind in self.found.absorbed.items() if behind == root]
        taken = [o for value in group for o in self.graph.nodes[value].operands if o not in group]
        return list(dict.fromkeys(taken))

    def _store(self, name: str, reason: str) -> None:
        self.found.stored.add(name)
        self.found.why[name] = reason
        self._leaves[name], self._weight[name] = {name}, 0


_MATMUL = "a product of matrices takes casts and views alone:"


def _gives_bits(node: GraphNode) -> bool:
    """Whether a kernel gives the bits of an F64, which no expression makes a number of."""
    if not isinstance(node, MatMul):
        return False
    return node.accumulator is Accumulator.Exact and node.element is DataType.F64


def weight_of(node: GraphNode) -> int:
    """What a node adds to a kernel, in nodes of expressions."""
    if not isinstance(node, ElementWise):
        return 4
    return sum(_FUNCTION if _is_function(part) else 1 for part in postorder(node.expr))


def _is_function(part: Expr) -> bool:
    match part:
        case BinOp(op=op):
            return op in _COSTLY
        case UnOp(op=op):
            return op.row.kernel != "" and op.row.is_float and op is not UnaryOp.FIsNaN
        case _:
            return isinstance(part, Call)


def _is_cast(expr: Expr) -> bool:
    while isinstance(expr, Cast):
        expr = expr.value
    return isinstance(expr, Var)


def _is_cheap(expr: Expr) -> bool:
    """Whether to compute it again costs no more than to load it again."""
    return expr.size <= _CHEAP and not any(_is_function(part) for part in postorder(expr))
