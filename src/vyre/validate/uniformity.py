"""V010: which barriers may be reached by some invocations of a workgroup and not by others.

Every value of a variable is a vertex of a graph, and so is every condition that control depends
on. An edge means "depends on". Divergence starts at ids and at memory that other invocations can
write (decision 14) and spreads along the edges: one pass builds the graph, loops close cycles in
it, and reachability is the fixpoint, in time linear in the program.

Control has two parts. `control` is the conditions and bounds around a statement; it ends with its
block, where the branches meet again. `returned` is what decided whether an invocation left
earlier, in this iteration or one before; it never ends.

Where a program assigns thousands of steering variables under dozens of nested blocks, a variable
is one vertex for all its values: still sound, but it stays divergent once it was. (`MAX_EXACT_WORK`)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.ir.node import Assign, Barrier, Block, If, Let, Loop, Node, Return
from vyre.validate.control_facts import MAX_EXACT_WORK, ControlFacts, control_facts
from vyre.validate.paths import Body

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.expr import Expr

_FIX = (
    "move the barrier to where every invocation of the workgroup passes, "
    "or guard the work around it instead of the barrier."
)


@dataclass(frozen=True, slots=True)
class Divergence:
    """A barrier that breaks V010."""

    path: str
    message: str
    fix: str = _FIX


class _Graph:
    """Vertices are ints; `origin` names the source that made a vertex divergent."""

    def __init__(self) -> None:
        self._users: list[list[int]] = []
        self._sources: list[tuple[int, str]] = []

    def vertex(self, *needs: int) -> int:
        new = len(self._users)
        self._users.append([])
        for need in needs:
            self._users[need].append(new)
        return new

    def depend(self, user: int, need: int) -> None:
        self._users[need].append(user)

    def source(self, vertex: int, why: str) -> None:
        self._sources.append((vertex, why))

    def divergent(self) -> dict[int, str]:
        origin: dict[int, str] = {}
        for vertex, why in self._sources:
            stack = [vertex]
            while stack:
                current = stack.pop()
                if current not in origin:
                    origin[current] = why
                    stack.extend(self._users[current])
        return origin


@dataclass(slots=True)
class _Region:
    """A body being walked: what held before it, and what its end does."""

    body: Body
    finish: Callable[[_Region], None]
    control: int
    next: int = 0
    before: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    ended: bool = False
    returns: bool = False


def divergent_barriers(entry: tuple[Node, ...], buffers: dict[str, BufferDecl | None]) -> list[Divergence]:
    """The barriers of a program that are not in uniform control flow, in program order."""
    return _Analysis(control_facts(entry, buffers)).run(entry)


class _Analysis:
    def __init__(self, facts: ControlFacts) -> None:
        self._facts = facts
        self._coarse = facts.work > MAX_EXACT_WORK
        self._graph = _Graph()
        self._values: dict[str, int] = {}
        self._regions: list[_Region] = []
        self._returned = self._graph.vertex()
        self._barriers: list[tuple[Body, int, int, int]] = []

    def run(self, entry: tuple[Node, ...]) -> list[Divergence]:
        self._open(Body(entry, "entry"), self._graph.vertex(), lambda region: None)
        while self._regions:
            region = self._regions[-1]
            if region.next == len(region.body.nodes):
                self._regions.pop()
                region.finish(region)
                continue
            region.next += 1
            self._step(region, region.body.nodes[region.next - 1])
        origin = self._graph.divergent()
        found: list[Divergence] = []
        for body, position, control, returned in self._barriers:
            if control in origin:
                why = f"a condition or bound around the barrier depends on {origin[control]}"
            elif returned in origin:
                why = f"invocations may have returned before the barrier, depending on {origin[returned]}"
            else:
                continue
            found.append(Divergence(body.path(position), f"not every invocation reaches the barrier: {why}."))
        return found

    def _step(self, region: _Region, node: Node) -> None:
        match node:
            case Let(name=name, value=value) | Assign(name=name, value=value):
                if name in self._facts.steering:
                    self._set(name, self._value(value))
            case Return():
                region.ended = region.returns = True
            case Barrier():
                self._barriers.append((region.body, region.next - 1, region.control, self._returned))
            case Block(body=body):
                self._open(Body(body, "body", region.body, region.next - 1), region.control, self._end_block)
            case If():
                self._branch(region, node)
            case Loop():
                self._loop(region, node)
            case _:
                pass

    def _open(self, body: Body, control: int, finish: Callable[[_Region], None]) -> None:
        self._regions.append(_Region(body, finish, control))

    def _set(self, name: str, vertex: int) -> None:
        region = self._regions[-1]
        known = self._values.get(name)
        if self._coarse and known is not None:
            self._graph.depend(known, vertex)
            self._graph.depend(known, region.control)
        elif self._coarse:
            self._values[name] = self._graph.vertex(vertex, region.control)
        else:
            region.before.setdefault(name, known)
            self._values[name] = vertex

    def _value(self, *roots: Expr) -> int:
        """A vertex for the values of expressions: divergent by itself, or through its variables."""
        result = self._graph.vertex()
        for root in roots:
            needs = self._facts.needs_of(root)
            if needs.source is not None:
                self._graph.source(result, needs.source)
            for name in needs.names:
                known = self._values.get(name)
                if known is not None:
                    self._graph.depend(result, known)
        return result

    def _undo(self, region: _Region) -> dict[str, int]:
        """Takes back what a body did to the variables; gives the new values of outer ones."""
        changed: dict[str, int] = {}
        for name, before in region.before.items():
            if before is None:
                del self._values[name]
            else:
                changed[name] = self._values[name]
                self._values[name] = before
        return changed

    def _end_block(self, region: _Region) -> None:
        changed = self._undo(region)
        parent = self._regions[-1]
        for name, vertex in changed.items():
            self._set(name, vertex)
        parent.ended |= region.ended
        parent.returns |= region.returns

    def _branch(self, region: _Region, node: If) -> None:
        condition = self._value(node.condition)
        control = self._graph.vertex(region.control, condition)
        returned_before = self._returned
        position = region.next - 1

        def end_then(then: _Region) -> None:
            changed = self._undo(then)
            returned_then, self._returned = self._returned, returned_before

            def end_else(orelse: _Region) -> None:
                self._join(condition, (then, changed, returned_then), (orelse, self._undo(orelse)))

            self._open(Body(node.orelse, "orelse", region.body, position), control, end_else)

        self._open(Body(node.then, "then", region.body, position), control, end_then)

    def _join(
        self,
        condition: int,
        first: tuple[_Region, dict[str, int], int],
        second: tuple[_Region, dict[str, int]],
    ) -> None:
        """Merges two branches. One that ends for everybody in it has no say in what follows."""
        then, then_values, then_returned = first
        orelse, else_values = second
        parent = self._regions[-1]
        vertex = self._graph.vertex
        both_ended = then.ended and orelse.ended
        for name in {**then_values, **else_values}:
            before = self._values[name]
            left, right = then_values.get(name, before), else_values.get(name, before)
            if then.ended and not both_ended:
                merged = right
            elif orelse.ended and not both_ended:
                merged = left
            else:
                merged = vertex(left, right, condition)
            self._set(name, merged)
        if then.returns or orelse.returns:
            needs = [condition]
            if both_ended or not then.ended:
                needs.append(then_returned)
            if both_ended or not orelse.ended:
                needs.append(self._returned)
            self._returned = vertex(*needs)
        parent.returns |= then.returns or orelse.returns
        parent.ended |= both_ended

    def _loop(self, region: _Region, node: Loop) -> None:
        bounds = self._value(node.start, node.stop)
        facts = self._facts.loops[node]
        graph = self._graph
        heads: dict[str, int] = {}
        assigned = set[str]() if self._coarse else facts.assigned & self._values.keys()
        for name in sorted(assigned, key=str):
            heads[name] = graph.vertex(self._values[name])
            self._set(name, heads[name])
        head_returned = self._returned
        if facts.returns:
            head_returned = self._returned = graph.vertex(self._returned, bounds)

        def end_body(body: _Region) -> None:
            changed = self._undo(body)
            for name, head in heads.items():
                if not body.ended and name in changed:
                    graph.depend(head, changed[name])
                # How often the body ran is part of what the variable holds after it.
                self._set(name, graph.vertex(head, bounds))
            if not body.ended and self._returned != head_returned:
                graph.depend(head_returned, self._returned)
            self._returned = head_returned
            self._regions[-1].returns |= body.returns

        control = graph.vertex(region.control, bounds)
        self._open(Body(node.body, "body", region.body, region.next - 1), control, end_body)
        self._set(node.var, bounds)
