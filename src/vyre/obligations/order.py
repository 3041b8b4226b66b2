"""Reorderings of the statements of a workgroup, held against what may not change.

Statements of one invocation keep their order unless they have nothing to do with each other: no variable in
common, and no place of memory that one of them writes. What is verified here is that the parts which an
emitter lets run one after the other are apart in this sense, that parts which it runs as one loop do the same
a workgroup's width further on, and that the turns of a loop which it moves outwards are apart.

Places of memory are known for accesses in bounds at an affine index (`linear.py`): `place` gives its form,
and None for all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import every_node, postorder, statements
from vyre.obligations.linear import settled
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.obligations.linear import Form, Lines

    FormOf = Callable[[str, Expr], Form | None]
    Body = Sequence[Node]

_MEMORY = (e.Load, e.Atomic, e.Call, e.FReduce, e.FReduceApprox)


@dataclass(frozen=True, slots=True)
class _Touch:
    part: int
    form: Form | None
    writes: bool


@dataclass(frozen=True, slots=True)
class Order:
    """`derived` are variables that are computed again wherever they are needed."""

    lines: Lines
    width: int
    place: FormOf
    derived: Mapping[str, Expr]
    decided: Callable[[Expr], bool | None]

    def taken(self, body: Body, units: Sequence[Node]) -> bool:
        """Whether `units` are the statements of a body with its blocks opened and, of each `If` that is
        decided, the branch that is taken."""
        found: list[Node] = []
        stack = list(reversed(body))
        while stack:
            node = stack.pop()
            match node:
                case n.Block(body=inner):
                    stack.extend(reversed(inner))
                case n.If(condition=condition, then=then, orelse=orelse):
                    outcome = settled(condition, self.decided)
                    if outcome is None:
                        found.append(node)
                    else:
                        stack.extend(reversed(then if outcome else orelse))
                case _:
                    found.append(node)
        return found == list(units)

    def parts_apart(self, parts: Sequence[Body]) -> bool:
        """Whether each part may run for all invocations before the next one begins."""
        if not self._derived_sound():
            return False
        users: dict[str, int] = {}
        touched: dict[str, list[_Touch]] = {}
        for number, part in enumerate(parts):
            for name in _names(part) - self.derived.keys():
                if users.setdefault(name, number) != number:
                    return False
            for buffer, form, writes in self._touches(part):
                touched.setdefault(buffer, []).append(_Touch(number, form, writes))
        return all(self._disjoint(found) for found in touched.values() if any(t.writes for t in found))

    def _disjoint(self, found: list[_Touch]) -> bool:
        if len({t.part for t in found}) == 1:
            return True
        known = [(t.form, t.part) for t in found if t.form is not None]
        if len(known) < len(found) or len({_rows(form) for form, _ in known}) > 1:
            return False
        spans = sorted((*self.lines.spread(form), part) for form, part in known)
        _, end, owner = spans[0]
        for low, high, part in spans[1:]:
            # Spans of other parts ended before this owner's began, or an earlier turn had found that out.
            if low <= end and part != owner:
                return False
            if high > end:
                end, owner = high, part
        return True

    def turns_apart(self, loop: n.Loop) -> bool:
        """Whether each turn of a loop may run for all invocations before the next one begins."""
        if any(node.breaks for node in loop.body):
            return False
        bound = {name for node in every_node(loop.body) if (name := _bound(node))}
        if not self._derived_sound() or not _names(loop.body) - self.derived.keys() <= bound | {loop.var}:
            return False
        if {node.name for node in every_node(loop.body) if isinstance(node, n.Assign)} - {
            node.name for node in every_node(loop.body) if isinstance(node, n.Let)
        }:
            return False
        touched: dict[str, list[_Touch]] = {}
        for buffer, form, writes in self._touches(loop.body):
            touched.setdefault(buffer, []).append(_Touch(0, form, writes))
        written = [found for found in touched.values() if any(t.writes for t in found)]
        return all(self._strides(found, loop.var) for found in written)

    def _strides(self, found: list[_Touch], var: str) -> bool:
        forms = [t.form for t in found if t.form is not None]
        if len(forms) < len(found) or len({_rows(form) for form in forms}) > 1:
            return False
        strides = {dict(form.rest).get(e.Var(var), 0) for form in forms}
        spans = [self.lines.spread(_without(form, var)) for form in forms]
        wide = max(high for _, high in spans) - min(low for low, _ in spans)
        return len(strides) == 1 and wide < strides.pop()

    def shifted(self, first: Body, later: Body, widths: int) -> bool:
        """Whether `later` does for each invocation what `first` does for the one `widths` workgroups' widths
        further on along x."""
        return self._derived_sound() and _Twins(self, widths).same(first, later)

    def _touches(self, body: Body) -> Iterator[tuple[str, Form | None, bool]]:
        for node in every_node(body):
            if isinstance(node, n.Store):
                yield node.buffer, self.place(node.buffer, node.index), True
            for root in node.exprs:
                for expr in postorder(root):
                    match expr:
                        case e.Load(buffer=buffer, index=index):
                            yield buffer, self.place(buffer, index), False
                        case e.Atomic(buffer=buffer, index=index):
                            yield buffer, self.place(buffer, index), True
                        case e.FReduce(buffer=buffer) | e.FReduceApprox(buffer=buffer):
                            yield buffer, None, False
                        case _:
                            pass

    def _derived_sound(self) -> bool:
        """Whether variables that are computed again depend on nothing but ids and lengths."""
        for value in self.derived.values():
            for expr in postorder(value):
                if isinstance(expr, _MEMORY) or (isinstance(expr, e.Var) and expr.name not in self.derived):
                    return False
        return True


@dataclass(slots=True)
class _Twins:
    """Two bodies side by side: the same up to names, and to places that lie further on."""

    order: Order
    widths: int
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _same: set[tuple[Expr, Expr]] = field(default_factory=set["tuple[Expr, Expr]"])

    def same(self, first: Body, later: Body) -> bool:
        ours, theirs = list(statements(first)), list(statements(later))
        if [(path, type(node)) for path, node in ours] != [(path, type(node)) for path, node in theirs]:
            return False
        return all(self._statement(a, b) for (_, a), (_, b) in zip(ours, theirs, strict=True))

    def _statement(self, a: Node, b: Node) -> bool:
        pairs = list(zip(a.exprs, b.exprs, strict=True))
        if isinstance(a, n.Store) and isinstance(b, n.Store):
            if a.buffer != b.buffer:
                return False
            if self._further(a.buffer, a.index, b.index):
                pairs = [(a.value, b.value)]
        if not all(self._expr(x, y) for x, y in pairs):
            return False
        mine, other = _bound(a), _bound(b)
        return mine == other == "" or self._names.setdefault(mine, other) == other

    def _expr(self, a: Expr, b: Expr) -> bool:
        stack = [(a, b)]
        while stack:
            pair = stack.pop()
            if pair in self._same:
                continue
            below = self._node(*pair)
            if below is None:
                return False
            self._same.add(pair)
            stack.extend(below)
        return True

    def _node(self, a: Expr, b: Expr) -> list[tuple[Expr, Expr]] | None:
        """The pairs that have to be the same for these two to be; None if they are not."""
        derived = self.order.derived
        if isinstance(a, e.Var) and a.name in derived:
            return [(derived[a.name], b)]
        if isinstance(b, e.Var) and b.name in derived:
            return [(a, derived[b.name])]
        if isinstance(a, e.Var) and isinstance(b, e.Var):
            return [] if self._names.get(a.name) == b.name else None
        outcomes = (self.order.decided(a), self.order.decided(b))
        if outcomes[0] is not None and outcomes[0] == outcomes[1]:
            return []
        if type(a) is not type(b) or (isinstance(a, e.InvocationId | e.LocalId) and a.axis == 0):
            return None
        if _fields(a) != _fields(b) or len(a.children) != len(b.children):
            return None
        pairs = list(zip(a.children, b.children, strict=True))
        match a, b:
            case (e.Load(index=i), e.Load(index=j)) | (e.Atomic(index=i), e.Atomic(index=j)):
                return pairs[1:] if self._further(a.buffer, i, j) else pairs
            case _:
                return pairs

    def _further(self, buffer: str, a: Expr, b: Expr) -> bool:
        x, y = self.order.place(buffer, a), self.order.place(buffer, b)
        if x is None or y is None or (x.group, x.local) != (y.group, y.local):
            return False
        renamed = {self._renamed(term): factor for term, factor in x.rest}
        moved = x.offset + x.local * self.widths * self.order.width
        return moved == y.offset and renamed == dict(y.rest)

    def _renamed(self, term: Expr) -> Expr:
        return e.Var(self._names.get(term.name, term.name)) if isinstance(term, e.Var) else term


def _fields(expr: Expr) -> list[Any]:
    """What a node says besides its operands."""
    names: tuple[str, ...] = type(expr).__match_args__
    values = [getattr(expr, name) for name in names]
    return [v for v in values if not isinstance(v, e.Expr | tuple)]


def _rows(form: Form) -> tuple[object, ...]:
    """How an index depends on the number of the workgroup."""
    return form.group, tuple(pair for pair in form.rest if isinstance(pair[0], e.WorkgroupId))


@dataclass(frozen=True, slots=True)
class _Rest:
    group: int
    local: int
    offset: int
    rest: tuple[tuple[Any, int], ...]


def _without(form: Form, var: str) -> Form:
    rest = tuple(pair for pair in form.rest if pair[0] is not e.Var(var))
    return _Rest(form.group, form.local, form.offset, rest)


def _bound(node: Node) -> str:
    match node:
        case n.Let(name=name) | n.Assign(name=name) | n.Loop(var=name):
            return name
        case _:
            return ""


def _names(body: Body) -> set[str]:
    """The variables that statements use or bind."""
    found: set[str] = set()
    for node in every_node(body):
        found |= {_bound(node)} - {""}
        for root in node.exprs:
            found |= {x.name for x in postorder(root) if isinstance(x, e.Var)}
    return found
