"""What is known at one point of the program: ranges of variables, and of expressions that were compared.

A fact about an expression holds as long as its value does: until a variable in it is assigned. Facts are kept
only for expressions that read no memory: it may change, be it read-only for the program, and what was loaded
once is trusted only in the variable that holds it.

Everything known is a claim with its reasons (`vyre.obligations.claims`), so that it can be verified by
another.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import INTEGER_COMPARE_OPS, BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.obligations.claims import BEFORE, Claim, Rule
from vyre.optimize.ranges import ANY, Range, compared, exactly
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.environment import Types
    from vyre.obligations.claims import Place, Told
    from vyre.optimize.ranges import Transfer
    from vyre.optimize.reads import Reads

_WORDS = (DataType.U32, DataType.I32, DataType.Bool)
_CHANGING = (e.Load, e.FReduce, e.FReduceApprox, e.Atomic, e.Call)
_MANY = 16
"""A variable that may hold one of more values than this is not worth following."""

MOST_FACTS = 256
"""Each assignment looks at all facts, so the oldest make room: to know less is always right."""


@dataclass(slots=True)
class State:
    """The facts at one point; `ended` where no invocation arrives.

    A variable that is assigned has a claim for each value that it may hold.
    """

    values: dict[str, tuple[Claim, ...]] = field(default_factory=dict[str, tuple[Claim, ...]])
    facts: dict[e.Expr, Claim] = field(default_factory=dict[e.Expr, Claim])
    ended: bool = False

    def copy(self) -> State:
        return State(dict(self.values), dict(self.facts), self.ended)

    def join(self, other: State) -> State:
        """What holds behind two branches."""
        if self.ended:
            return other
        if other.ended:
            return self
        values: dict[str, tuple[Claim, ...]] = {}
        for name in self.values.keys() & other.values.keys():
            both = tuple(dict.fromkeys(self.values[name] + other.values[name]))
            if len(both) <= _MANY:
                values[name] = both
        facts = {x: claim for x, claim in self.facts.items() if other.facts.get(x) is claim}
        return State(values, facts)


def literal_sum(expr: e.Expr) -> tuple[e.Expr, int] | None:
    """x and the literal, of `x + literal`."""
    match expr:
        case e.BinOp(op=BinaryOp.Add, left=x, right=e.LitU32(value=literal)):
            return x, literal
        case _:
            return None


class Knowledge:
    """Asks and changes one state; `fixed` holds claims about variables that are never assigned.

    `place` is where the program stands: the reasons of a claim say so.
    """

    def __init__(self, types: Types, reads: Reads, transfer: Transfer, state: State) -> None:
        self._types = types
        self._reads = reads
        self._transfer = transfer
        self._stable: dict[e.Expr, bool] = {}
        self._memo: dict[e.Expr, Claim] = {}
        self.fixed: dict[str, tuple[Rule, Range, tuple[Claim, ...]]] = {}
        self.place: Place = (0, BEFORE)
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
        return says(self.claim(root))

    def claim(self, root: e.Expr) -> Claim:
        """What is known of an expression here, and why."""
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

    def _node(self, expr: e.Expr) -> Claim:
        if self._types.type(expr) not in _WORDS:
            return self._claim(expr, ANY, Rule.NODE)
        if isinstance(expr, e.Var):
            found = self._variable(expr)
        elif isinstance(expr, e.Select):
            found = self._select(expr)
        else:
            operands = tuple(self._memo[child] for child in expr.children)
            types = tuple(self._types.type(child) for child in expr.children)
            result = self._transfer.of(expr, tuple(says(x) for x in operands), types)
            found = self._claim(expr, self._transfer.tighten(result), Rule.NODE, operands)
        fact = self._state.facts.get(expr)
        return found if fact is None else self._met(found, fact)

    def _claim(
        self,
        expr: e.Expr,
        says_: Range,
        rule: Rule,
        premises: tuple[Claim, ...] = (),
        told: Told | None = None,
    ) -> Claim:
        return Claim(expr, self.place, says_, rule, premises, told)

    def _met(self, a: Claim, b: Claim) -> Claim:
        both = self._transfer.tighten(says(a).meet(says(b)))
        return a if both == a.says else self._claim(a.expr, both, Rule.MEET, (a, b))

    def _variable(self, expr: e.Var) -> Claim:
        if expr.name in self.fixed:
            rule, known, premises = self.fixed[expr.name]
            return self._claim(expr, known, rule, premises)
        sources = self._state.values.get(expr.name, ())
        if not sources:
            return self._claim(expr, ANY, Rule.NODE)
        return self._claim(expr, reduce(Range.join, map(says, sources)), Rule.ASSIGNED, sources)

    def _select(self, expr: e.Select) -> Claim:
        """Each arm is looked at under the outcome that chooses it."""
        premises = tuple(self._memo[child] for child in expr.children)
        condition, yes, no = map(says, premises)
        match expr.condition:
            case e.BinOp(op=op, left=left, right=right) if op in INTEGER_COMPARE_OPS:
                sides = {side: at for at, side in enumerate((left, right)) if self._is_stable(side)}
                premises += (self._memo[left], self._memo[right])
                a, b = map(says, premises[3:])
                if expr.if_true in sides:
                    yes = compared(op, True, a, b)[sides[expr.if_true]]
                if expr.if_false in sides:
                    no = compared(op, False, a, b)[sides[expr.if_false]]
            case _:
                pass
        chosen = yes if condition.lo > 0 else no if condition.hi == 0 else yes.join(no)
        return self._claim(expr, self._transfer.tighten(chosen), Rule.SELECT, premises)

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
                    told = self._claim(
                        expr, Range(1) if holds else exactly(0), Rule.TOLD, (), (None, expr, None, holds)
                    )
                    self._learn(told)

    def _compare(self, op: BinaryOp, truth: bool, left: e.Expr, right: e.Expr) -> None:
        premises = (self.claim(left), self.claim(right))
        a, b = compared(op, truth, *map(says, premises))
        if truth is (op is BinaryOp.Ne) and op in (BinaryOp.Eq, BinaryOp.Ne):
            a, b = _not_length(left, a, right), _not_length(right, b, left)
        for side, known in ((left, a), (right, b)):
            self._learn(self._claim(side, known, Rule.TOLD, premises, (op, left, right, truth)))

    def less(self, left: e.Expr, right: e.Expr) -> None:
        """Adds that one expression is below another."""
        self._compare(BinaryOp.Lt, True, left, right)

    def _learn(self, claim: Claim) -> None:
        if self._types.type(claim.expr) not in _WORDS or not self._is_stable(claim.expr):
            return
        facts = self._state.facts
        told: Claim | None = claim
        while told:
            known = facts.get(told.expr)
            facts[told.expr] = told if known is None else self._met(known, told)
            told = self._summand(told)
        while len(facts) > MOST_FACTS:
            del facts[next(iter(facts))]
        self._memo.clear()

    def _summand(self, claim: Claim) -> Claim | None:
        """What the value of `x + literal`, where it does not wrap, tells about x."""
        found = literal_sum(claim.expr)
        if not found or not self.no_wrap(*found):
            return None
        x, literal = found
        return self._claim(x, says(claim).less(literal), Rule.SUM, (claim, self.claim(x)))

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

    def assign(self, name: str, value: Claim) -> None:
        self.forget([name])
        self._state.values[name] = (value,)

    def _is_stable(self, root: e.Expr) -> bool:
        """True when the expression reads no memory."""
        stack = [root]
        known = self._stable
        while stack:
            expr = stack[-1]
            missing = [child for child in expr.children if child not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            changing = isinstance(expr, _CHANGING)
            known[expr] = not changing and all(known[child] for child in expr.children)
        return known[root]


def says(claim: Claim) -> Range:
    """What a claim of this analysis says."""
    assert isinstance(claim.says, Range)
    return claim.says


def _not_length(expr: e.Expr, value: Range, other: e.Expr) -> Range:
    """`expr`, which is not equal to `other`: at most a length and not it means below it."""
    if isinstance(other, e.BufLen) and value.room(other.buffer) == 0:
        return value.meet(Range(0, U32_MAX, ((other.buffer, 1),)))
    return value
