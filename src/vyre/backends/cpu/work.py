"""How much a run can be at most: whether the main thread may do it itself, or must be free for an interrupt.

The bound is in nodes of the prepared program. A loop counts as often as its bounds allow: a literal, the
length of a buffer, or arithmetic on these; where nothing is known, 2^32 times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import postorder, statements
from vyre.lower.prepare import function_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.lower.prepare import Prepared

Amount = Callable[["Mapping[str, int]"], int]
"""A number that depends on the lengths of the buffers."""

_NATIVE = 8
"""What a call of a native operation weighs, a division for example."""


class Work:
    """An upper bound of the nodes that one invocation executes."""

    def __init__(self, prepared: Prepared) -> None:
        weights = {
            f.name: sum(node.size for node in f.body.entry) + f.result.size for f in prepared.functions
        }
        assigned = {node.name for _, node in statements(prepared.entry) if isinstance(node, n.Assign)}
        known: dict[str, Amount] = {}
        self._fixed = 0
        self._looped: list[tuple[int, tuple[Amount, ...]]] = []
        stack: list[tuple[n.Node, tuple[Amount, ...]]] = [(node, ()) for node in reversed(prepared.entry)]
        while stack:
            node, loops = stack.pop()
            weight = 1 + sum(_weight(root, weights) for root in node.exprs)
            if loops:
                self._looped.append((weight, loops))
            else:
                self._fixed += weight
            if isinstance(node, n.Let) and node.name not in assigned:
                known[node.name] = _amount(node.value, known)
            if isinstance(node, n.Loop):
                known[node.var] = last = _amount(node.stop, known)
                loops = (*loops, last)
            stack.extend((inner, loops) for body in reversed(node.bodies) for inner in reversed(body))

    def most(self, lengths: Mapping[str, int]) -> int:
        total = self._fixed
        for weight, loops in self._looped:
            for turns in loops:
                weight *= turns(lengths)
            total += weight
        return total


def _weight(root: e.Expr, functions: Mapping[str, int]) -> int:
    if root.size < 2:
        return 1
    total = root.size
    for expr in postorder(root):
        if isinstance(expr, e.Call):
            total += functions.get(function_name(expr.op_id), _NATIVE)
    return total


def _amount(expr: e.Expr, known: Mapping[str, Amount]) -> Amount:
    match expr:
        case e.LitU32(value=value):
            return lambda _: value
        case e.BufLen(buffer=buffer):
            return lambda lengths: lengths.get(buffer, U32_MAX)
        case e.Var(name=name):
            return known.get(name, _anything)
        case e.BinOp(op=op, left=left, right=right) if op in (BinaryOp.Add, BinaryOp.Mul):
            first, second = _amount(left, known), _amount(right, known)
            if op is BinaryOp.Add:
                return lambda lengths: min(U32_MAX, first(lengths) + second(lengths))
            return lambda lengths: min(U32_MAX, first(lengths) * second(lengths))
        case e.BinOp(op=BinaryOp.Div | BinaryOp.Shr, left=left):
            return _amount(left, known)
        case e.BinOp(op=BinaryOp.BitAnd | BinaryOp.Mod, right=e.LitU32() as right):
            return _amount(right, known)
        case _:
            return _anything


def _anything(_: Mapping[str, int]) -> int:
    return U32_MAX
