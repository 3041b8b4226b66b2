"""Float reductions inside one invocation, written out in their declared order (decision 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Expr, FReduce, Literal, LitU32, Load, Select, Var
from vyre.ir.float_formats import FORMATS
from vyre.ir.node import Assign, If, Let, Loop, Node
from vyre.ir.operators import BinaryOp, ReduceOp, ReduceOrder

if TYPE_CHECKING:
    from vyre.ir.types import DataType
    from vyre.lower.names import NameSupply

_OPERATOR = {
    ReduceOp.Add: BinaryOp.FAdd,
    ReduceOp.Mul: BinaryOp.FMul,
    ReduceOp.Min: BinaryOp.FMin,
    ReduceOp.Max: BinaryOp.FMax,
}
_LEVELS = 32


def empty_value(op: ReduceOp, element: DataType) -> Literal:
    """The result over no elements."""
    match op:
        case ReduceOp.Add:
            return Literal(element, 0)
        case ReduceOp.Mul:
            return Literal(element, FORMATS[element].one)
        case ReduceOp.Min:
            return Literal(element, FORMATS[element].infinity)
        case ReduceOp.Max:
            return Literal(element, FORMATS[element].infinity | FORMATS[element].sign)


def canonical_nan(element: DataType) -> Literal:
    return Literal(element, FORMATS[element].nan)


def expand_reduction(
    fold: FReduce, element: DataType, out: list[Node], supply: NameSupply, *, lazy: bool
) -> Expr:
    """Appends the statements of the fold to `out` and gives its value.

    With `lazy` the running total is only ever an operand, so that a native operation need not make its NaNs
    canonical at every step: the result is the total times 1, or the one element untouched.
    """
    start, stop = Var(supply.fresh("start")), Var(supply.fresh("stop"))
    out += [Let(start.name, fold.start), Let(stop.name, fold.stop)]
    expand = _strict if fold.order is ReduceOrder.Strict else _tree
    total = expand(fold, element, start, stop, out, supply)
    if not lazy:
        return total
    count = Select(start < stop, stop - start, LitU32(0))
    computed = BinOp(BinaryOp.FMul, total, Literal(element, FORMATS[element].one))
    return Select(count > 1, computed, _first(fold, element, start, stop))


def _first(fold: FReduce, element: DataType, start: Expr, stop: Expr) -> Expr:
    return Select(start < stop, Load(fold.buffer, start), empty_value(fold.op, element))


def _strict(
    fold: FReduce, element: DataType, start: Var, stop: Var, out: list[Node], supply: NameSupply
) -> Expr:
    total, k = Var(supply.fresh("total")), supply.fresh("k")
    some = start < stop
    step = BinOp(_OPERATOR[fold.op], total, Load(fold.buffer, Var(k)))
    out += [
        Let(total.name, _first(fold, element, start, stop)),
        Loop(k, Select(some, start + 1, stop), stop, [Assign(total.name, step)]),
    ]
    return total


def _tree(
    fold: FReduce, element: DataType, start: Var, stop: Var, out: list[Node], supply: NameSupply
) -> Expr:
    """A binary counter of finished subtrees: slot j holds a perfect tree of 2^j elements.

    Splitting n at the largest power of two below n gives exactly the subtrees of the bits of n, highest
    first, so the leftover slots are joined from the lowest upwards.
    """
    operator = _OPERATOR[fold.op]
    zero = Literal(element, 0)
    slots = [Var(supply.fresh("slot")) for _ in range(_LEVELS)]
    k, carry, open_, number = (supply.fresh(n) for n in ("k", "carry", "open", "number"))
    out += [Let(slot.name, zero) for slot in slots]
    body: list[Node] = [
        Let(carry, Load(fold.buffer, Var(k))),
        Let(number, Var(k) - start),
        Let(open_, LitU32(1)),
    ]
    for level, slot in enumerate(slots):
        full = (Var(number) >> level) & 1
        join = Assign(carry, BinOp(operator, slot, Var(carry)))
        put = [Assign(slot.name, Var(carry)), Assign(open_, LitU32(0))]
        body.append(If(Var(open_), [If(full, [join], put)]))
    out.append(Loop(k, start, stop, body))
    count, total, some = (supply.fresh(n) for n in ("count", "total", "some"))
    out += [
        Let(count, Select(start < stop, stop - start, LitU32(0))),
        Let(total, empty_value(fold.op, element)),
        Let(some, LitU32(0)),
    ]
    for level, slot in enumerate(slots):
        full = (Var(count) >> level) & 1
        joined = Assign(total, BinOp(operator, slot, Var(total)))
        out.append(If(full, [If(Var(some), [joined], [Assign(total, slot)]), Assign(some, LitU32(1))]))
    return Var(total)
