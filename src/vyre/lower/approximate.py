"""`FReduceApprox` inside one invocation, by means that meet every tolerance.

Minimum and maximum are exact. A product is at most one float away from the correctly rounded one, and a sum
is correctly rounded (`vyre.numeric.functions.totals`). Where doubles are native, a sum is first added up in
them, in four chains, beside the sum of all sizes: it is off by less than `(count + 2) 2^-52` of that. Where
both ends of this interval round to one float, this is the result; elsewhere (cancellation, infinities,
zeros, one sum in thousands) the exact sum runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import (
    BinOp,
    Call,
    Cast,
    Convert,
    Expr,
    Literal,
    LitU32,
    Load,
    Operand,
    UnOp,
    Var,
    lift,
    select,
)
from vyre.ir.float_formats import BF16, STRICT_FORMATS
from vyre.ir.node import If, Let, Loop
from vyre.ir.operators import BinaryOp, ReduceOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.lower.reductions import canonical_nan, empty_value
from vyre.lower.ways import DOUBLE_WAY, SOFT_WAY
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.totals import ONE, OTHER, Product, added, multiplied, noted, start_of_sum, state
from vyre.numeric.soft.layout import prefix
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vyre.ir.expr import FReduceApprox
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.node import Node
    from vyre.lower.names import NameSupply

_CHAINS = 4
_F64 = DataType.F64
_SLACK = Literal(_F64, 1023 - 52 << 52)
"""2^-52."""
_TWO = Literal(_F64, 1024 << 52)
_TIE = 1 << 15
"""The low half of a single that lies in the middle between two BF16."""
_TESTED = (DataType.F32, DataType.BF16)
"""An exact sum of F16 takes three limbs, and no test is shorter."""


class _Block(Script):
    """Steps that become statements of a program, under names of its own."""

    def __init__(self, supply: NameSupply) -> None:
        super().__init__("lower.block", doc="")
        self._supply = supply

    def __call__(self, name: str, value: Operand) -> Var:
        fresh = Var(self._supply.fresh(name))
        self._body.append(Let(fresh.name, lift(value)))
        return fresh

    def add(self, node: Node) -> None:
        self._body.append(node)

    def assign_all(self, variables: Iterable[Var], values: Iterable[Expr]) -> None:
        for variable, value in zip(variables, values, strict=True):
            self.assign(variable, value)

    def loop(self, start: Operand, stop: Operand, body: Callable[[_Block, Var], None]) -> None:
        inner, k = _Block(self._supply), Var(self._supply.fresh("k"))
        body(inner, k)
        self.add(Loop(k.name, lift(start), lift(stop), inner.nodes))

    def branch(self) -> _Block:
        """A block for the body of an `If`."""
        return _Block(self._supply)

    @property
    def nodes(self) -> list[Node]:
        return self._body


@dataclass(frozen=True, slots=True)
class _Range:
    """The elements that are folded."""

    buffer: str
    element: DataType
    start: Var
    stop: Var

    @property
    def some(self) -> Expr:
        return self.start < self.stop

    @property
    def layout(self) -> FloatFormat:
        return STRICT_FORMATS[self.element]

    def bits(self, s: _Block, k: Expr) -> Expr:
        return s.let(Cast(DataType.U32, Load(self.buffer, k)), "bits")


def has_formula(fold: FReduceApprox, element: DataType) -> bool:
    """Sums and products of F64 have none."""
    return element in STRICT_FORMATS or fold.op in (ReduceOp.Min, ReduceOp.Max)


def expand_approximate(
    fold: FReduceApprox,
    element: DataType,
    out: list[Node],
    supply: NameSupply,
    used: dict[str, str],
    *,
    doubles: bool,
) -> Expr:
    """Appends the statements of the fold to `out` and gives its value; `doubles` says that F64 is native.

    `used` takes down the way of a sum or product; the operations of the others speak for themselves.
    """
    s = _Block(supply)
    kind = element.value.lower()
    given = _Range(fold.buffer, element, s("start", fold.start), s("stop", fold.stop))
    match fold.op:
        case ReduceOp.Min | ReduceOp.Max:
            value = _extreme(s, given, fold.op)
        case ReduceOp.Mul:
            used[f"{kind}.product"] = SOFT_WAY
            value = _product(s, given)
        case ReduceOp.Add:
            tested = doubles and element in _TESTED
            used[f"{kind}.sum"] = DOUBLE_WAY if tested else SOFT_WAY
            value = _tested_sum(s, given) if tested else _exact_sum(s, given)
    out += s.nodes
    return value


def _extreme(s: _Block, given: _Range, op: ReduceOp) -> Expr:
    """Any number wins over NaN, so NaN is what it starts from."""
    operator = BinaryOp.FMin if op is ReduceOp.Min else BinaryOp.FMax
    best = s("best", canonical_nan(given.element))

    def step(inner: _Block, k: Var) -> None:
        inner.assign(best, BinOp(operator, best, Load(given.buffer, k)))

    s.loop(given.start, given.stop, step)
    return select(given.some, best, empty_value(op, given.element))


def _product(s: _Block, given: _Range) -> Expr:
    fmt = given.layout
    names = Product.__slots__
    variables = [s(name, value) for name, value in zip(names, state(ONE), strict=True)]
    seen = s("seen", LitU32(0))

    def step(inner: _Block, k: Var) -> None:
        bits = given.bits(inner, k)
        marks = noted(inner, fmt, seen, bits)
        value = multiplied(inner, fmt, Product(*variables), bits)
        inner.assign_all([*variables, seen], [*state(value), marks])

    s.loop(given.start, given.stop, step)
    count = s("count", select(given.some, given.stop - given.start, 0))
    return Cast(given.element, Call(f"{prefix(fmt)}.scaled", [*variables, count, seen]))


def _exact_sum(s: _Block, given: _Range) -> Expr:
    fmt = given.layout
    words = [s("word", word) for word in start_of_sum(fmt)]
    # The sum of nothing is +0.
    seen = s("seen", select(given.some, 0, OTHER))

    def step(inner: _Block, k: Var) -> None:
        bits = given.bits(inner, k)
        marks = noted(inner, fmt, seen, bits)
        inner.assign_all([*words, seen], [*added(inner, fmt, tuple(words), bits), marks])

    s.loop(given.start, given.stop, step)
    return Cast(given.element, Call(f"{prefix(fmt)}.total", [*words, seen]))


def _tested_sum(s: _Block, given: _Range) -> Expr:
    total, size, count = _in_doubles(s, given)
    slack = s("slack", _f(BinaryOp.FMul, _f(BinaryOp.FMul, _f(BinaryOp.FAdd, count, _TWO), _SLACK), size))
    low = s("low", Cast(DataType.F32, _f(BinaryOp.FSub, total, slack)))
    high = s("high", Cast(DataType.F32, _f(BinaryOp.FAdd, total, slack)))
    near = s("near", Cast(DataType.U32, low))
    # NaN equals nothing; the sign of a zero depends on more than the total.
    sure: Expr = _f(BinaryOp.FEq, low, high) & (near << 1).ne(0)
    if given.layout is BF16:
        # All of the interval lies on one side of every middle between two BF16, unless it is one itself.
        sure = sure & (near & 0xFFFF).ne(_TIE)
    result = s("result", low if given.element is DataType.F32 else Cast(given.element, low))
    exact = s.branch()
    exact.assign(result, _exact_sum(exact, given))
    s.add(If(sure.eq(0), exact.nodes))
    return result


def _in_doubles(s: _Block, given: _Range) -> tuple[Expr, Expr, Expr]:
    """The sum, the sum of the sizes, and their number, as doubles."""
    zero = Literal(_F64, 0)
    sums = [s("sum", zero) for _ in range(_CHAINS)]
    sizes = [s("size", zero) for _ in range(_CHAINS)]

    def added_to(inner: _Block, chain: int, index: Expr) -> None:
        x: Expr = Load(given.buffer, index)
        x = inner("x", x if given.element is DataType.F32 else Cast(DataType.F32, x))
        # Of the single: there the sign is a bit, whatever a NaN looks like.
        size = Cast(_F64, UnOp(UnaryOp.FAbs, x))
        inner.assign(sums[chain], _f(BinaryOp.FAdd, sums[chain], Cast(_F64, x)))
        inner.assign(sizes[chain], _f(BinaryOp.FAdd, sizes[chain], size))

    count = s("count", select(given.some, given.stop - given.start, 0))
    rounds = s("rounds", count >> 2)

    def four(inner: _Block, k: Var) -> None:
        first = inner("first", given.start + (k << 2))
        for chain in range(_CHAINS):
            added_to(inner, chain, first + chain)

    s.loop(0, rounds, four)
    s.loop(
        select(given.some, given.start + (rounds << 2), given.stop),
        given.stop,
        lambda b, k: added_to(b, 0, k),
    )
    number = s("number", Convert(_F64, RoundMode.Nearest, count))
    return s("total", _joined(sums)), s("sizes", _joined(sizes)), number


def _joined(chains: Sequence[Expr]) -> Expr:
    a, b, c, d = chains
    return _f(BinaryOp.FAdd, _f(BinaryOp.FAdd, a, b), _f(BinaryOp.FAdd, c, d))


def _f(op: BinaryOp, a: Expr, b: Expr) -> Expr:
    return BinOp(op, a, b)
