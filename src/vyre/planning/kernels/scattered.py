"""Scatters: every element of the result looks for the indices that name it, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.join_rules import accumulators
from vyre.graph.nodes import Duplicates, Joining, Scatter
from vyre.ir.expr import Expr, LitU32, Select, Var
from vyre.ir.node import Assign, Loop
from vyre.planning.draft import Place
from vyre.planning.joins import Join
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import reloaded, rounded, widened

if TYPE_CHECKING:
    from vyre.planning.kernels.site import Site

LANES = 64
_JOINING = {
    Duplicates.Add: Joining.Add,
    Duplicates.Mul: Joining.Mul,
    Duplicates.Min: Joining.Min,
    Duplicates.Max: Joining.Max,
}


def scatter_variants(site: Site) -> tuple[Variant, ...]:
    node = site.node
    assert isinstance(node, Scatter)
    pull, of, indices = site.pull(), site.type, site.of(node.indices)
    draft, axis = pull.draft, node.axis
    loaded = of.element.loaded
    moves = node.duplicates in (Duplicates.Last, Duplicates.Min, Duplicates.Max)
    kind = loaded if moves else accumulators(of.element)[0]
    index = draft.invocation(LANES, of.count)
    with draft.where(index < draft.size(of.count)):
        place = Place(of.shape, None, index)
        coords = draft.coords(place)
        before = pull.value(node.source, place)
        total = draft.variable(widened(before, loaded, kind), "total")
        changed = draft.variable(LitU32(0), "changed")
        k = Var(draft.fresh("k"))
        with draft.block() as body:
            at, valid = pull.index_of(pull.at(node.indices, k), indices.element, of.shape[axis])
            with draft.where(valid & at.eq(coords[axis])):
                moved = (*coords[:axis], k, *coords[axis + 1 :])
                update = draft.let(widened(pull.at(node.updates, *moved), loaded, kind))
                if node.duplicates is not Duplicates.Last:
                    update = Join(_JOINING[node.duplicates], kind, of.element).of(total, update)
                draft.emit(Assign(total.name, update), Assign(changed.name, LitU32(1)))
        draft.emit(Loop(k.name, LitU32(0), draft.size(indices.shape[0]), body))
        # What no index names is not rounded, and so keeps its bits.
        value: Expr = total
        if not moves:
            value, made = rounded(total, kind, of.element, draft.let)
            value = Select(changed.ne(0), reloaded(of.element, draft.let(value), made), before)
        site.close(pull, place, value, loaded)
    return (Variant(site.finished(pull, LANES), ((of.count, LANES),)),)
