"""What is stored of a sum of doubles that stands for an exact one: the rounded number where it is certain.

Let u be 2^-53, and a and b a row and a column of K numbers that F32 holds. Their products are exact in F64:
they have 48 bits, and lie between 2^-298 and 2^256 where they are not 0. Every sum of them is a multiple of
2^-298, so nothing underflows, and below 2^288, so nothing overflows. Each of the K steps `FMulAdd` rounds
once, by at most u of what it gives. So the last total t misses the exact sum by at most ((1 + u)^K - 1) times
the sum of |a_k b_k|, which is at most |a| |b| (Cauchy and Schwarz). With K below 2^32 that is below
K u (1 + 2^-20) |a| |b|. The ends t - m and t + m are rounded too, which moves them by at most u (|t| + m),
and |t| is at most |a| |b| (1 + 2^-20). The lengths |a| and |b| are computed in F64 from exact squares, in a
tree of at most 32 levels, and are too small by less than 2^-46 of themselves. So

    m = (K + 2) u (1 + 2^-10) |a| |b|

is enough: the exact sum lies between the two ends as they were computed. Rounding to a narrower format keeps
the order, so where the two ends round to the same bits the exact sum rounds to them as well: to an infinity
too, and to a zero of either sign. An exact sum of 0 is +0. It is found only where m is 0, and then t is +0,
because a total that begins at +0 is never -0; otherwise the ends have two signs, and the element is open.

An infinity or a NaN among the numbers shows in t, because no finite sum overflows: t is the NaN or the
infinity that the exact sum is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Cast, Convert, Expr, LitU32, Select, UnOp, f64, fadd, fmul
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.planning.numbers import rounded

if TYPE_CHECKING:
    from vyre.graph.sizes import Size
    from vyre.planning.certain import CertainProduct
    from vyre.planning.draft import Draft
    from vyre.planning.pull import Pull

T = DataType
OPEN = LitU32(0x7FC0_0001)
"""What stands for an element that is not certain: as F32 a NaN that no result is, and too wide for F16."""
LOST = 2.0**-53 * (1 + 2.0**-10)
"""Of |a| |b|, for each product and for two more."""


def certain_bits(
    node: CertainProduct, depth: Size, pull: Pull, coords: tuple[Expr, ...], total: Expr
) -> Expr:
    """The bits of the exact sum in the format `into`, or `OPEN`; `total` is the sum of doubles."""
    draft = pull.draft
    *batch, row, column = coords
    length = fmul(pull.at(node.rows, *batch, row), _lost(draft, depth))
    missed = draft.let(fmul(length, pull.at(node.columns, *batch, column)))
    infinite = draft.let(UnOp(UnaryOp.FIsInf, total))
    ends = BinOp(BinaryOp.FSub, total, missed), fadd(total, missed)
    least, most = (bits_of(draft, Select(infinite, total, end), node.into) for end in ends)
    return draft.let(Select(least.eq(most), least, OPEN))


def _lost(draft: Draft, depth: Size) -> Expr:
    if depth.static is not None:
        return f64((depth.static + 2) * LOST)
    count = Convert(T.F64, RoundMode.Nearest, draft.size(depth))
    return draft.let(fmul(fadd(count, f64(2.0)), f64(LOST)))


def bits_of(draft: Draft, value: Expr, into: DataType) -> Expr:
    """The bits of an F64 rounded to a narrower format."""
    made, _ = rounded(draft.let(value), T.F64, into, draft.let)
    return draft.let(Cast(T.U32, draft.let(made)))
