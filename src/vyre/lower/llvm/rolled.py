"""Equal strands as one longer loop.

Where the second strand does what the first does, a workgroup's width further on in every buffer, and the
third again, the loop over the invocations of the first strand simply goes on: the workgroup is then one loop
over neighbouring elements, compiled once.

Strands are compared in a normal form, in which variables are numbered and an index that is in bounds is its
affine form, moved back by as many widths as the strand lies behind the first. The position along x used in
any other way, say as a value, makes the form one of a kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import postorder, rebuild, statements
from vyre.lower.llvm.regions import Run
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.lower.llvm.affine import Ranges
    from vyre.obligations.order import Order

_Statement = tuple[str, str, str, tuple["e.Expr", ...]]


def roll(
    bodies: Sequence[tuple[n.Node, ...]], small: dict[str, e.Expr], ranges: Ranges, order: Order
) -> tuple[Run, ...]:
    """The strands in their order, equal neighbours as one run."""
    if len(bodies) == 1:
        return (Run(bodies[0], lanes=True),)
    runs: list[Run] = []
    first: list[_Statement] = []
    for body in bodies:
        copies = runs[-1].copies if runs else 0
        again = copies > 0 and _Form(small, ranges, copies).statements(body) == first
        if again and order.shifted(runs[-1].body, body, copies):
            runs[-1] = Run(runs[-1].body, copies=copies + 1, lanes=True)
        else:
            runs.append(Run(body, lanes=True))
            first = _Form(small, ranges, 0).statements(body)
    return tuple(runs)


@dataclass(slots=True)
class _Form:
    """The normal form of a strand that lies `place` strands behind the first."""

    small: dict[str, e.Expr]
    ranges: Ranges
    place: int
    _names: dict[str, e.Var] = field(default_factory=dict[str, "e.Var"])
    _done: dict[e.Expr, e.Expr] = field(default_factory=dict["e.Expr", "e.Expr"])

    def statements(self, body: tuple[n.Node, ...]) -> list[_Statement]:
        found: list[_Statement] = []
        for path, node in statements(body):
            name, roots = "", node.exprs
            match node:
                case n.Let(name=bound) | n.Assign(name=bound) | n.Loop(var=bound):
                    name = self._variable(bound).name
                case n.Store(buffer=buffer, index=index, value=value):
                    place = self._index(buffer, index)
                    name, roots = f"{buffer} {place}", (value,) if place else (index, value)
                case _:
                    pass
            found.append((path, type(node).__name__, name, tuple(self._value(x) for x in roots)))
        return found

    def _value(self, root: e.Expr) -> e.Expr:
        for expr in postorder(root):
            if expr not in self._done:
                self._done[expr] = self._changed(expr)
        return self._done[root]

    def _changed(self, expr: e.Expr) -> e.Expr:
        match expr:
            case e.Var(name=name) if name in self.small:
                return self._value(self.small[name])
            case e.Var(name=name):
                return self._variable(name)
            case e.InvocationId(axis=0) | e.LocalId(axis=0):
                return e.Var(f"id of strand {self.place}")
            case e.Load(buffer=buffer, index=index) | e.Atomic(buffer=buffer, index=index):
                form = self._index(buffer, index)
                rest = tuple(self._done[x] for x in expr.children[1:])
                return rebuild(expr, (e.Var(form) if form else self._done[index], *rest))
            case _:
                decided = self.ranges.decided(expr, fast=True)
                if decided is not None:
                    return e.LitBool(decided)
                return rebuild(expr, tuple(self._done[x] for x in expr.children))

    def _variable(self, name: str) -> e.Var:
        return self._names.setdefault(name, e.Var(f"variable {len(self._names)}"))

    def _index(self, buffer: str, index: e.Expr) -> str:
        """The place in bounds as text; empty where it is not known."""
        form = self.ranges.place(buffer, index)
        if form is None:
            return ""
        moved = form.offset - self.place * self.ranges.width * form.local
        rest = sorted((repr(self._value(term)), times) for term, times in form.rest)
        return f"element {form.group} {form.local} {moved} {rest}"
