"""Products of matrices, one element of the result an invocation: for every shape and accumulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Accumulator, MatMul, MulStep
from vyre.ir.expr import BinOp, Cast, Expr, FMulAdd, LitU32, Var, fadd, fmul
from vyre.ir.node import Assign, Loop
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.planning.certain import CertainProduct
from vyre.planning.draft import Place
from vyre.planning.kernels.certain import certain_bits
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import literal, rounded, widened

if TYPE_CHECKING:
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
LANES = 64
KINDS = {
    Accumulator.F32: T.F32,
    Accumulator.F64: T.F64,
    Accumulator.I32: T.I32,
    Accumulator.U32: T.U32,
}


def product_node(site: Site) -> MatMul:
    assert isinstance(site.node, MatMul)
    return site.node


def step_of(node: MatMul, a: Expr, b: Expr, total: Expr) -> Expr:
    """The sum after one more product."""
    if not KINDS[node.accumulator].is_float:
        return BinOp(BinaryOp.Add, total, BinOp(BinaryOp.Mul, a, b))
    return FMulAdd(a, b, total) if node.step is MulStep.FMulAdd else fadd(total, fmul(a, b))


def factor(site: Site, pull: Pull, name: str, coords: tuple[Expr, ...]) -> Expr:
    """An element of one side, in the type of the accumulator."""
    of = site.of(name)
    kind = KINDS[product_node(site).accumulator]
    return pull.draft.let(widened(pull.value(name, Place(of.shape, coords)), of.element.loaded, kind))


def result(site: Site, pull: Pull, place: Place, total: Expr) -> tuple[Expr, DataType]:
    """What is stored of a sum, and its type."""
    node = product_node(site)
    if isinstance(node, CertainProduct):
        depth = site.of(node.left).shape[-1]
        bits = certain_bits(node, depth, pull, pull.draft.coords(place), total)
        return Cast(T.F32, bits), T.F32
    return rounded(total, KINDS[node.accumulator], node.element, pull.draft.let)


def product_variants(site: Site) -> tuple[Variant, ...]:
    pull, node, of = site.pull(), product_node(site), site.type
    draft = pull.draft
    depth = site.of(node.left).shape[-1]
    kind = KINDS[node.accumulator]
    index = draft.invocation(LANES, of.count)
    with draft.where(index < draft.size(of.count)):
        place = Place(of.shape, None, index)
        *batch, row, column = draft.coords(place)
        total = draft.variable(literal(kind, 0), "total")
        k = Var(draft.fresh("k"))
        with draft.block() as body:
            a = factor(site, pull, node.left, (*batch, row, k))
            b = factor(site, pull, node.right, (*batch, k, column))
            added = Assign(total.name, step_of(node, a, b, total))
            if node.mask is None:
                draft.emit(added)
            else:
                with draft.where(pull.at(node.mask, *batch, row, k)):
                    draft.emit(added)
        draft.emit(Loop(k.name, LitU32(0), draft.size(depth), body))
        value, made = result(site, pull, place, total)
        site.close(pull, place, value, made)
    return (Variant(site.finished(pull, LANES), ((of.count, LANES),), (), "an invocation an element"),)
