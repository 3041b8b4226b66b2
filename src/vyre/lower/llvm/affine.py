"""Which accesses are in bounds for a whole range of workgroups.

An index of the form `group * WorkgroupId + local * LocalId + offset` along x grows with the position in
the grid, so "in bounds" is a range of it. The fast version of a kernel runs where every such access
is in bounds and has no guard on them; the guarded version runs everywhere else. A comparison of
such an index with the length of a buffer is decided in the same way.

All arithmetic is on integers, not modulo 2^32: an index that is in `0..length` as an integer is the
index the program computes, whatever wrapped on the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import postorder, statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared

_COEFFICIENT_LIMIT = 1 << 31
_UPWARD = {BinaryOp.Lt: True, BinaryOp.Ge: False}
_DOWNWARD = {BinaryOp.Gt: True, BinaryOp.Le: False}


@dataclass(frozen=True, slots=True)
class Affine:
    """`group * workgroup_x + local * local_x + offset`; coefficients are never negative."""

    group: int
    local: int
    offset: int

    def scaled(self, factor: int) -> Affine | None:
        return _checked(self.group * factor, self.local * factor, self.offset * factor)

    def plus(self, other: Affine) -> Affine | None:
        return _checked(self.group + other.group, self.local + other.local, self.offset + other.offset)


@dataclass(frozen=True, slots=True)
class Constraint:
    """An index that the fast version takes to be below the length of a buffer."""

    index: Affine
    buffer: str


@dataclass(frozen=True, slots=True)
class Limit:
    """`step * position + high < length` and `step * position + low >= 0`, for positions along x."""

    step: int
    low: int
    high: int
    buffer: str


@dataclass(slots=True)
class Ranges:
    """The affine indices of a program and the constraints of its fast version.

    `flat` counts positions in invocations; otherwise they are workgroups.
    """

    prepared: Prepared
    flat: bool
    constraints: set[Constraint] = field(default_factory=set[Constraint])
    _variables: dict[str, Affine] = field(default_factory=dict[str, Affine])
    _forms: dict[e.Expr, Affine | None] = field(default_factory=dict["e.Expr", "Affine | None"])

    def __post_init__(self) -> None:
        assigned = {node.name for _, node in statements(self.prepared.entry) if isinstance(node, n.Assign)}
        for _, node in statements(self.prepared.entry):
            if isinstance(node, n.Let) and node.name not in assigned:
                form = self.form(node.value)
                if form is not None:
                    self._variables[node.name] = form
        self._collect(self.prepared.entry)

    @property
    def width(self) -> int:
        return self.prepared.workgroup_size[0]

    def form(self, root: e.Expr) -> Affine | None:
        if root not in self._forms:
            for expr in postorder(root):
                if expr not in self._forms:
                    self._forms[expr] = self._form(expr)
        return self._forms[root]

    def _form(self, expr: e.Expr) -> Affine | None:
        match expr:
            case e.LitU32(value=value):
                return Affine(0, 0, value if value < _COEFFICIENT_LIMIT else value - (1 << 32))
            case e.InvocationId(axis=0):
                return Affine(self.width, 1, 0)
            case e.WorkgroupId(axis=0):
                return Affine(1, 0, 0)
            case e.LocalId(axis=0):
                return Affine(0, 1, 0)
            case e.Var(name=name):
                return self._variables.get(name)
            case e.BinOp(op=op, left=left, right=right):
                a, b = self._forms[left], self._forms[right]
                return None if a is None or b is None else self._combine(op, a, b, right)
            case _:
                return None

    def _combine(self, op: BinaryOp, a: Affine, b: Affine, right: e.Expr) -> Affine | None:
        match op:
            case BinaryOp.Add:
                return a.plus(b)
            case BinaryOp.Sub if isinstance(right, e.LitU32):
                return a.plus(Affine(0, 0, -b.offset))
            case BinaryOp.Mul if _constant(b):
                return a.scaled(b.offset) if b.offset >= 0 else None
            case BinaryOp.Mul if _constant(a):
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
        if form.group == 0 and decl.count:
            return form.offset >= 0 and self._last(form) < decl.count
        return fast and Constraint(form, decl.name) in self.constraints

    def decided(self, expr: e.Expr, *, fast: bool) -> bool | None:
        """The outcome of a comparison with a length that holds in the whole range, or None."""
        constraint = self._comparison(expr)
        if constraint is None:
            return None
        found, outcome = constraint
        known = self.proved(found.index, self.prepared.buffer(found.buffer), fast=fast)
        return outcome if known else None

    def limits(self) -> list[Limit]:
        """The constraints as ranges of positions, in a stable order."""
        found: set[Limit] = set()
        for constraint in self.constraints:
            index = constraint.index
            if self.flat and index.group:
                found.add(Limit(index.local, index.offset, index.offset, constraint.buffer))
            else:
                found.add(Limit(index.group, index.offset, self._last(index), constraint.buffer))
        return sorted(found, key=lambda limit: (limit.buffer, limit.step, limit.low, limit.high))

    def _last(self, form: Affine) -> int:
        """The largest value in the first workgroup."""
        return form.local * (self.width - 1) + form.offset

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
            taken = self.decided(node.condition, fast=True) if isinstance(node, n.If) else None
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
        if form is None:
            return
        decl = self.prepared.buffer(buffer)
        if form.group == 0 and (decl.count or form.offset < 0):
            return
        if self.flat and form.group and form.group != form.local * self.width:
            return
        self.constraints.add(Constraint(form, buffer))


def _constant(form: Affine) -> bool:
    return form.group == 0 and form.local == 0


def _checked(group: int, local: int, offset: int) -> Affine | None:
    fits = max(group, local, abs(offset)) < _COEFFICIENT_LIMIT
    return Affine(group, local, offset) if fits else None
