"""Exact sums of products of F32 and narrower floats by pairs of doubles, where doubles are native.

A product of two F32 is exact in F64. Each is added to `high`, and what that addition loses, which is itself a
double, to `low`; so `high + low` misses the sum by no more than what the additions to `low` lose. With k
products whose magnitudes sum to `size` that is below k^2 * 2^-106 * size. Where the least and the largest
number that the sum may be round to the same bits, those are the result. Elsewhere (a tie, a sum of which
almost nothing is left, an infinity, a NaN) every bit is kept, as on other backends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Cast, Convert, Expr, UnOp, Var, f64, fadd, fmul
from vyre.ir.node import Assign
from vyre.ir.operators import BinaryOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.planning.certain import FACTORS
from vyre.planning.draft import Place
from vyre.planning.kernels.certain import bits_of
from vyre.planning.kernels.exact import exact_bits, exact_variants
from vyre.planning.kernels.products import LANES, product_node
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import widened

if TYPE_CHECKING:
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
_LOST = 2.0**-104
"""Of `size`, for each pair of products: four times the bound, for what is lost in computing the bound."""
_ROUNDED = 2.0**-51
"""Of the sum: twice what is lost when `low` is joined to `high` and the bound to both."""
_FINITE = 2.0**300
"""Above every sum of 2^32 products of finite F32."""


def paired_variants(site: Site) -> tuple[Variant, ...]:
    node = product_node(site)
    elements = {node.element, *(site.of(side).element for side in (node.left, node.right))}
    if not elements <= FACTORS:
        return exact_variants(site)
    pull, of = site.pull(), site.type
    draft = pull.draft
    index = draft.invocation(LANES, of.count)
    with draft.where(index < draft.size(of.count)):
        place = Place(of.shape, None, index)
        bits = _paired(site, pull, place)
        site.close(pull, place, Cast(node.element, bits), node.element)
    label = "an invocation an element, pairs of doubles"
    return (Variant(site.finished(pull, LANES), ((of.count, LANES),), (), label),)


def _paired(site: Site, pull: Pull, place: Place) -> Var:
    """The bits of the result."""
    draft = pull.draft
    least, most, known = _bounds(site, pull, place)
    bits = draft.variable(least, "bits")
    agreed = draft.let(known & bits.eq(most))
    with draft.where(agreed.eq(0)):
        draft.emit(Assign(bits.name, exact_bits(site, pull, place)))
    return bits


def _bounds(site: Site, pull: Pull, place: Place) -> tuple[Expr, Expr, Expr]:
    """The bits of the least and of the largest that the result may be, and whether they were computed from
    numbers alone."""
    draft, node = pull.draft, product_node(site)
    *batch, row, column = draft.coords(place)
    high, low, size = (draft.variable(f64(0.0), hint) for hint in ("high", "low", "size"))
    depth = draft.size(site.of(node.left).shape[-1])
    with draft.loop("k", depth) as k:
        a = _double(site, pull, node.left, (*batch, row, k))
        b = _double(site, pull, node.right, (*batch, k, column))
        if node.mask is None:
            _add(pull, a, b, (high, low, size))
        else:
            with draft.where(pull.at(node.mask, *batch, row, k)):
                _add(pull, a, b, (high, low, size))
    count = draft.let(Convert(T.F64, RoundMode.Nearest, depth))
    total = draft.let(fadd(high, low))
    lost = fmul(fmul(fmul(count, count), f64(_LOST)), size)
    missed = draft.let(fadd(lost, fmul(UnOp(UnaryOp.FAbs, total), f64(_ROUNDED))))
    least = bits_of(draft, _less(total, missed), node.element)
    most = bits_of(draft, fadd(total, missed), node.element)
    return least, most, BinOp(BinaryOp.FLt, size, f64(_FINITE))


def _double(site: Site, pull: Pull, name: str, coords: tuple[Expr, ...]) -> Expr:
    of = site.of(name)
    return pull.draft.let(widened(pull.value(name, Place(of.shape, coords)), of.element, T.F64))


def _add(pull: Pull, a: Expr, b: Expr, to: tuple[Var, Var, Var]) -> None:
    """One more product: what the sum loses is computed from the parts that it took of either number."""
    draft, (high, low, size) = pull.draft, to
    product = draft.let(fmul(a, b))
    total = draft.variable(fadd(high, product), "total")
    taken = draft.variable(_less(total, high), "taken")
    kept = draft.variable(_less(total, taken), "kept")
    lost = fadd(_less(high, kept), _less(product, taken))
    draft.emit(
        Assign(low.name, fadd(low, lost)),
        Assign(high.name, total),
        Assign(size.name, fadd(size, UnOp(UnaryOp.FAbs, product))),
    )


def _less(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FSub, a, b)
