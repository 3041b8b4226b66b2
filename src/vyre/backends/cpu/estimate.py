"""What a kernel may take, estimated from its program: once roughly, and once as a bound (`work.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.cpu.work import GUESSED_TURNS, LENGTH, NUMBER, PRODUCT, QUOTIENT, SUM, Guess, Work
from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import every_node, postorder
from vyre.lower.prepare import function_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.cpu.work import Step
    from vyre.ir.program import Program
    from vyre.lower.prepare import Prepared

_WORD = 32

_NATIVE = 8
"""What a call of a native operation weighs, a division for example."""


def rough_work(program: Program) -> Guess:
    """Roughly how many nodes one invocation executes."""
    fixed = looped = 0
    stack = [(node, 0) for node in program.entry]
    while stack:
        node, depth = stack.pop()
        weight = 1 + sum(x.size for x in node.exprs)
        if depth:
            looped += weight * GUESSED_TURNS ** (depth - 1)
        else:
            fixed += weight
        depth += isinstance(node, n.Loop)
        stack.extend((inner, depth) for body in node.bodies for inner in body)
    return Guess(fixed, looped)


def most_work(prepared: Prepared) -> Work:
    """How many it executes at most."""
    return _Bounds(prepared).work


class _Bounds:
    """The steps to the bounds of loops, each made once."""

    def __init__(self, prepared: Prepared) -> None:
        self._lengths = {b.name: k for k, b in enumerate(b for b in prepared.buffers if b.access.bound)}
        self._steps: dict[Step, int] = {}
        self._known: dict[str, int] = {}
        weights = {
            f.name: sum(node.size for node in f.body.entry) + f.result.size for f in prepared.functions
        }
        assigned = {node.name for node in every_node(prepared.entry) if isinstance(node, n.Assign)}
        fixed = 0
        looped: list[tuple[int, tuple[int, ...]]] = []
        stack: list[tuple[n.Node, tuple[int, ...]]] = [(node, ()) for node in reversed(prepared.entry)]
        while stack:
            node, loops = stack.pop()
            weight = 1 + sum(_weight(root, weights) for root in node.exprs)
            if loops:
                looped.append((weight, loops))
            else:
                fixed += weight
            if isinstance(node, n.Let) and node.name not in assigned:
                self._known[node.name] = self._amount(node.value)
            if isinstance(node, n.Loop):
                self._known[node.var] = last = self._amount(node.stop)
                loops = (*loops, last)
            stack.extend((inner, loops) for body in reversed(node.bodies) for inner in reversed(body))
        self.work = Work(fixed, tuple(looped), tuple(self._steps))

    def _step(self, kind: str, first: int, second: int = 0) -> int:
        return self._steps.setdefault((kind, first, second), len(self._steps))

    def _amount(self, expr: e.Expr) -> int:
        match expr:
            case e.LitU32(value=value):
                return self._step(NUMBER, value)
            case e.BufLen(buffer=buffer) if buffer in self._lengths:
                return self._step(LENGTH, self._lengths[buffer])
            case e.Var(name=name) if name in self._known:
                return self._known[name]
            case e.BinOp(op=BinaryOp.Add, left=left, right=right):
                return self._step(SUM, self._amount(left), self._amount(right))
            case e.BinOp(op=BinaryOp.Mul, left=left, right=right):
                return self._step(PRODUCT, self._amount(left), self._amount(right))
            case e.BinOp(op=BinaryOp.Div, left=left, right=e.LitU32(value=by)) if by:
                return self._step(QUOTIENT, self._amount(left), by)
            case e.BinOp(op=BinaryOp.Shr, left=left, right=e.LitU32(value=by)) if by < _WORD:
                return self._step(QUOTIENT, self._amount(left), 1 << by)
            case e.Select(
                condition=e.BinOp(op=BinaryOp.Lt, left=lesser, right=e.LitU32() as most),
                if_true=taken,
                if_false=other,
            ) if lesser is taken and other is most:
                return self._amount(most)
            case e.Select(
                condition=e.BinOp(op=BinaryOp.Lt, left=first, right=end),
                if_true=e.BinOp(op=BinaryOp.Sub, left=left, right=right),
                if_false=e.LitU32(value=0),
            ) if left is end and right is first:  # how many there are from one to the other
                return self._amount(end)
            case e.BinOp(op=BinaryOp.Div | BinaryOp.Shr, left=left):
                return self._amount(left)
            case e.BinOp(op=BinaryOp.BitAnd | BinaryOp.Mod, right=e.LitU32() as right):
                return self._amount(right)
            case _:
                return self._step(NUMBER, U32_MAX)


def _weight(root: e.Expr, functions: Mapping[str, int]) -> int:
    if root.size < 2:
        return 1
    total = root.size
    for expr in postorder(root):
        if isinstance(expr, e.Call):
            total += functions.get(function_name(expr.op_id), _NATIVE)
    return total
