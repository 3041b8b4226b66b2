"""Barriers without threads: the workgroup runs as loops over its invocations, one loop per region.

A region is a run of statements without a barrier; when its loop ends, every invocation has reached
the barrier behind it. A statement that holds a barrier has uniform control (V010), so it is executed once
for the whole workgroup, with regions inside. Variables that several regions use live in arrays with
one element per invocation, unless their value is uniform: then the workgroup holds one copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import every_node, postorder
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vyre.lower.prepare import Prepared

_CHEAP = 16
_TOO_MUCH = 1 << 20


@dataclass(frozen=True, slots=True)
class Run:
    """Statements that every live invocation executes, one invocation after the other."""

    body: tuple[n.Node, ...]
    below: e.Expr | None = None
    """Uniform; where it is given, only invocations with a smaller `LocalId(0)` have anything to do."""
    copies: int = 1
    """How many widths of the workgroup the loop along x goes on for (`rolled.py`)."""
    lanes: bool = False
    """The loop along x is to become vectors; unrolled first, as short ones are, it no longer would."""

    @property
    def returns(self) -> bool:
        return any(isinstance(node, n.Return) for node in every_node(self.body))

    @property
    def breaks(self) -> bool:
        """Whether the loop of the workgroup around it may end here, for all live invocations together."""
        return any(node.breaks for node in self.body)


@dataclass(frozen=True, slots=True)
class Once:
    """A `Let` or `Assign` of a uniform variable, done once for the workgroup."""

    node: n.Let | n.Assign


@dataclass(frozen=True, slots=True)
class Choice:
    """An `If` whose condition is uniform."""

    condition: e.Expr
    then: tuple[Item, ...]
    orelse: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A `Loop` whose bounds are uniform."""

    var: str
    start: e.Expr
    stop: e.Expr
    body: tuple[Item, ...]


Item = Run | Once | Choice | Repeat


@dataclass(frozen=True, slots=True)
class RegionPlan:
    """How a workgroup executes. `crossing` are the variables that live in arrays."""

    items: tuple[Item, ...]
    derived: dict[str, e.Expr]
    """Variables that each region computes again, because their value is a few operations on ids."""
    crossing: tuple[str, ...]
    mortal: bool
    """Some invocations may have returned when a later region begins."""


def plan_regions(prepared: Prepared) -> RegionPlan:
    """Splits a program at its barriers; one region for a program without any."""
    planner = _Planner(prepared)
    items = tuple(planner.items(prepared.entry))
    runs = list(_runs(items))
    # One region alone still comes again where a loop of the workgroup is around it.
    alone = len(items) == 1 and isinstance(items[0], Run)
    mortal = not alone and any(run.returns for run in runs)
    crossing = planner.crossing(items)
    derived = _with_needs(crossing, planner.derived)
    return RegionPlan(items, derived, tuple(name for name in crossing if name not in derived), mortal)


@dataclass(slots=True)
class _Planner:
    prepared: Prepared
    uniform: set[str] = field(default_factory=set[str])
    derived: dict[str, e.Expr] = field(default_factory=dict[str, "e.Expr"])
    _barriers: dict[n.Node, bool] = field(default_factory=dict["n.Node", bool])

    def __post_init__(self) -> None:
        if self._split(self.prepared.entry):
            self.uniform = self._uniform()
            self.derived = small_variables(self.prepared, self.uniform)

    def items(self, body: tuple[n.Node, ...]) -> Iterator[Item]:
        pending: list[n.Node] = []
        for node in self._flattened(body):
            if isinstance(node, n.Let | n.Assign) and node.name in self.uniform:
                # A `Let` may move before the statements of its run, which cannot see its variable.
                if isinstance(node, n.Assign):
                    yield from self._run(pending)
                yield Once(node)
            elif not self._split((node,)):
                pending.append(node)
            else:
                yield from self._run(pending)
                if isinstance(node, n.If):
                    yield Choice(node.condition, tuple(self.items(node.then)), tuple(self.items(node.orelse)))
                elif isinstance(node, n.Loop):
                    yield Repeat(node.var, node.start, node.stop, tuple(self.items(node.body)))
        yield from self._run(pending)

    def _run(self, pending: list[n.Node]) -> Iterator[Run]:
        body = tuple(pending)
        pending.clear()
        match body:
            case ():
                return
            case (n.If(condition=condition, then=then, orelse=()),):
                below = self._below(condition)
                yield Run(body) if below is None else Run(then, below)
            case _:
                yield Run(body)

    def _below(self, condition: e.Expr) -> e.Expr | None:
        match condition:
            case e.BinOp(op=BinaryOp.Lt, left=local, right=bound):
                pass
            case e.BinOp(op=BinaryOp.Gt, left=bound, right=local):
                pass
            case _:
                return None
        if isinstance(local, e.Var):
            local = self.derived.get(local.name, local)
        return bound if local is e.LocalId(0) and self._is_uniform(bound) else None

    def _is_uniform(self, root: e.Expr) -> bool:
        return not any(
            expr.name not in self.uniform if isinstance(expr, e.Var) else self._diverges(expr)
            for expr in postorder(root)
        )

    def crossing(self, items: tuple[Item, ...]) -> tuple[str, ...]:
        """Variables that are not uniform and that more than one region or the workgroup needs."""
        users: dict[str, set[int]] = {}
        for place, names in enumerate(_names_by_place(items)):
            for name in names - self.uniform:
                users.setdefault(name, set()).add(place)
        return tuple(sorted(name for name, places in users.items() if len(places) > 1))

    def _split(self, body: tuple[n.Node, ...]) -> bool:
        return any(self._has_barrier(node) for node in body)

    def _has_barrier(self, node: n.Node) -> bool:
        known = self._barriers.get(node)
        if known is None:
            known = any(isinstance(inner, n.Barrier) for inner in every_node((node,)))
            self._barriers[node] = known
        return known

    def _flattened(self, body: tuple[n.Node, ...]) -> Iterator[n.Node]:
        """The statements with blocks around barriers opened; names are unique, so scopes are not needed."""
        stack = list(reversed(body))
        while stack:
            node = stack.pop()
            if isinstance(node, n.Block) and self._has_barrier(node):
                stack.extend(reversed(node.body))
            else:
                yield node

    def _uniform(self) -> set[str]:
        """Variables set only by the workgroup as a whole, from nothing that differs inside it."""
        definitions: list[tuple[str, e.Expr]] = []
        loops: set[str] = set()
        private: set[str] = set()
        stack: list[n.Node] = list(self.prepared.entry)
        while stack:
            node = stack.pop()
            if isinstance(node, n.Let | n.Assign):
                definitions.append((node.name, node.value))
            elif self._has_barrier(node):
                if isinstance(node, n.Loop):
                    loops.add(node.var)
                for body in node.bodies:
                    stack.extend(body)
            else:
                private |= _bound_inside(node)
        return ({name for name, _ in definitions} | loops) - self._divergent(definitions, private)

    def _divergent(self, definitions: list[tuple[str, e.Expr]], private: set[str]) -> set[str]:
        """The private variables, those of divergent values, and all that depend on them."""
        users: dict[str, list[str]] = {}
        found = set(private)
        for name, value in definitions:
            for expr in postorder(value):
                if isinstance(expr, e.Var):
                    users.setdefault(expr.name, []).append(name)
                elif self._diverges(expr):
                    found.add(name)
        stack = list(found)
        while stack:
            for user in users.get(stack.pop(), ()):
                if user not in found:
                    found.add(user)
                    stack.append(user)
        return found

    def _diverges(self, expr: e.Expr) -> bool:
        if isinstance(expr, e.Load):
            return self.prepared.buffer(expr.buffer).access.writable
        return isinstance(expr, e.InvocationId | e.LocalId | e.Atomic)


def small_variables(prepared: Prepared, uniform: set[str]) -> dict[str, e.Expr]:
    """Variables bound once to a small expression over ids, lengths and uniform variables."""
    assigned = {node.name for node in every_node(prepared.entry) if isinstance(node, n.Assign)}
    fixed = uniform - assigned
    found: dict[str, e.Expr] = {}
    costs: dict[str, int] = {}
    known = assigned | uniform
    for node in every_node(prepared.entry):
        if not isinstance(node, n.Let) or node.name in known:
            continue
        cost = 0
        for expr in postorder(node.value):
            if isinstance(expr, e.Var):
                cost += costs.get(expr.name, 0 if expr.name in fixed else _TOO_MUCH)
            else:
                cost += _TOO_MUCH if isinstance(expr, e.Load | e.Atomic | e.Call) else 1
        if cost <= _CHEAP:
            found[node.name], costs[node.name] = node.value, cost
    return found


def _runs(items: Iterable[Item]) -> Iterator[Run]:
    for item in items:
        match item:
            case Run():
                yield item
            case Choice(then=then, orelse=orelse):
                yield from _runs(then)
                yield from _runs(orelse)
            case Repeat(body=body):
                yield from _runs(body)
            case Once():
                pass


def _names_by_place(items: Iterable[Item]) -> Iterator[set[str]]:
    """The variables that each region, and each statement of the workgroup, needs."""
    for item in items:
        match item:
            case Run(body=body, below=below):
                if below is not None:
                    yield _used(below)
                yield set[str]().union(*(names_of(node) for node in every_node(body)))
            case Once(node=node):
                yield names_of(node)
            case Choice(condition=condition, then=then, orelse=orelse):
                yield _used(condition)
                yield from _names_by_place(then)
                yield from _names_by_place(orelse)
            case Repeat(start=start, stop=stop, body=body):
                yield _used(start) | _used(stop)
                yield from _names_by_place(body)


def _with_needs(crossing: tuple[str, ...], derived: dict[str, e.Expr]) -> dict[str, e.Expr]:
    """The crossing variables that can be derived, and the derived ones that those are computed from."""
    found: dict[str, e.Expr] = {}
    stack = [name for name in crossing if name in derived]
    while stack:
        name = stack.pop()
        if name not in found:
            found[name] = derived[name]
            stack.extend(used for used in _used(derived[name]) if used in derived)
    return found


def names_of(node: n.Node) -> set[str]:
    return _bound(node).union(*(_used(root) for root in node.exprs))


def _bound(node: n.Node) -> set[str]:
    match node:
        case n.Let(name=name) | n.Assign(name=name) | n.Loop(var=name):
            return {name}
        case _:
            return set()


def _bound_inside(node: n.Node) -> set[str]:
    return set[str]().union(*(_bound(inner) for inner in every_node((node,))))


def _used(root: e.Expr) -> set[str]:
    return {expr.name for expr in postorder(root) if isinstance(expr, e.Var)}
