"""Affine indices, held against the expressions they stand for.

An index is affine if it is a sum of ids and loop variables, each times a constant. Here such a form is
verified in three ways: it is congruent modulo 2^32 to the expression; its limits bound it as an integer for
every invocation and every turn of every loop; and nothing that the generated code computes from a limit comes
near the width of its numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.walk import every_node, postorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

_WORD = 1 << 32
ROOM = 1 << 62
"""Emitted arithmetic is in signed 64-bit numbers; whatever it computes stays below this."""

Atom = e.WorkgroupId | e.LocalId | e.Var
Poly = dict["Atom | None", int]
"""Factors modulo 2^32; that of None is the constant."""


class Form(Protocol):
    """`group * workgroup_x + local * local_x + offset` plus each term of `rest` times its factor."""

    @property
    def group(self) -> int: ...
    @property
    def local(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def rest(self) -> tuple[tuple[Atom, int], ...]: ...


class Limited(Protocol):
    """`step * position + high + rows < length` and `step * position + low >= 0`."""

    @property
    def step(self) -> int: ...
    @property
    def low(self) -> int: ...
    @property
    def high(self) -> int: ...
    @property
    def rows(self) -> tuple[tuple[Atom, int], ...]: ...


class Lines:
    """The affine expressions of one program, whose variables have names of their own."""

    def __init__(self, entry: tuple[Node, ...], workgroup_size: tuple[int, int, int]) -> None:
        self._size = workgroup_size
        self._loops: dict[str, tuple[int, int]] = {}
        self._variables: dict[str, Poly | None] = {}
        self._polys: dict[Expr, Poly | None] = {}
        assigned = {node.name for node in every_node(entry) if isinstance(node, n.Assign)}
        for node in every_node(entry):
            match node:
                case n.Let(name=name, value=value) if name not in assigned:
                    self._variables[name] = self._poly(value)
                case n.Loop(var=name, start=e.LitU32(value=start), stop=e.LitU32(value=stop)) if start < stop:
                    self._loops[name] = (start, stop - 1)
                    self._variables[name] = {e.Var(name): 1}
                case _:
                    pass

    def agrees(self, expr: Expr, form: Form) -> bool:
        """Whether a form is congruent to an expression, its terms are known and its factors not negative."""
        poly = self._poly(expr)
        if poly is None:
            return False
        said: Poly = {None: form.offset}
        for atom, factor in self._terms(form):
            said[atom] = said.get(atom, 0) + factor
        if min(form.group, form.local, *(factor for _, factor in form.rest), 0) < 0:
            return False
        if any(self._extent(atom) is None for atom, _ in form.rest):
            return False
        return all(self._same(atom, said, poly) for atom in {*said, *poly})

    def _same(self, atom: Atom | None, said: Poly, poly: Poly) -> bool:
        if isinstance(atom, e.LocalId) and self._size[atom.axis] == 1:
            return True  # it is zero
        return (said.get(atom, 0) - poly.get(atom, 0)) % _WORD == 0

    def inside(self, form: Form, length: int) -> bool:
        """Whether the index is below a declared length in every workgroup."""
        if form.group or any(isinstance(atom, e.WorkgroupId) for atom, _ in form.rest):
            return False
        low, high = self.spread(form)
        return low >= 0 and high < length

    def spread(self, form: Form) -> tuple[int, int]:
        """The least and the greatest value within one workgroup, where the numbers of workgroups count
        zero."""
        low = high = form.offset
        for atom, factor in self._terms(form):
            first, last = (0, 0) if isinstance(atom, e.WorkgroupId) else self._extent(atom) or (0, ROOM)
            low, high = low + factor * first, high + factor * last
        return low, high

    def limited(self, form: Form, limit: Limited, *, flat: bool) -> bool:
        """Whether the index is in bounds wherever the limit says so; a position is a workgroup, or if `flat`
        and the index grows along the row, an invocation."""
        low, high = self.spread(form)
        step = form.group
        if flat and form.group:
            if form.group != form.local * self._size[0]:
                return False
            step, high = form.local, high - form.local * (self._size[0] - 1)
        rows = tuple(pair for pair in form.rest if isinstance(pair[0], e.WorkgroupId))
        if (limit.step, limit.rows) != (step, rows) or limit.low > low or limit.high < high:
            return False
        reach = abs(limit.high) + limit.step + sum(factor * _WORD for _, factor in rows)
        return (step > 0 or limit.low >= 0) and max(reach, abs(limit.low)) < ROOM

    def told(self, expr: Expr) -> tuple[Expr, str, bool] | None:
        """The index and the buffer that a comparison is about, and its outcome where the index is in
        bounds."""
        match expr:
            case e.BinOp(op=BinaryOp.Lt, left=index, right=e.BufLen(buffer=buffer)):
                return index, buffer, True
            case e.BinOp(op=BinaryOp.Gt, left=e.BufLen(buffer=buffer), right=index):
                return index, buffer, True
            case e.BinOp(op=BinaryOp.Ge, left=index, right=e.BufLen(buffer=buffer)):
                return index, buffer, False
            case e.BinOp(op=BinaryOp.Le, left=e.BufLen(buffer=buffer), right=index):
                return index, buffer, False
            case _:
                return None

    def _terms(self, form: Form) -> list[tuple[Atom, int]]:
        return [(e.WorkgroupId(0), form.group), (e.LocalId(0), form.local), *form.rest]

    def _extent(self, atom: Atom) -> tuple[int, int] | None:
        """The least and the greatest value; None for what is not a term of a form."""
        match atom:
            case e.WorkgroupId():
                return 0, _WORD - 1
            case e.LocalId(axis=axis):
                return 0, self._size[axis] - 1
            case e.Var(name=name):
                return self._loops.get(name)

    def _poly(self, root: Expr) -> Poly | None:
        known = self._polys
        for expr in postorder(root):
            if expr not in known:
                known[expr] = self._node(expr)
        return known[root]

    def _node(self, expr: Expr) -> Poly | None:
        match expr:
            case e.LitU32(value=value):
                return {None: value}
            case e.WorkgroupId():
                return {expr: 1}
            case e.LocalId():
                return {expr: 1}
            case e.InvocationId(axis=axis):
                return {e.WorkgroupId(axis): self._size[axis], e.LocalId(axis): 1}
            case e.Var(name=name):
                return self._variables.get(name)
            case e.BinOp(op=op, left=left, right=right):
                return _combined(op, self._polys[left], self._polys[right])
            case _:
                return None


def settled(condition: Expr, decided: Callable[[Expr], bool | None]) -> bool | None:
    """What a condition comes to where some comparisons in it are decided; None where that is open."""
    match condition:
        case e.BinOp(op=BinaryOp.And | BinaryOp.Or as op, left=left, right=right):
            parts = (settled(left, decided), settled(right, decided))
            enough = op is BinaryOp.Or
            return enough if enough in parts else None if None in parts else not enough
        case e.UnOp(op=UnaryOp.LogicalNot, operand=operand):
            inner = settled(operand, decided)
            return None if inner is None else not inner
        case _:
            return decided(condition)


def _combined(op: BinaryOp, a: Poly | None, b: Poly | None) -> Poly | None:
    if a is None or b is None:
        return None
    match op:
        case BinaryOp.Add:
            return {atom: (a.get(atom, 0) + b.get(atom, 0)) % _WORD for atom in {*a, *b}}
        case BinaryOp.Sub:
            return {atom: (a.get(atom, 0) - b.get(atom, 0)) % _WORD for atom in {*a, *b}}
        case BinaryOp.Mul if set(b) == {None}:
            return {atom: factor * b[None] % _WORD for atom, factor in a.items()}
        case BinaryOp.Mul if set(a) == {None}:
            return {atom: factor * a[None] % _WORD for atom, factor in b.items()}
        case BinaryOp.Shl if set(b) == {None}:
            return {atom: (factor << (b[None] & 31)) % _WORD for atom, factor in a.items()}
        case _:
            return None
