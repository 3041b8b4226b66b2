"""The elements of an exact product that a sum of doubles left open, an invocation an element: for cores.

An open element is summed in levels of doubles (`levels`); where even those cannot tell, it keeps every bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Cast, Expr, Var
from vyre.ir.node import Assign
from vyre.ir.types import DataType
from vyre.planning.certain import OpenProduct
from vyre.planning.draft import Place
from vyre.planning.kernels.certain import OPEN
from vyre.planning.kernels.exact import exact_bits
from vyre.planning.kernels.levels import LevelSum, parts_of, settled, tops_of
from vyre.planning.kernels.products import LANES
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import widened

if TYPE_CHECKING:
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
LEVELS = 3
"""Few, because a core computes one after the other."""


def open_node(site: Site) -> OpenProduct:
    assert isinstance(site.node, OpenProduct)
    return site.node


def open_variants(site: Site) -> tuple[Variant, ...]:
    pull, node, of = site.pull(), open_node(site), site.type
    draft = pull.draft
    index = draft.invocation(LANES, of.count)
    with draft.where(index < draft.size(of.count)):
        place = Place(of.shape, None, index)
        bits = draft.variable(Cast(T.U32, pull.value(node.found, place)), "bits")
        with draft.where(bits.eq(OPEN)):
            draft.emit(Assign(bits.name, _levelled(site, pull, place)))
        with draft.where(bits.eq(OPEN)):
            draft.emit(Assign(bits.name, exact_bits(site, pull, place)))
        site.close(pull, place, Cast(node.element, bits), node.element)
    label = "what is open, an invocation an element, levels of doubles"
    return (Variant(site.finished(pull, LANES), ((of.count, LANES),), (), label),)


def _levelled(site: Site, pull: Pull, place: Place) -> Expr:
    draft, node = pull.draft, open_node(site)
    *batch, row, column = draft.coords(place)
    tops = open_tops(site, pull, (*batch, row, column), LEVELS)
    total = LevelSum(draft, tops)
    with draft.loop("k", draft.size(site.of(node.left).shape[-1])) as k:
        a = double(site, pull, node.left, (*batch, row, k))
        total.add(a, double(site, pull, node.right, (*batch, k, column)))
    return settled(draft, tops, parts_of(total.held, tops), node.element)


def open_tops(site: Site, pull: Pull, coords: tuple[Expr, ...], count: int) -> list[Expr]:
    """Where so many levels of an element begin."""
    node, (*batch, row, column) = open_node(site), coords
    lengths = pull.at(node.rows, *batch, row), pull.at(node.columns, *batch, column)
    return tops_of(pull.draft, site.of(node.left).shape[-1], *lengths, count)


def double(site: Site, pull: Pull, name: str, coords: tuple[Expr, ...]) -> Var:
    """An element of one side as F64."""
    of = site.of(name)
    value = pull.value(name, Place(of.shape, coords))
    return pull.draft.variable(widened(value, of.element, T.F64), "x")
