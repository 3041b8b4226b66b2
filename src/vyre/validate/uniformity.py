"""V010 and V045: which barriers and collective instructions may be reached by some invocations of a
workgroup and not by others.

Every value of a variable is a vertex of a graph, and so is every condition that control depends
on. An edge means "depends on". Divergence starts at ids and at memory that other invocations can
write (decision 14) and spreads along the edges: one pass builds the graph, loops close cycles in
it, and reachability is the fixpoint, in time linear in the program.

Control has two parts. `control` is the conditions and bounds around a statement; it ends with its
block, where the branches meet again. `returned` is what decided whether an invocation left
earlier, in this iteration or one before; it never ends. A `Break` is a condition around the whole body of its
loop: the next turn, and what stands behind it, is only for those who did not leave. After the loop all are
together again, and what the loop assigned depends on when each of them left.

Where a program assigns thousands of steering variables under dozens of nested blocks, a variable
is one vertex for all its values: still sound, but it stays divergent once it was. (`MAX_EXACT_WORK`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.node import Assign, Barrier, Block, Break, If, Let, Loop, Node, Return
from vyre.slotted import dataclass, field
from vyre.validate.control_facts import MAX_EXACT_WORK, ControlFacts, control_facts
from vyre.validate.paths import Body

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.expr import Expr

_FIX = (
    "move the {what} to where every invocation of the workgroup passes, "
    "or guard the work around it instead of the {what}."
)


@dataclass(frozen=True, slots=True)
class Divergence:
    """A barrier that breaks V010, or a call of a collective op that breaks V045."""

    code: str
    path: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A statement that all invocations must reach together; `op_id` is empty for a barrier."""

    op_id: str
    body: Body
    position: int
    control: int
    returned: int
    breaks: bool

    def divergence(self, origin: dict[int, str]) -> Divergence | None:
        what = "call" if self.op_id else "barrier"
        if self.control in origin:
            either = ", or what decides a break of a loop around it," if self.breaks else ""
            why = f"a condition or bound around the {what}{either} depends on {origin[self.control]}"
        elif self.returned in origin:
            why = f"invocations may have returned before the {what}, depending on {origin[self.returned]}"
        else:
            return None
        shown = f"call of {self.op_id}" if self.op_id else what
        return Divergence(
            "V045" if self.op_id else "V010",
            self.body.path(self.position),
            f"not every invocation reaches the {shown}: {why}.",
            _FIX.format(what=what),
        )


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
class _OpenLoop:
    """A loop whose body is being walked: vertices for who has left it, for who has returned, and for what
    its variables hold after it. Without a `Break` in it, `left` is None."""

    left: int | None
    returned: int
    after: dict[str, int]


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


def divergences(
    entry: tuple[Node, ...],
    buffers: dict[str, BufferDecl | None],
    *,
    collectives: Collection[str] = (),
    params: Iterable[str] = (),
    root: str = "entry",
) -> list[Divergence]:
    """The barriers and calls of `collectives` that are not in uniform control flow, in program order.

    For the body of an op, `params` are its parameters, of which nothing is known to be uniform.
    """
    analysis = _Analysis(control_facts(entry, buffers, collectives))
    analysis.assume_divergent(params)
    return analysis.run(entry, root)


class _Analysis:
    def __init__(self, facts: ControlFacts) -> None:
        self._facts = facts
        self._coarse = facts.work > MAX_EXACT_WORK
        self._graph = _Graph()
        self._values: dict[str, int] = {}
        self._regions: list[_Region] = []
        self._loops: list[_OpenLoop] = []
        self._returned = self._graph.vertex()
        self._meetings: list[_Meeting] = []

    def assume_divergent(self, params: Iterable[str]) -> None:
        for name in params:
            self._values[name] = self._graph.vertex()
            self._graph.source(self._values[name], f"the parameter {name}")

    def run(self, entry: tuple[Node, ...], root: str) -> list[Divergence]:
        self._open(Body(entry, root), self._graph.vertex(), lambda region: None)
        while self._regions:
            region = self._regions[-1]
            if region.next == len(region.body.nodes):
                self._regions.pop()
                region.finish(region)
                continue
            region.next += 1
            self._step(region, region.body.nodes[region.next - 1])
        origin = self._graph.divergent()
        return [found for m in self._meetings if (found := m.divergence(origin)) is not None]

    def _meet(self, region: _Region, op_id: str) -> None:
        breaks = any(loop.left is not None for loop in self._loops)
        self._meetings.append(
            _Meeting(op_id, region.body, region.next - 1, region.control, self._returned, breaks)
        )

    def _step(self, region: _Region, node: Node) -> None:
        op_id = self._facts.collective_in(node)
        if op_id is not None:
            self._meet(region, op_id)
        match node:
            case Let(name=name, value=value) | Assign(name=name, value=value):
                if name in self._facts.steering:
                    self._set(name, self._value(value))
            case Return():
                region.ended = region.returns = True
            case Break():
                self._break(region)
            case Barrier():
                self._meet(region, "")
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
        left = graph.vertex() if facts.breaks else None
        turns = bounds if left is None else graph.vertex(bounds, left)
        assigned = set[str]() if self._coarse else facts.assigned & self._values.keys()
        for name in sorted(assigned, key=str):
            heads[name] = graph.vertex(self._values[name])
            self._set(name, heads[name])
        head_returned = self._returned
        if facts.returns:
            head_returned = self._returned = graph.vertex(self._returned, turns)
        # How often the body ran is part of what a variable holds after it.
        after = {name: graph.vertex(head, turns) for name, head in heads.items()}
        self._loops.append(_OpenLoop(left, head_returned, after))

        def end_body(body: _Region) -> None:
            self._loops.pop()
            changed = self._undo(body)
            for name, head in heads.items():
                if not body.ended and name in changed:
                    graph.depend(head, changed[name])
                self._set(name, after[name])
            if not body.ended and self._returned != head_returned:
                graph.depend(head_returned, self._returned)
            self._returned = head_returned
            self._regions[-1].returns |= body.returns

        control = graph.vertex(region.control, turns)
        self._open(Body(node.body, "body", region.body, region.next - 1), control, end_body)
        self._set(node.var, bounds)

    def _break(self, region: _Region) -> None:
        region.ended = True
        if not self._loops:  # V046
            return
        loop = self._loops[-1]
        assert loop.left is not None
        self._graph.depend(loop.left, region.control)
        for name, vertex in loop.after.items():
            self._graph.depend(vertex, self._values[name])
        if loop.returned != self._returned:
            self._graph.depend(loop.returned, self._returned)
