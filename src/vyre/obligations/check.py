"""Verifies the witnesses of bounds, step by step.

`Checker.inside` is True only if every step of a witness follows from its premises by the rules of
`numbers.py`, every premise still holds where it is used, and the conclusion keeps the index below the length.
It looks for nothing: a step that is not right as it stands is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.obligations import numbers
from vyre.obligations.claims import BEFORE, Claim, Rule, Told
from vyre.obligations.numbers import ANY, TOP, Known
from vyre.obligations.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.obligations.claims import Place

_LOADED = {DataType.U8: Known(0, 0xFF), DataType.U16: Known(0, 0xFFFF)}
_WORDS = (DataType.U32, DataType.I32, DataType.Bool)
_COMPARISONS = (BinaryOp.Lt, BinaryOp.Le, BinaryOp.Gt, BinaryOp.Ge, BinaryOp.Eq, BinaryOp.Ne)


class Checker:
    """The witnesses of one program, in the very form that is printed; `type` knows its expressions."""

    def __init__(
        self,
        entry: tuple[Node, ...],
        buffers: Iterable[BufferDecl],
        workgroup_size: tuple[int, int, int],
        type_: Callable[[Expr], DataType],
    ) -> None:
        self._places = Places.of(entry)
        declared = tuple(buffers)
        self._lengths = {b.name: b.count for b in declared}
        self._elements = {b.name: b.element for b in declared}
        self._size = workgroup_size
        self._type = type_
        self._checked: dict[Claim, bool] = {}
        self._taken: dict[Place, frozenset[Told]] = {}
        self.steps = 0
        """How many steps were verified."""

    def inside(self, claim: Claim, number: int, buffer: str, index: Expr) -> bool:
        """Whether the statement of this number accesses the buffer in bounds at this index, always."""
        if not self._stands(claim, number, index):
            return False
        says = Known.said(claim.says)
        return says.rooms.get(buffer, -1) >= 1 or says.hi < self._lengths[buffer]

    def adds_up(self, claim: Claim, number: int, index: Expr) -> bool:
        """Whether `index` is `x + literal` and this sum never wraps; the claim is about x."""
        match index:
            case e.BinOp(op=BinaryOp.Add, left=x, right=e.LitU32(value=literal)):
                return self._stands(claim, number, x) and claim.says.hi + literal <= TOP
            case _:
                return False

    def _stands(self, claim: Claim, number: int, expr: Expr) -> bool:
        here = (number, BEFORE)
        return claim.expr is expr and self._places.holds_at(claim.place, here, expr) and self._valid(claim)

    def _valid(self, root: Claim) -> bool:
        """Whether all steps up to a claim are right; each is looked at once, premises first."""
        checked = self._checked
        stack = [root]
        while stack:
            claim = stack[-1]
            open_ = [premise for premise in claim.premises if premise not in checked]
            if open_ and claim not in checked:
                stack.extend(open_)
                continue
            stack.pop()
            if claim not in checked:
                self.steps += 1
                sound = all(checked[premise] for premise in claim.premises)
                checked[claim] = sound and self._follows(claim)
        return checked[root]

    def _follows(self, claim: Claim) -> bool:
        known = self._known(claim)
        return known is not None and known.implies(claim.says, self._lengths)

    def _known(self, claim: Claim) -> Known | None:
        """What the premises tell about the expression; None if they are not the right ones."""
        match claim.rule:
            case Rule.LET:
                return self._bound(claim)
            case Rule.ASSIGNED:
                return self._assigned(claim)
            case Rule.LOOP:
                return self._loop(claim)
            case _:
                pass
        if not all(self._places.holds_at(p.place, claim.place, p.expr) for p in claim.premises):
            return None
        match claim.rule:
            case Rule.NODE:
                return self._node(claim)
            case Rule.SELECT:
                return self._select(claim)
            case Rule.TOLD:
                return self._told(claim)
            case Rule.SUM:
                return self._summand(claim)
            case Rule.MEET:
                if any(p.expr is not claim.expr for p in claim.premises):
                    return None
                first, second = (Known.said(p.says) for p in claim.premises)
                return first.also(second)

    def _node(self, claim: Claim) -> Known | None:
        expr = claim.expr
        if tuple(p.expr for p in claim.premises) != expr.children and claim.premises:
            return None
        if self._type(expr) not in _WORDS or (expr.children and not claim.premises):
            return ANY
        operands = [Known.said(p.says) for p in claim.premises]
        match expr:
            case e.LitU32(value=value) | e.LitI32(value=value):
                return Known(value & TOP, value & TOP)
            case e.LitBool(value=value):
                return Known(int(value), int(value))
            case e.BufLen(buffer=buffer):
                declared = self._lengths[buffer]
                return Known(declared, declared or TOP, {buffer: 0})
            case e.Load(buffer=buffer):
                return _LOADED.get(self._elements[buffer], ANY)
            case e.LocalId(axis=axis):
                return Known(0, self._size[axis] - 1)
            case e.BinOp(op=BinaryOp.Sub, left=left):
                known = numbers.binary(BinaryOp.Sub, *operands)
                length = _length(left)
                return known.also(numbers.from_length(*length, operands[1])) if length else known
            case e.BinOp(op=op):
                return numbers.binary(op, *operands)
            case e.UnOp(op=op):
                return numbers.unary(op, operands[0])
            case e.Cast(target=target, value=value) if self._type(value) in _WORDS:
                return numbers.truth(operands[0]) if target is DataType.Bool else operands[0]
            case _:
                return ANY

    def _select(self, claim: Claim) -> Known | None:
        select, exprs = claim.expr, tuple(p.expr for p in claim.premises)
        if not isinstance(select, e.Select) or exprs[:3] != select.children:
            return None
        condition, yes, no, *sides = (Known.said(p.says) for p in claim.premises)
        match select.condition:
            case e.BinOp(op=op, left=left, right=right) if sides and op in _COMPARISONS:
                if exprs[3:] != (left, right):
                    return None
                for at, side in enumerate((left, right)):
                    # What is computed twice is the same twice only where it reads no memory.
                    if side is select.if_true and self._places.pure(side):
                        yes = yes.also(numbers.compared(op, True, sides[0], sides[1])[at])
                    if side is select.if_false and self._places.pure(side):
                        no = no.also(numbers.compared(op, False, sides[0], sides[1])[at])
            case _:
                pass
        return yes if condition.lo else no if condition.hi == 0 else yes.either(no)

    def _told(self, claim: Claim) -> Known | None:
        if claim.place not in self._taken:
            self._taken[claim.place] = frozenset(self._outcomes(*claim.place))
        if claim.told not in self._taken[claim.place] or not self._places.pure(claim.expr):
            return None
        op, left, right, outcome = claim.told
        if op is None or right is None:
            return (Known(1) if outcome else Known(0, 0)) if claim.expr is left else None
        if tuple(p.expr for p in claim.premises) != (left, right):
            return None
        x, y = (Known.said(p.says) for p in claim.premises)
        a, b = numbers.compared(op, outcome, x, y)
        if (op, outcome) in ((BinaryOp.Ne, True), (BinaryOp.Eq, False)):
            a = numbers.unequal_to_length(a, right.buffer) if isinstance(right, e.BufLen) else a
            b = numbers.unequal_to_length(b, left.buffer) if isinstance(left, e.BufLen) else b
        if left is right and claim.expr is left:
            return a.also(b)
        return a if claim.expr is left else b if claim.expr is right else None

    def _outcomes(self, number: int, branch: int) -> Iterator[Told]:
        """Everything that the branch taken at a statement tells."""
        if branch < 0:
            return
        match self._places.nodes[number]:
            case n.If(condition=condition):
                stack = [(condition, branch == 0)]
            case n.Loop(start=start, stop=stop):
                yield BinaryOp.Lt, start, stop, True
                return
            case _:
                return
        while stack:
            expr, outcome = stack.pop()
            yield None, expr, None, outcome
            match expr:
                case e.BinOp(op=BinaryOp.And, left=left, right=right) if outcome:
                    stack += [(left, True), (right, True)]
                case e.BinOp(op=BinaryOp.Or, left=left, right=right) if not outcome:
                    stack += [(left, False), (right, False)]
                case e.UnOp(op=UnaryOp.LogicalNot, operand=operand):
                    stack.append((operand, not outcome))
                case e.Cast(target=target, value=value) if target in _WORDS and self._type(value) in _WORDS:
                    stack.append((value, outcome))
                case e.BinOp(op=op, left=left, right=right) if op in _COMPARISONS:
                    yield op, left, right, outcome
                    if right is e.LitU32(0) and op in (BinaryOp.Eq, BinaryOp.Ne):
                        stack.append((left, outcome is (op is BinaryOp.Ne)))
                case _:
                    pass

    def _summand(self, claim: Claim) -> Known | None:
        total, own = claim.premises
        match total.expr:
            case e.BinOp(op=BinaryOp.Add, left=x, right=e.LitU32(value=literal)):
                pass
            case _:
                return None
        if claim.expr is not x or own.expr is not x or own.says.hi + literal > TOP:
            return None
        if not self._places.pure(x):
            return None
        says = Known.said(total.says)
        return Known(max(says.lo - literal, 0), says.hi - literal, numbers.less_by(literal, says))

    def _bound(self, claim: Claim) -> Known | None:
        found = self._definition(claim.expr)
        if found is None:
            return None
        number, node = found
        (premise,) = claim.premises
        if not isinstance(node, n.Let) or not self._is_value(premise, number, node.value):
            return None
        return Known.said(premise.says)

    def _loop(self, claim: Claim) -> Known | None:
        found = self._definition(claim.expr)
        if found is None:
            return None
        number, node = found
        start, stop = claim.premises
        if not isinstance(node, n.Loop) or not self._is_value(start, number, node.start):
            return None
        if not self._is_value(stop, number, node.stop):
            return None
        return numbers.counted(Known.said(start.says), Known.said(stop.says))

    def _assigned(self, claim: Claim) -> Known | None:
        if not isinstance(claim.expr, e.Var):
            return None
        reaching = self._places.reaching(claim.expr.name, claim.place)
        if reaching is None:
            return None
        known: Known | None = None
        for number in reaching:
            node = self._places.nodes[number]
            if not isinstance(node, n.Let | n.Assign):
                return None
            fits = [p for p in claim.premises if self._is_value(p, number, node.value)]
            if not fits:
                return None
            says = Known.said(fits[0].says)
            known = says if known is None else known.either(says)
        return known

    def _definition(self, expr: Expr) -> tuple[int, Node] | None:
        """The one statement that gives a variable its value."""
        if not isinstance(expr, e.Var) or not self._places.fixed(expr.name):
            return None
        (number,) = self._places.definitions[expr.name]
        return number, self._places.nodes[number]

    def _is_value(self, premise: Claim, number: int, value: Expr) -> bool:
        here = (number, BEFORE)
        return premise.expr is value and self._places.holds_at(premise.place, here, value)


def _length(left: Expr) -> tuple[str, int] | None:
    """The buffer and the literal of `len(b)` and of `len(b) - literal`."""
    match left:
        case e.BufLen(buffer=buffer):
            return buffer, 0
        case e.BinOp(op=BinaryOp.Sub, left=e.BufLen(buffer=buffer), right=e.LitU32(value=taken)):
            return buffer, taken
        case _:
            return None
