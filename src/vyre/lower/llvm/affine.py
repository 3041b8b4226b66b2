"""Which accesses are in bounds for a whole range of workgroups.

An affine index (`forms.py`) grows with the position in a row of the grid, so "in bounds" is a range of it.
The fast version of a kernel runs where every such access is in bounds and has no guard on them; the guarded
version runs everywhere else. A comparison of such an index with the length of a buffer is decided in the
same way.

All arithmetic is on integers, not modulo 2^32: an index that is in `0..length` as an integer is the index the
program computes, whatever wrapped on the way. Forms and limits that reach an emitter were verified by
`vyre.obligations.linear`; those that were refused are not there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.walk import every_node, postorder
from vyre.lower.llvm.forms import Affine, Term
from vyre.obligations.linear import Lines
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared

RICH = 16
"""The width of a workgroup from which on ids along y and z and loop variables count too.

Narrower loops, and those between barriers, gain less from it than a second version takes to compile.
"""

LONG = 64
"""Turns of a loop from which on a workgroup of one invocation counts them too: its vectors are along them."""

_REACH = 1 << 61
"""Limits are computed in signed 64-bit numbers; a larger one is none."""

_OWN = (BufferAccess.Private, BufferAccess.Constant)
"""Their lengths say nothing about the grid."""

_UPWARD = {BinaryOp.Lt: True, BinaryOp.Ge: False}
_DOWNWARD = {BinaryOp.Gt: True, BinaryOp.Le: False}


def stands_alone(prepared: Prepared) -> bool:
    """Whether an invocation has nothing to do with the others of its workgroup."""
    if any(b.access.shared for b in prepared.buffers):
        return False
    return not any(isinstance(node, n.Barrier) for node in every_node(prepared.entry))


@dataclass(frozen=True, slots=True)
class Constraint:
    """An index that the fast version takes to be below the length of a buffer."""

    index: Affine
    buffer: str


@dataclass(frozen=True, slots=True)
class Limit:
    """`step * position + high < length` and `step * position + low >= 0`, for positions along x.

    In a row of workgroups, `rows` has to be added to `high`; it is never negative.
    """

    step: int
    low: int
    high: int
    buffer: str
    rows: tuple[tuple[Term, int], ...] = ()


@dataclass(slots=True)
class Ranges:
    """The affine indices of a program and the constraints of its fast version.

    `flat` counts positions in invocations; otherwise they are workgroups.
    """

    prepared: Prepared
    flat: bool
    constraints: set[Constraint] = field(default_factory=set[Constraint])
    strays: bool = False
    """Some index is affine, yet no stride along a row: a row of workgroups has to be walked as such."""
    _variables: dict[str, Affine] = field(default_factory=dict[str, Affine])
    _rich: bool = False
    _loops: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    _forms: dict[e.Expr, Affine | None] = field(default_factory=dict["e.Expr", "Affine | None"])
    _branches: dict[e.Expr, bool | None] = field(default_factory=dict["e.Expr", "bool | None"])
    _verified: dict[e.Expr, Affine | None] = field(default_factory=dict["e.Expr", "Affine | None"])
    lines: Lines = field(init=False)

    def __post_init__(self) -> None:
        self.lines = Lines(self.prepared.entry, self.prepared.workgroup_size)
        self._rich = self._walks() if self._single else self.width >= RICH and stands_alone(self.prepared)
        assigned = {node.name for node in every_node(self.prepared.entry) if isinstance(node, n.Assign)}
        for node in every_node(self.prepared.entry):
            if isinstance(node, n.Loop) and self._rich:
                self._enter(node)
            if isinstance(node, n.Let) and node.name not in assigned:
                form = self.form(node.value)
                if form is not None:
                    self._variables[node.name] = form
        self._collect(self.prepared.entry)

    @property
    def _single(self) -> bool:
        return self.prepared.workgroup_size == (1, 1, 1) and not self.flat

    def _walks(self) -> bool:
        """Whether some loop is long enough to become vectors."""
        for node in every_node(self.prepared.entry):
            match node:
                case n.Loop(start=e.LitU32(value=start), stop=e.LitU32(value=stop)) if stop - start >= LONG:
                    return True
                case _:
                    pass
        return False

    def _enter(self, loop: n.Loop) -> None:
        match loop:
            case n.Loop(var=name, start=e.LitU32(value=start), stop=e.LitU32(value=stop)) if start < stop:
                self._loops[name] = (start, stop - 1)
                self._variables[name] = Affine(0, 0, 0, ((e.Var(name), 1),))
            case _:
                pass

    @property
    def width(self) -> int:
        return self.prepared.workgroup_size[0]

    def form(self, root: e.Expr) -> Affine | None:
        """The affine form of an expression, if it has one that was verified."""
        if root not in self._verified:
            for expr in postorder(root):
                if expr not in self._forms:
                    self._forms[expr] = self._form(expr)
            form = self._forms[root]
            self._verified[root] = form if form is not None and self.lines.agrees(root, form) else None
        return self._verified[root]

    def _form(self, expr: e.Expr) -> Affine | None:
        match expr:
            case e.LitU32(value=value):
                return Affine(0, 0, value if value < 1 << 31 else value - (1 << 32))
            case e.InvocationId(axis=axis) | e.WorkgroupId(axis=axis) | e.LocalId(axis=axis):
                return self._id(expr) if axis == 0 or self._rich else None
            case e.Var(name=name):
                return self._variables.get(name)
            case e.BinOp(op=op, left=left, right=right):
                a, b = self._forms[left], self._forms[right]
                return None if a is None or b is None else self._combine(op, a, b, right)
            case _:
                return None

    def _id(self, expr: e.InvocationId | e.WorkgroupId | e.LocalId) -> Affine:
        axis, size = expr.axis, self.prepared.workgroup_size[expr.axis]
        match expr:
            case e.InvocationId():
                group, local = size, 1
            case e.WorkgroupId():
                group, local = 1, 0
            case e.LocalId():
                group, local = 0, 1
        if axis == 0:
            # The number of a workgroup of one invocation is that of the invocation.
            return Affine(group, local if size > 1 else group, 0)
        terms = ((e.LocalId(axis), local if size > 1 else 0), (e.WorkgroupId(axis), group))
        return Affine(0, 0, 0, tuple(pair for pair in terms if pair[1]))

    def _combine(self, op: BinaryOp, a: Affine, b: Affine, right: e.Expr) -> Affine | None:
        match op:
            case BinaryOp.Add:
                return a.plus(b)
            case BinaryOp.Sub if isinstance(right, e.LitU32):
                return a.plus(Affine(0, 0, -b.offset))
            case BinaryOp.Mul if b.constant:
                return a.scaled(b.offset) if b.offset >= 0 else None
            case BinaryOp.Mul if a.constant:
                return b.scaled(a.offset) if a.offset >= 0 else None
            case BinaryOp.Shl if isinstance(right, e.LitU32):
                return a.scaled(1 << (right.value & 31))
            case _:
                return None

    def is_invocation(self, form: Affine | None) -> bool:
        """True for the invocation id along x itself."""
        return form == Affine(self.width, 1, 0)

    def proved(self, form: Affine | None, decl: BufferDecl, *, fast: bool) -> bool:
        """True when the index is below the length of the buffer, here or everywhere."""
        if form is None:
            return False
        if decl.count and form.group == 0 and not form.rows:
            inside = self.first(form) >= 0 and self.last(form) < decl.count
            return inside and self.lines.inside(form, decl.count)
        return fast and Constraint(form, decl.name) in self.constraints

    def decided(self, expr: e.Expr, *, fast: bool) -> bool | None:
        """The outcome of a comparison with a length that holds in the whole range, or None."""
        constraint = self._comparison(expr)
        if constraint is None:
            return None
        found, outcome = constraint
        told = self.lines.told(expr)
        if told is None or (self.form(told[0]), *told[1:]) != (found.index, found.buffer, outcome):
            return None
        known = self.proved(found.index, self.prepared.buffer(found.buffer), fast=fast)
        return outcome if known else None

    def branch(self, condition: e.Expr) -> bool | None:
        """What `condition` comes to in the fast version, where comparisons with lengths say so, or None."""
        known = self._branches
        stack = [condition]
        while stack:
            expr = stack[-1]
            if expr in known:
                stack.pop()
                continue
            parts = expr.children if _is_logic(expr) else ()
            open_ = [part for part in parts if part not in known]
            if open_:
                stack.extend(open_)
                continue
            known[expr] = self.decided(expr, fast=True)
            if parts:
                known[expr] = _joined(expr, [known[part] for part in parts])
        return known[condition]

    def place(self, buffer: str, index: e.Expr) -> Affine | None:
        """The place of an access in the fast version, where it is known as an integer."""
        form = self.form(index)
        return form if self.proved(form, self.prepared.buffer(buffer), fast=True) else None

    def limits(self) -> list[Limit]:
        """The constraints as ranges of positions, in a stable order.

        Of those that differ in their offsets only, the outermost say it all: a program of thousands of
        accesses has a handful.
        """
        single = {constraint: self._limit(constraint) for constraint in self.constraints}
        merged: dict[tuple[object, ...], Limit] = {}
        for limit in single.values():
            known = merged.get(_kind(limit), limit)
            wider = replace(limit, low=min(limit.low, known.low), high=max(limit.high, known.high))
            merged[_kind(limit)] = wider
        holds = all(
            self.lines.limited(constraint.index, merged[_kind(limit)], flat=self.flat)
            for constraint, limit in single.items()
        )
        found = set((merged if holds else single).values())
        return sorted(found, key=lambda x: (x.buffer, x.step, x.low, x.high, repr(x)))

    def _limit(self, constraint: Constraint) -> Limit:
        index = constraint.index
        low, high, step = self.first(index), self.last(index), index.group
        if self.flat and index.group:
            step = index.local
            high -= step * (self.width - 1)
        return Limit(step, low, high, constraint.buffer, index.rows)

    def first(self, form: Affine) -> int:
        """The smallest value in the first workgroup."""
        return form.offset + sum(times * self._extent(term)[0] for term, times in form.rest)

    def last(self, form: Affine) -> int:
        """The largest value in the first workgroup."""
        rest = sum(times * self._extent(term)[1] for term, times in form.rest)
        return form.local * (self.width - 1) + form.offset + rest

    def _extent(self, term: Term) -> tuple[int, int]:
        match term:
            case e.WorkgroupId():
                return 0, 0
            case e.LocalId(axis=axis):
                return 0, self.prepared.workgroup_size[axis] - 1
            case e.Var(name=name):
                return self._loops[name]

    def extent(self, loop: str) -> tuple[int, int] | None:
        """The first and the last value of a loop's variable, where they are known."""
        return self._loops.get(loop)

    def _comparison(self, expr: e.Expr) -> tuple[Constraint, bool] | None:
        match expr:
            case e.BinOp(op=op, left=left, right=e.BufLen(buffer=buffer)) if op in _UPWARD:
                form, outcome = self.form(left), _UPWARD[op]
            case e.BinOp(op=op, left=e.BufLen(buffer=buffer), right=right) if op in _DOWNWARD:
                form, outcome = self.form(right), _DOWNWARD[op]
            case _:
                return None
        return None if form is None else (Constraint(form, buffer), outcome)

    def _collect(self, entry: tuple[n.Node, ...]) -> None:
        """Constraints of everything but the branches that the constraints themselves rule out."""
        seen: set[e.Expr] = set()
        stack: list[n.Node] = list(entry)
        while stack:
            node = stack.pop()
            for root in node.exprs:
                self._collect_roots(root, seen)
            if isinstance(node, n.Store):
                self._require(self.form(node.index), node.buffer)
            taken = self.branch(node.condition) if isinstance(node, n.If) else None
            bodies: Iterable[tuple[n.Node, ...]] = node.bodies
            if isinstance(node, n.If) and taken is not None:
                bodies = (node.then if taken else node.orelse,)
            for body in bodies:
                stack.extend(body)

    def _collect_roots(self, root: e.Expr, seen: set[e.Expr]) -> None:
        if root in seen:
            return
        for expr in postorder(root):
            if expr in seen:
                continue
            seen.add(expr)
            if isinstance(expr, e.Load | e.Atomic):
                self._require(self.form(expr.index), expr.buffer)
            comparison = self._comparison(expr)
            if comparison is not None:
                self._require(comparison[0].index, comparison[0].buffer)

    def _require(self, form: Affine | None, buffer: str) -> None:
        if form is None or self.prepared.buffer(buffer).access in _OWN:
            return
        stray = form.group != form.local * self.width
        self.strays |= stray
        decl = self.prepared.buffer(buffer)
        if form.group == 0 and (self.first(form) < 0 or (decl.count and not form.rows)):
            return
        if form.group == 0 and not self._single and any(isinstance(term, e.Var) for term, _ in form.rest):
            return  # what a loop reaches is the same everywhere: one length would slow the whole grid
        if stray and self.flat and form.group:
            return
        if max(abs(self.first(form)), abs(self.last(form))) >= _REACH:
            return
        constraint = Constraint(form, buffer)
        if self.lines.limited(form, self._limit(constraint), flat=self.flat):
            self.constraints.add(constraint)


def _kind(limit: Limit) -> tuple[object, ...]:
    """What limits that differ in their offsets have in common."""
    return limit.buffer, limit.step, limit.rows


def _is_logic(expr: e.Expr) -> bool:
    match expr:
        case e.BinOp(op=BinaryOp.And | BinaryOp.Or) | e.UnOp(op=UnaryOp.LogicalNot):
            return True
        case _:
            return False


def _joined(expr: e.Expr, parts: list[bool | None]) -> bool | None:
    match expr:
        case e.UnOp():
            return None if parts[0] is None else not parts[0]
        case e.BinOp(op=op):
            ends = op is BinaryOp.Or
            return ends if ends in parts else None if None in parts else not ends
        case _:
            raise AssertionError(expr)
