"""What the uniformity analysis asks before it starts: which variables steer control, and from what.

Only variables that reach a condition or a loop bound matter to a barrier; the rest of a program,
usually almost all of it, is never put into the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.ir import expr as e
from vyre.ir.buffers import BufferAccess
from vyre.ir.node import Assign, Break, If, Let, Loop, Node, Return
from vyre.ir.walk import postorder
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Collection

    from vyre.ir.buffers import BufferDecl

MAX_EXACT_WORK = 50_000
"""Assignments of steering variables, each times its nesting, that are followed value by value."""

_UNIFORM_MEMORY = (BufferAccess.Uniform, BufferAccess.ReadOnly, BufferAccess.Constant)


class Needs(NamedTuple):
    """What the value of an expression depends on; `source` names what makes it divergent by itself."""

    names: tuple[str, ...]
    source: str | None


@dataclass(slots=True)
class LoopFacts:
    """What a loop does to its surroundings, inner loops included; `breaks` is its own alone."""

    assigned: set[str] = field(default_factory=set[str])
    returns: bool = False
    breaks: int = 0


@dataclass(slots=True)
class ControlFacts:
    """`needs` has every expression that steering variables, conditions and bounds are made of.

    `work` bounds the vertices that following every value of every steering variable would take.
    """

    buffers: dict[str, BufferDecl | None]
    collectives: Collection[str] = ()
    loops: dict[Loop, LoopFacts] = field(default_factory=dict[Loop, LoopFacts])
    needs: dict[e.Expr, Needs] = field(default_factory=dict[e.Expr, Needs])
    steering: set[str] = field(default_factory=set[str])
    work: int = 0
    _calls: dict[e.Expr, str | None] = field(default_factory=dict[e.Expr, "str | None"])

    def collective_in(self, node: Node) -> str | None:
        """The first collective op that the statement's own expressions call, if any."""
        if not self.collectives:
            return None
        for root in node.exprs:
            if root not in self._calls:
                for expr in postorder(root):
                    if expr not in self._calls:
                        self._calls[expr] = self._collective(expr)
            found = self._calls[root]
            if found is not None:
                return found
        return None

    def _collective(self, expr: e.Expr) -> str | None:
        inner = next((name for c in expr.children if (name := self._calls[c]) is not None), None)
        if inner is None and isinstance(expr, e.Call) and expr.op_id in self.collectives:
            return expr.op_id
        return inner

    def needs_of(self, root: e.Expr) -> Needs:
        known = self.needs.get(root)
        if known is None:
            known = self.needs[root] = self._collect(root)
        return known

    def _collect(self, root: e.Expr) -> Needs:
        names: list[str] = []
        source: str | None = None
        seen: set[e.Expr] = set()
        stack = [root]
        while stack:
            expr = stack.pop()
            if expr in seen:
                continue
            seen.add(expr)
            stack.extend(expr.children)
            if isinstance(expr, e.Var):
                names.append(expr.name)
            elif source is None:
                source = self._source(expr)
        return Needs(tuple(names), source)

    def _source(self, expr: e.Expr) -> str | None:
        """Divergent by itself (decision 14): ids, atomics, memory that others can write, and what is
        the same in a subgroup only."""
        if isinstance(expr, (e.InvocationId, e.LocalId)):
            return type(expr).__name__
        if isinstance(expr, e.Atomic):
            return f"an atomic on {expr.buffer}"
        if isinstance(expr, e.Call) and expr.op_id in self.collectives:
            return f"the result of {expr.op_id}"
        if isinstance(expr, (e.Load, e.FReduce, e.FReduceApprox)):
            buffer = self.buffers.get(expr.buffer)
            if buffer is not None and buffer.access not in _UNIFORM_MEMORY:
                return f"the {buffer.access.value} buffer {expr.buffer}"
        return None


def control_facts(
    entry: tuple[Node, ...], buffers: dict[str, BufferDecl | None], collectives: Collection[str] = ()
) -> ControlFacts:
    """`collectives` are the ops whose results differ from subgroup to subgroup."""
    facts = ControlFacts(buffers, collectives)
    made_of: dict[str, list[e.Expr]] = {}
    work: dict[str, int] = {}
    roots: list[e.Expr] = []
    outermost = LoopFacts()
    stack: list[tuple[Node | None, LoopFacts, LoopFacts, int]] = [(n, outermost, outermost, 1) for n in entry]
    while stack:
        node, loop, outer, depth = stack.pop()
        if node is None:
            outer.assigned |= loop.assigned
            outer.returns |= loop.returns
        elif isinstance(node, Let):
            made_of.setdefault(node.name, []).append(node.value)
        elif isinstance(node, Assign):
            made_of.setdefault(node.name, []).append(node.value)
            loop.assigned.add(node.name)
            work[node.name] = work.get(node.name, 0) + depth
        elif isinstance(node, Return):
            loop.returns = True
        elif isinstance(node, Break):
            loop.breaks += 1
        elif isinstance(node, Loop):
            roots += node.exprs
            inner = facts.loops.setdefault(node, LoopFacts())
            stack.append((None, inner, loop, depth))
            stack.extend((child, inner, loop, depth + 1) for child in node.body)
        else:
            if isinstance(node, If):
                roots.append(node.condition)
            for body in node.bodies:
                stack.extend((child, loop, outer, depth + 1) for child in body)
    while roots:
        for name in facts.needs_of(roots.pop()).names:
            if name not in facts.steering:
                facts.steering.add(name)
                roots += made_of.get(name, ())
    facts.work = sum(work.get(name, 0) for name in facts.steering)
    facts.work += sum(x.breaks * len(x.assigned & facts.steering) for x in facts.loops.values() if x.breaks)
    return facts
