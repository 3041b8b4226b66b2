"""`FReduceApprox` inside one invocation, by means that meet every tolerance.

Minimum and maximum are exact. A product is at most one float away from the correctly rounded one, and a sum
is correctly rounded (`vyre.numeric.functions.totals`). Where doubles are native, a sum is first added up in
them, in four chains, beside the sum of all sizes: it is off by less than `(count + 2) 2^-52` of that. Where
both ends of this interval round to one float, this is the result; elsewhere (cancellation, infinities,
zeros, one sum in thousands) the exact sum runs. A product goes the same way (`approximate_product.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Call, Cast, Convert, Expr, Literal, LitU32, UnOp, Var, select
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.node import If
from vyre.ir.operators import BinaryOp, ReduceOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.lower.approximate_product import tested_product
from vyre.lower.chains import CHAINS, Block, FoldedRange, f, in_chains, rounds_alike
from vyre.lower.reductions import canonical_nan, empty_value
from vyre.lower.ways import DOUBLE_WAY, SOFT_WAY
from vyre.numeric.functions.totals import ONE, OTHER, Product, added, multiplied, noted, start_of_sum, state
from vyre.numeric.soft.layout import prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.expr import FReduceApprox
    from vyre.ir.node import Node
    from vyre.lower.names import NameSupply

_F64 = DataType.F64
_SLACK = Literal(_F64, 1023 - 52 << 52)
"""2^-52."""
_TWO = Literal(_F64, 1024 << 52)
_EXACT_HALVES = 1 << 13
"""F16 elements that have an exact sum in doubles, all of them."""


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
    s = Block(supply)
    kind = element.value.lower()
    given = FoldedRange(fold.buffer, element, s("start", fold.start), s("stop", fold.stop))
    match fold.op:
        case ReduceOp.Min | ReduceOp.Max:
            value = _extreme(s, given, fold.op)
        case ReduceOp.Mul:
            used[f"{kind}.product"] = DOUBLE_WAY if doubles else SOFT_WAY
            value = tested_product(s, given, _product) if doubles else _product(s, given)
        case ReduceOp.Add:
            used[f"{kind}.sum"] = DOUBLE_WAY if doubles else SOFT_WAY
            value = _tested_sum(s, given) if doubles else _exact_sum(s, given)
    out += s.nodes
    return value


def _extreme(s: Block, given: FoldedRange, op: ReduceOp) -> Expr:
    """Any number wins over NaN, so NaN is what it starts from."""
    operator = BinaryOp.FMin if op is ReduceOp.Min else BinaryOp.FMax
    best = [s("best", canonical_nan(given.element)) for _ in range(CHAINS)]

    def step(inner: Block, chain: int, x: Expr) -> None:
        inner.assign(best[chain], BinOp(operator, best[chain], x))

    in_chains(s, given, step)
    a, b, c, d = best
    found = BinOp(operator, BinOp(operator, a, b), BinOp(operator, c, d))
    return select(given.some, s("found", found), empty_value(op, given.element))


def _product(s: Block, given: FoldedRange) -> Expr:
    fmt = given.layout
    names = Product.__slots__
    variables = [s(name, value) for name, value in zip(names, state(ONE), strict=True)]
    seen = s("seen", LitU32(0))

    def step(inner: Block, k: Var) -> None:
        bits = given.bits(inner, k)
        marks = noted(inner, fmt, seen, bits)
        value = multiplied(inner, fmt, Product(*variables), bits)
        inner.assign_all([*variables, seen], [*state(value), marks])

    s.loop(given.start, given.stop, step)
    count = s("count", select(given.some, given.stop - given.start, 0))
    return Cast(given.element, Call(f"{prefix(fmt)}.scaled", [*variables, count, seen]))


def _exact_sum(s: Block, given: FoldedRange) -> Expr:
    fmt = given.layout
    words = [s("word", word) for word in start_of_sum(fmt)]
    # The sum of nothing is +0.
    seen = s("seen", select(given.some, 0, OTHER))

    def step(inner: Block, k: Var) -> None:
        bits = given.bits(inner, k)
        marks = noted(inner, fmt, seen, bits)
        inner.assign_all([*words, seen], [*added(inner, fmt, tuple(words), bits), marks])

    s.loop(given.start, given.stop, step)
    return Cast(given.element, Call(f"{prefix(fmt)}.total", [*words, seen]))


def _tested_sum(s: Block, given: FoldedRange) -> Expr:
    total, size, count = _in_doubles(s, given)
    number = Convert(_F64, RoundMode.Nearest, count)
    slack = f(BinaryOp.FMul, f(BinaryOp.FMul, f(BinaryOp.FAdd, number, _TWO), _SLACK), size)
    if given.element is DataType.F16:
        # Multiples of 2^-24 below 2^29 are doubles.
        slack = select(count < _EXACT_HALVES, Literal(_F64, 0), slack)
    slack = s("slack", slack)
    low = s("low", Cast(DataType.F32, f(BinaryOp.FSub, total, slack)))
    high = s("high", Cast(DataType.F32, f(BinaryOp.FAdd, total, slack)))
    # NaN equals nothing; the sign of a zero depends on more than the total.
    sure = f(BinaryOp.FEq, low, high) & (Cast(DataType.U32, low) << 1).ne(0)
    if given.element is not DataType.F32:
        exact = f(BinaryOp.FEq, Cast(_F64, low), total) & f(BinaryOp.FEq, slack, Literal(_F64, 0))
        sure = sure & (exact | rounds_alike(s, low, given.element))
    result = s("result", low if given.element is DataType.F32 else Cast(given.element, low))
    exact_way = s.branch()
    exact_way.assign(result, _exact_sum(exact_way, given))
    s.add(If(sure.eq(0), exact_way.nodes))
    return result


def _in_doubles(s: Block, given: FoldedRange) -> tuple[Expr, Expr, Expr]:
    """The sum and the sum of the sizes, as doubles, and the number of elements."""
    zero = Literal(_F64, 0)
    sums = [s("sum", zero) for _ in range(CHAINS)]
    sizes = [s("size", zero) for _ in range(CHAINS)]

    def step(inner: Block, chain: int, value: Expr) -> None:
        x = inner("x", value if given.element is DataType.F32 else Cast(DataType.F32, value))
        # Of the single: there the sign is a bit, whatever a NaN looks like.
        size = Cast(_F64, UnOp(UnaryOp.FAbs, x))
        inner.assign(sums[chain], f(BinaryOp.FAdd, sums[chain], Cast(_F64, x)))
        inner.assign(sizes[chain], f(BinaryOp.FAdd, sizes[chain], size))

    count = in_chains(s, given, step)
    return s("total", _joined(sums)), s("sizes", _joined(sizes)), count


def _joined(chains: Sequence[Expr]) -> Expr:
    a, b, c, d = chains
    return f(BinaryOp.FAdd, f(BinaryOp.FAdd, a, b), f(BinaryOp.FAdd, c, d))
