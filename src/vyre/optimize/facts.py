"""What is known at one point of the program: ranges of variables, and of expressions that were compared.

A fact about an expression holds as long as its value does: until a variable in it is assigned. Facts
are kept only for expressions that read no memory which may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import INTEGER_COMPARE_OPS, BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.optimize.ranges import ANY, Range, compared, exactly

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vyre.optimize.ranges import Transfer
    from vyre.optimize.reads import Reads
    from vyre.optimize.types import Types

_WORDS = (DataType.U32, DataType.I32, DataType.Bool)
_MEMORY = (e.Load, e.FReduce, e.FReduceApprox)

MOST_FACTS = 256
"""Each assignment looks at all facts, so the oldest make room: to know less is always right."""


@dataclass(slots=True)
class State:
    """The facts at one point; `ended` where no invocation arrives."""

    values: dict[str, Range] = field(default_factory=dict[str, Range])
    facts: dict[e.Expr, Range] = field(default_factory=dict[e.Expr, Range])
    ended: bool = False

    def copy(self) -> State:
        return State(dict(self.values), dict(self.facts), self.ended)

    def join(self, other: State) -> State:
        """What holds behind two branches."""
        if self.ended:
            return other
        if other.ended:
            return self
        values = {n: _joined(v, other.values[n]) for n, v in self.values.items() if n in other.values}
        facts = {x: _joined(v, other.facts[x]) for x, v in self.facts.items() if x in other.facts}
        return State(values, {x: v for x, v in facts.items() if v != ANY})


def _joined(a: Range, b: Range) -> Range:
    """Most of what is known before a branch is the same object behind it."""
    return a if a is b else a.join(b)


def literal_sum(expr: e.Expr) -> tuple[e.Expr, int] | None:
    """x and the literal, of `x + literal`."""
    match expr:
        case e.BinOp(op=BinaryOp.Add, left=x, right=e.LitU32(value=literal)):
            return x, literal
        case _:
            return None


class Knowledge:
    """Asks and changes one state; `fixed` holds the ranges of variables that are never assigned."""

    def __init__(
        self, types: Types, reads: Reads, transfer: Transfer, writable: frozenset[str], state: State
    ) -> None:
        self._types = types
        self._reads = reads
        self._transfer = transfer
        self._writable = writable
        self._stable: dict[e.Expr, bool] = {}
        self._memo: dict[e.Expr, Range] = {}
        self.fixed: dict[str, Range] = {}
        self._state = state

    @property
    def state(self) -> State:
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        self._state = state
        self._memo.clear()

    def range(self, root: e.Expr) -> Range:
        """What is known of an expression here."""
        memo = self._memo
        stack = [root]
        while stack:
            expr = stack[-1]
            missing = [child for child in expr.children if child not in memo]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if expr not in memo:
                memo[expr] = self._node(expr)
        return memo[root]

    def _node(self, expr: e.Expr) -> Range:
        if self._types.type(expr) not in _WORDS:
            return ANY
        if isinstance(expr, e.Var):
            found = self.fixed.get(expr.name) or self._state.values.get(expr.name, ANY)
        elif isinstance(expr, e.Select):
            found = self._select(expr)
        else:
            operands = tuple(self._memo[child] for child in expr.children)
            types = tuple(self._types.type(child) for child in expr.children)
            found = self._transfer.of(expr, operands, types)
        fact = self._state.facts.get(expr)
        return self._transfer.tighten(found if fact is None else found.meet(fact))

    def _select(self, expr: e.Select) -> Range:
        """Each arm is looked at under the outcome that chooses it."""
        condition, yes, no = (self._memo[child] for child in expr.children)
        if condition.lo > 0:
            return yes
        if condition.hi == 0:
            return no
        match expr.condition:
            case e.BinOp(op=op, left=left, right=right) if op in INTEGER_COMPARE_OPS:
                sides = {left: 0, right: 1}
                a, b = self._memo[left], self._memo[right]
                if expr.if_true in sides:
                    yes = compared(op, True, a, b)[sides[expr.if_true]]
                if expr.if_false in sides:
                    no = compared(op, False, a, b)[sides[expr.if_false]]
            case _:
                pass
        return yes.join(no)

    def assume(self, condition: e.Expr, truth: bool) -> None:
        """Adds what follows from the outcome of a condition; what its left side tells helps the right."""
        stack = [(condition, truth)]
        while stack:
            expr, holds = stack.pop()
            match expr:
                case e.BinOp(op=BinaryOp.And, left=left, right=right) if holds:
                    stack += [(right, True), (left, True)]
                case e.BinOp(op=BinaryOp.Or, left=left, right=right) if not holds:
                    stack += [(right, False), (left, False)]
                case e.UnOp(op=UnaryOp.LogicalNot, operand=operand):
                    stack.append((operand, not holds))
                case e.Cast(value=value) if self._types.type(value) in _WORDS:
                    stack.append((value, holds))
                case e.BinOp(op=op, left=left, right=right) if op in INTEGER_COMPARE_OPS:
                    if right is e.LitU32(0) and op in (BinaryOp.Eq, BinaryOp.Ne):
                        stack.append((left, holds == (op is BinaryOp.Ne)))
                    else:
                        self._compare(op, holds, left, right)
                case _:
                    self._learn(expr, Range(1) if holds else exactly(0))

    def _compare(self, op: BinaryOp, truth: bool, left: e.Expr, right: e.Expr) -> None:
        a, b = compared(op, truth, self.range(left), self.range(right))
        if truth is (op is BinaryOp.Ne) and op in (BinaryOp.Eq, BinaryOp.Ne):
            a, b = _not_length(left, a, right), _not_length(right, b, left)
        self._learn(left, a)
        self._learn(right, b)

    def less(self, left: e.Expr, right: e.Expr) -> None:
        """Adds that one expression is below another."""
        self._compare(BinaryOp.Lt, True, left, right)

    def _learn(self, expr: e.Expr, value: Range) -> None:
        if self._types.type(expr) not in _WORDS or not self._is_stable(expr):
            return
        facts = self._state.facts
        for part, known in [(expr, value), *self._summands(expr, value)]:
            facts[part] = facts.get(part, ANY).meet(known)
        while len(facts) > MOST_FACTS:
            del facts[next(iter(facts))]
        self._memo.clear()

    def _summands(self, expr: e.Expr, value: Range) -> Iterator[tuple[e.Expr, Range]]:
        """What the value of `x + literal`, where it does not wrap, tells about x, and so on inwards."""
        while (found := literal_sum(expr)) and self.no_wrap(*found):
            expr, value = found[0], value.less(found[1])
            yield expr, value

    def no_wrap(self, x: e.Expr, literal: int) -> bool:
        """Whether `x + literal` is known to be the sum of integers."""
        return self.range(x).hi + literal <= U32_MAX

    def forget(self, names: Iterable[str]) -> None:
        """Drops what was known of these variables and of everything computed from them."""
        gone = set(names)
        if not gone:
            return
        for name in gone:
            self._state.values.pop(name, None)
        facts = self._state.facts
        for expr in [x for x in facts if not gone.isdisjoint(self._reads.of(x))]:
            del facts[expr]
        self._memo.clear()

    def assign(self, name: str, value: Range) -> None:
        self.forget([name])
        self._state.values[name] = value

    def _is_stable(self, root: e.Expr) -> bool:
        """True when the expression reads no memory that may change."""
        stack = [root]
        known = self._stable
        while stack:
            expr = stack[-1]
            missing = [child for child in expr.children if child not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            changing = isinstance(expr, e.Atomic | e.Call) or (
                isinstance(expr, _MEMORY) and expr.buffer in self._writable
            )
            known[expr] = not changing and all(known[child] for child in expr.children)
        return known[root]


def _not_length(expr: e.Expr, value: Range, other: e.Expr) -> Range:
    """`expr`, which is not equal to `other`: at most a length and not it means below it."""
    if isinstance(other, e.BufLen) and value.room(other.buffer) == 0:
        return value.meet(Range(0, U32_MAX, ((other.buffer, 1),)))
    return value
