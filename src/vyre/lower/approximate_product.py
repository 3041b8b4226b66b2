"""The product of a range in doubles, beside a bound of its error: the result where the rounding is sure.

Four chains take the elements in turn. An element changes the exponent of a chain by 149 at most, so after
four rounds in a row a chain that began them within 2^-400 and 2^400 is a normal double still. Then it is
brought back by 2^600 or 2^-600, which is exact and counted. So nothing is lost but roundings, and with n of
them the product is off by less than `(n + 2) 2^-52` of itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Cast, Convert, Expr, Literal, LitI32, LitU32, Load, Select, UnOp, Var, select
from vyre.ir.node import If
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.lower.chains import CHAINS, f, rounds_alike

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.lower.chains import Block, FoldedRange

_F64 = DataType.F64
_ROUNDS = 4
_AGAIN = CHAINS * _ROUNDS


def _power(of: int) -> Literal:
    return Literal(_F64, 1023 + of << 52)


_LOW, _HIGH, _UP, _DOWN = _power(-400), _power(400), _power(600), _power(-600)
_SLACK, _ONE, _TWO = _power(-52), _power(0), _power(1)


def tested_product(s: Block, given: FoldedRange, exact: Callable[[Block, FoldedRange], Expr]) -> Expr:
    """The product, by `exact` where doubles cannot tell."""
    total, scale, count = _in_doubles(s, given)
    # Three times 600 leads out of all formats from wherever it begins.
    for _ in range(3):
        total = s("total", f(BinaryOp.FMul, total, _brought(scale)))
        scale = s("scale", _nearer(scale))
    number = f(BinaryOp.FAdd, Convert(_F64, RoundMode.Nearest, count), _TWO)
    slack = s("slack", f(BinaryOp.FMul, number, _SLACK))
    ends = (f(BinaryOp.FMul, total, f(op, _ONE, slack)) for op in (BinaryOp.FSub, BinaryOp.FAdd))
    low, high = (s("end", Cast(DataType.F32, end)) for end in ends)
    # NaN equals nothing.
    sure = f(BinaryOp.FEq, low, high)
    if given.element is not DataType.F32:
        sure = sure & rounds_alike(s, low, given.element)
    result = s("result", low if given.element is DataType.F32 else Cast(given.element, low))
    other = s.branch()
    other.assign(result, exact(other, given))
    s.add(If(sure.eq(0), other.nodes))
    return result


def _in_doubles(s: Block, given: FoldedRange) -> tuple[Expr, Expr, Var]:
    """The product as a double, how often 2^600 has been taken out of it, and the number of elements."""
    chains = [s("chain", _ONE) for _ in range(CHAINS)]
    scale = s("scale", LitI32(0))
    count = s("count", select(given.some, given.stop - given.start, 0))
    turns = s("turns", count // _AGAIN)

    def taken(inner: Block, chain: int, index: Expr) -> None:
        x: Expr = Load(given.buffer, index)
        x = x if given.element is DataType.F32 else Cast(DataType.F32, x)
        inner.assign(chains[chain], f(BinaryOp.FMul, chains[chain], Cast(_F64, x)))

    def turn(inner: Block, k: Var) -> None:
        first = inner("first", given.start + k * _AGAIN)
        for number in range(_AGAIN):
            taken(inner, number % CHAINS, first + number)
        _bring_back(inner, chains, scale)

    def single(inner: Block, k: Var) -> None:
        taken(inner, 0, k)
        _bring_back(inner, chains[:1], scale)

    s.loop(0, turns, turn)
    behind = select(given.some, given.start + turns * _AGAIN, given.stop)
    s.loop(behind, given.stop, single)
    a, b, c, d = chains
    pairs = [s("pair", f(BinaryOp.FMul, x, y)) for x, y in ((a, b), (c, d))]
    _bring_back(s, pairs, scale)
    return s("total", f(BinaryOp.FMul, *pairs)), scale, count


def _bring_back(s: Block, chains: Sequence[Var], scale: Var) -> None:
    """Those that have left the range, which few do."""
    away: Expr = LitU32(0)
    back = s.branch()
    for chain in chains:
        size = s("size", UnOp(UnaryOp.FAbs, chain))
        small = s("small", f(BinaryOp.FLt, size, _LOW))
        large = s("large", f(BinaryOp.FGt, size, _HIGH))
        away = away | small | large
        back.assign(chain, f(BinaryOp.FMul, chain, Select(small, _UP, Select(large, _DOWN, _ONE))))
        back.assign(scale, scale + Select(large, LitI32(1), Select(small, LitI32(-1), LitI32(0))))
    s.add(If(away, back.nodes))


def _sign(scale: Expr) -> tuple[Expr, Expr]:
    """Whether it is above zero, and whether below."""
    below = (Cast(DataType.U32, scale) >> 31).ne(0)
    return scale.ne(LitI32(0)) & below.eq(0), below


def _brought(scale: Expr) -> Expr:
    above, below = _sign(scale)
    return Select(above, _UP, Select(below, _DOWN, _ONE))


def _nearer(scale: Expr) -> Expr:
    above, below = _sign(scale)
    return scale + Select(above, LitI32(-1), Select(below, LitI32(1), LitI32(0)))
