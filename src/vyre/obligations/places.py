"""Which places of a program lie behind which others, and what may have been assigned between them.

Statements are numbered in program order, as `vyre.ir.walk.statements` yields them. Every variable has a name
of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import postorder
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.obligations.claims import Place

_IMPURE = (e.Load, e.Atomic, e.Call, e.FReduce, e.FReduceApprox)
_FAR = 64
"""So many assignments of one variable are looked at; where there are more, it may have changed."""


@dataclass(slots=True)
class Places:
    """The statements of a program by number, and the order between them."""

    nodes: list[Node] = field(default_factory=list["Node"])
    definitions: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """The statements that give a variable its value: `Let`, `Assign` and `Loop`."""
    _branches: list[tuple[tuple[int, int], ...]] = field(default_factory=list[tuple[tuple[int, int], ...]])
    """Of each statement, first and end number of its bodies."""
    _end: list[int] = field(default_factory=list[int])
    _block_end: list[int] = field(default_factory=list[int])
    _around: list[tuple[Place, ...]] = field(default_factory=list["tuple[Place, ...]"])
    _left: dict[Node, bool] = field(default_factory=dict["Node", bool])
    _names: dict[Expr, frozenset[str]] = field(default_factory=dict["Expr", frozenset[str]])
    _pure: dict[Expr, bool] = field(default_factory=dict["Expr", bool])

    @classmethod
    def of(cls, entry: tuple[Node, ...]) -> Places:
        places = cls()
        places._block(entry, ())
        return places

    def _block(self, body: tuple[Node, ...], around: tuple[Place, ...]) -> None:
        # Validation bounds the nesting of statements, so recursion is safe here.
        members: list[int] = []
        for node in body:
            number = len(self.nodes)
            members.append(number)
            self.nodes.append(node)
            self._around.append(around)
            self._end.append(0)
            self._block_end.append(0)
            self._branches.append(())
            match node:
                case n.Let(name=name) | n.Assign(name=name) | n.Loop(var=name):
                    self.definitions.setdefault(name, []).append(number)
                case _:
                    pass
            branches: list[tuple[int, int]] = []
            for branch, inner in enumerate(node.bodies):
                first = len(self.nodes)
                self._block(inner, (*around, (number, branch)))
                branches.append((first, len(self.nodes)))
            self._branches[number] = tuple(branches)
            self._end[number] = len(self.nodes)
        for number in members:
            self._block_end[number] = len(self.nodes)

    def fixed(self, name: str) -> bool:
        """Whether a variable gets its value once."""
        return len(self.definitions.get(name, ())) == 1

    def pure(self, expr: Expr) -> bool:
        """Whether an expression has the same value each time it is computed from the same variables."""
        known = self._pure.get(expr)
        if known is None:
            known = not any(isinstance(x, _IMPURE) for x in postorder(expr))
            self._pure[expr] = known
        return known

    def holds_at(self, made: Place, later: Place, expr: Expr) -> bool:
        """Whether what `expr` was at `made` it still is whenever `later` is reached."""
        if made == later:
            return True
        return self._behind(made, later) and all(
            self._kept(name, made, later) for name in self._variables(expr)
        )

    def reaching(self, name: str, place: Place) -> list[int] | None:
        """The statements that may have given a variable the value it has at a place; None if nobody knows."""
        known = self.definitions.get(name, [])
        end = bisect_left(known, place[0])
        for k in reversed(known[max(end - _FAR, 0) : end]):
            killer = self._killer(name, k, place)
            if killer is not None:
                inside = known[bisect_left(known, killer) : bisect_left(known, self._end[killer])]
                after = self._between(name, self._end[killer], (killer, -1), place)
                return None if after is None else sorted({*inside, *after})
        return None

    def _killer(self, name: str, number: int, place: Place) -> int | None:
        """The assignment itself, or the `If` around it whose branches all assign: what was before is gone."""
        ifs = [k for k, _ in self._around[number] if isinstance(self.nodes[k], n.If)]
        for k in (number, *reversed(ifs)):
            passed = self._end[k] <= place[0] and self._behind((k, -1), place)
            if passed and self._assigns(k, name):
                return k
        return None

    def _assigns(self, number: int, name: str) -> bool:
        """Whether whoever comes out of a statement has assigned the variable in it."""
        if isinstance(self.nodes[number], n.Let | n.Assign):
            return number in self.definitions[name]
        return isinstance(self.nodes[number], n.If) and all(
            any(self._assigns(k, name) for k in range(first, end) if self._block_end[k] == end)
            for first, end in self._branches[number]
        )

    def _variables(self, expr: Expr) -> frozenset[str]:
        """The variables of an expression that may change."""
        found = self._names.get(expr)
        if found is None:
            names = (x.name for x in postorder(expr) if isinstance(x, e.Var))
            found = self._names[expr] = frozenset(name for name in names if not self.fixed(name))
        return found

    def _behind(self, made: Place, later: Place) -> bool:
        """Whether `later` is reached only by way of `made`."""
        (number, branch), (target, taken) = made, later
        if branch < 0:
            return number <= target < self._block_end[number]
        if number == target:
            return branch == taken
        if (number, branch) in self._around[target]:
            return True
        other = self.nodes[number].bodies[1 - branch] if isinstance(self.nodes[number], n.If) else ()
        return self._ends(other) and self._end[number] <= target < self._block_end[number]

    def _kept(self, name: str, made: Place, later: Place) -> bool:
        return self._between(name, made[0], made, later) == []

    def _between(self, name: str, first: int, made: Place, later: Place) -> list[int] | None:
        """The assignments that may happen on the way, from statement `first` on; None for very many."""
        here = self._loops(made)
        again = [loop for loop in self._loops(later) if loop not in here]
        known = self.definitions.get(name, [])
        found: set[int] = set()
        for begin, end in [(first, later[0]), *((loop, self._end[loop]) for loop in again)]:
            passed = known[bisect_left(known, begin) : bisect_left(known, end)]
            if len(passed) > _FAR:
                return None
            straight = (begin, end) == (first, later[0])
            found |= {k for k in passed if not (straight and self._excluded(k, later))}
        return sorted(found)

    def _loops(self, place: Place) -> list[int]:
        """The loops whose body a place lies in."""
        number, branch = place
        around = self._around[number] if branch < 0 else (*self._around[number], place)
        return [k for k, _ in around if isinstance(self.nodes[k], n.Loop)]

    def _excluded(self, number: int, later: Place) -> bool:
        """Whether a statement stands in the branch that is not taken on the way to a place."""
        target, taken = later
        way = dict(self._around[target])
        if taken >= 0:
            way[target] = taken
        return any(
            way.get(k, branch) != branch
            for k, branch in self._around[number]
            if isinstance(self.nodes[k], n.If)
        )

    def _ends(self, body: tuple[Node, ...]) -> bool:
        """Whether nobody comes out at the end of a body."""
        return any(self._leaving(node) for node in body)

    def _leaving(self, node: Node) -> bool:
        match node:
            case n.Return() | n.Break():
                return True
            case n.If(then=then, orelse=orelse):
                known = self._left.get(node)
                if known is None:
                    known = self._left[node] = self._ends(then) and self._ends(orelse)
                return known
            case n.Block(body=body):
                return self._ends(body)
            case _:
                return False
