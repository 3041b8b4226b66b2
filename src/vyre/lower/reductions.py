"""Float reductions inside one invocation, written out in their declared order (decision 9).

A tree is a binary counter of finished subtrees. They lie in variables, one for each of 32 levels, or on a
stack in private memory (`Stacks`), where the same counter is a few loops: the results are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Expr, FReduce, Literal, LitU32, Load, Select, UnOp, Var
from vyre.ir.float_formats import FORMATS
from vyre.ir.node import Assign, If, Let, Loop, Node, Store
from vyre.ir.operators import BinaryOp, ReduceOp, ReduceOrder, UnaryOp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.types import DataType
    from vyre.lower.names import NameSupply

_OPERATOR = {
    ReduceOp.Add: BinaryOp.FAdd,
    ReduceOp.Mul: BinaryOp.FMul,
    ReduceOp.Min: BinaryOp.FMin,
    ReduceOp.Max: BinaryOp.FMax,
}
_LEVELS = 32
_BLOCK = 3
"""Levels of a tree that are joined in variables before the stack is needed."""


class Stacks:
    """Private memory for the subtrees of reductions: a buffer for each type of their elements.

    A place is stored to before it is loaded, in one reduction, so that a buffer serves them all.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._of: dict[DataType, BufferDecl] = {}

    @property
    def buffers(self) -> tuple[BufferDecl, ...]:
        return tuple(self._of.values())

    def of(self, element: DataType) -> BufferDecl:
        if element not in self._of:
            name = f"trees_{element.value.lower()}"
            while name in self._taken:
                name += "_"
            self._of[element] = BufferDecl.private(name, element, _LEVELS)
        return self._of[element]


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
    fold: FReduce,
    element: DataType,
    out: list[Node],
    supply: NameSupply,
    *,
    lazy: bool,
    stacks: Stacks | None = None,
) -> Expr:
    """Appends the statements of the fold to `out` and gives its value; a tree lies on one of `stacks` if they
    are given.

    With `lazy` the running total is only ever an operand, so that a native operation need not make its NaNs
    canonical at every step: the result is the total times 1, or the one element untouched.
    """
    start, stop = Var(supply.fresh("start")), Var(supply.fresh("stop"))
    out += [Let(start.name, fold.start), Let(stop.name, fold.stop)]
    if fold.order is ReduceOrder.Strict:
        total = _strict(fold, element, start, stop, out, supply)
    elif stacks is None:
        total = _tree(fold, element, start, stop, out, supply)
    else:
        total = _stacked(fold, stacks.of(element), start, stop, out, supply)
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


def _stacked(
    fold: FReduce, stack: BufferDecl, start: Var, stop: Var, out: list[Node], supply: NameSupply
) -> Expr:
    """The counter of `_tree`, its slots on a stack.

    Blocks of elements are joined in variables and counted, then the elements that are left. The masks change
    nothing; they say that a level is one of the stack's.
    """
    count, blocks, rest = (supply.fresh(n) for n in ("count", "blocks", "rest"))
    block, left = supply.fresh("block"), supply.fresh("left")
    many, one = _Counter(fold, stack, _BLOCK, supply), _Counter(fold, stack, 0, supply)
    out += [
        Let(count, Select(start < stop, stop - start, LitU32(0))),
        Let(blocks, Var(count) >> _BLOCK),
        Loop(block, LitU32(0), Var(blocks), many.turn(Var(block), start + (Var(block) << _BLOCK))),
        Let(rest, Var(blocks) << _BLOCK),
        Loop(
            left,
            LitU32(0),
            Var(count) & ((1 << _BLOCK) - 1),
            one.turn(Var(left), start + Var(rest) + Var(left)),
        ),
    ]
    total, lowest, higher = (supply.fresh(n) for n in ("total", "lowest", "higher"))
    joined = Assign(total, BinOp(_OPERATOR[fold.op], Load(stack.name, Var(higher)), Var(total)))
    end = (LitU32(_LEVELS) - UnOp(UnaryOp.Clz, Var(count))) & (2 * _LEVELS - 1)
    out += [
        Let(total, empty_value(fold.op, stack.element)),
        Let(lowest, UnOp(UnaryOp.Ctz, Var(count)) & (_LEVELS - 1)),
        If(Var(count), [Assign(total, Load(stack.name, Var(lowest)))]),
        Loop(higher, Var(lowest) + 1, end, [If((Var(count) >> Var(higher)) & 1, [joined])]),
    ]
    return Var(total)


class _Counter:
    """Counts perfect trees of `2^low` elements: one joins as many slots as its number has ones at the end."""

    def __init__(self, fold: FReduce, stack: BufferDecl, low: int, supply: NameSupply) -> None:
        self._fold, self._stack, self._low, self._supply = fold, stack, low, supply
        self._operator = _OPERATOR[fold.op]

    def turn(self, number: Expr, first: Expr) -> list[Node]:
        """The statements for the tree of that number, whose elements begin at `first`."""
        fresh, stack = self._supply.fresh, self._stack.name
        at, top, level = Var(fresh("at")), Var(fresh("top")), fresh("level")
        above = UnOp(UnaryOp.Ctz, UnOp(UnaryOp.BitNot, number)) + self._low
        out: list[Node] = [Let(at.name, first)]
        places = (at + place if place else at for place in range(1 << self._low))
        row = [self._bound("part", Load(self._fold.buffer, place), out) for place in places]
        while len(row) > 2:
            row = [
                self._bound("part", self._join(a, b), out) for a, b in zip(row[::2], row[1::2], strict=True)
            ]
        carry = Var(fresh("carry"))
        out += [
            Let(carry.name, self._join(*row) if len(row) > 1 else row[0]),
            Let(top.name, above & (_LEVELS - 1)),
            Loop(
                level,
                LitU32(self._low),
                top,
                [Assign(carry.name, self._join(Load(stack, Var(level)), carry))],
            ),
            Store(stack, top, carry),
        ]
        return out

    def _join(self, left: Expr, right: Expr) -> Expr:
        return BinOp(self._operator, left, right)

    def _bound(self, name: str, value: Expr, out: list[Node]) -> Var:
        bound = Var(self._supply.fresh(name))
        out.append(Let(bound.name, value))
        return bound
