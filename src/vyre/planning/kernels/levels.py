"""Exact sums of products of F32 and narrower floats in levels of doubles, none of which ever rounds.

A level is a double that begins at `top`, 1.5 times a power of two 2^e, and stays between 2^e and 2^(e + 1).
So its last bit is always worth g = 2^(e - 52). What is added to it is rounded to a multiple of g, the
difference to before shows what was taken, and what is left, at most g / 2, is exact and goes to the next:

- The first level begins at 24 times the power of two at or below |a| |b| (lengths as in `certain`, which are
  too small by less than 2^-10), so that every sum of some of the products is below 2^(e - 2).
- Of K products each leaves at most g / 2 to the next level, which begins so that 2^(e - 2) there is at least
  K g / 2. With 2^n the power of two at or above K (two at least) that is 2^(n - 51) times `top`. What a level
  leaves behind is at most K g / 2 of its own, below 2^(e - 2) as well, so all of them stay where they should.

What the last level leaves is summed as well, by its size: 0 says that every bit was kept. With K = 4096 five
levels keep 208 bits from the top. The parts of a sum are levels less their tops, multiples of their g below
2^(e - 1), and that size. Products may be summed apart and joined by adding the parts, which is exact.

In the end each level passes on to the one above it what is a multiple of that one's g. Then a part is at most
half of the g above it. They are joined from the top, until something is lost by it; the lower parts cannot
change the sign of that. So the sum is `near` and a rest of known sign, less than the distance from `near` to
the next double. It rounds as `near` does, unless `near` lies half-way between two results: then the sign
decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Cast, Convert, Expr, LitU32, Select, UnOp, Var, f64, fadd, fmul
from vyre.ir.node import Assign
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.planning.kernels.certain import OPEN, bits_of
from vyre.planning.numbers import widened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.graph.sizes import Size
    from vyre.planning.draft import Draft

T = DataType
_FIRST = 24.0
_SHARE = 2.0**-50
"""Of a level, for the next one, times half of 2^n."""
_AROUND = 2.0**-52
"""Of a double: at least the distance to the next."""
_SUMMED = 1 + 2.0**-10
"""For what the sum of K sizes loses."""


def tops_of(draft: Draft, depth: Size, rows: Expr, columns: Expr, count: int) -> list[Expr]:
    """Where so many levels begin, for a row and a column of these lengths."""
    size = draft.let(fmul(rows, columns))
    large = draft.let(fmul(size, f64(2.0**52 + 1)))
    power = UnOp(UnaryOp.FAbs, less(large, fmul(large, f64(1 - 2.0**-53))))
    found = [draft.let(fmul(power, f64(_FIRST)))]
    share = _share(draft, depth)
    for _ in range(count - 1):
        found.append(draft.let(fmul(found[-1], share)))
    return found


def _share(draft: Draft, depth: Size) -> Expr:
    if depth.static is not None:
        return f64(2.0 ** (max(1, (depth.static - 1).bit_length()) - 1) * _SHARE)
    last = (draft.size(depth) - LitU32(1)) | LitU32(1)
    half = LitU32(1) << (LitU32(31) - UnOp(UnaryOp.Clz, last))
    return draft.let(fmul(Convert(T.F64, RoundMode.Nearest, half), f64(_SHARE)))


class LevelSum:
    """The levels of one sum in variables."""

    def __init__(self, draft: Draft, tops: Sequence[Expr]) -> None:
        self.draft = draft
        self.levels = [draft.variable(top, "level") for top in tops]
        self.left = draft.variable(f64(0.0), "left")

    def add(self, a: Expr, b: Expr) -> None:
        """One more product of two F64 that F32 holds."""
        variable = self.draft.variable
        rest = variable(fmul(a, b), "rest")
        for level in self.levels:
            total = variable(fadd(level, rest), "total")
            taken = variable(less(total, level), "taken")
            rest = variable(less(rest, taken), "rest")
            self.draft.emit(Assign(level.name, total))
        self.draft.emit(Assign(self.left.name, fadd(self.left, UnOp(UnaryOp.FAbs, rest))))

    @property
    def held(self) -> list[Var]:
        return [*self.levels, self.left]


def parts_of(held: Sequence[Expr], tops: Sequence[Expr]) -> list[Expr]:
    """The parts of the sum that levels from these tops on hold."""
    *levels, left = held
    return [*(less(level, top) for level, top in zip(levels, tops, strict=True)), left]


def settled(draft: Draft, tops: Sequence[Expr], parts: Sequence[Expr], into: DataType) -> Expr:
    """The bits of the sum with these parts in a format; `OPEN` where the bits that are kept do not tell."""
    let = draft.let
    *levels, left = parts
    for k in range(len(levels) - 1, 0, -1):
        above = let(less(let(fadd(levels[k], tops[k - 1])), tops[k - 1]))
        levels[k] = let(less(levels[k], above))
        levels[k - 1] = let(fadd(levels[k - 1], above))
    near, rest = _joined(draft, levels[0], levels[1])
    for level in levels[2:]:
        exact = let(BinOp(BinaryOp.FEq, rest, f64(0.0)))
        near, lost = _joined(draft, near, let(Select(exact, level, f64(0.0))))
        rest = let(Select(exact, lost, rest))
    unknown = fmul(left, f64(_SUMMED))
    around = let(fadd(fmul(UnOp(UnaryOp.FAbs, near), f64(_AROUND)), unknown))
    least, most = less(near, around), fadd(near, around)
    low, high, own = (bits_of(draft, end, into) for end in (least, most, near))
    below, above = (widened(Cast(into, bits), into, T.F64) for bits in (low, high))
    middle = let(fmul(fadd(below, above), f64(0.5)))
    half = let(BinOp(BinaryOp.FEq, near, middle) & BinOp(BinaryOp.FNe, rest, f64(0.0)))
    beside = Select(BinOp(BinaryOp.FGt, rest, f64(0.0)), high, low)
    # Where one end is infinite, so is the middle, and nothing is known of the half-way there.
    whole = BinOp(BinaryOp.FEq, left, f64(0.0)) & BinOp(BinaryOp.FEq, rest, f64(0.0))
    known = BinOp(BinaryOp.FEq, left, f64(0.0)) & UnOp(UnaryOp.FIsInf, middle).eq(0)
    chosen = let(Select(half, beside, own))
    certain = let(low.eq(high) | whole | known)
    return let(Select(certain, chosen, OPEN))


def _joined(draft: Draft, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """A sum of two doubles, and what it loses."""
    let = draft.let
    total = let(fadd(a, b))
    taken = let(less(total, a))
    kept = let(less(total, taken))
    return total, let(fadd(less(a, kept), less(b, taken)))


def less(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FSub, a, b)
