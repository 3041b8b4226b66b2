"""Kernels that compute every element by itself, one an invocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.planning.draft import Place
from vyre.planning.kernels.site import Variant

if TYPE_CHECKING:
    from vyre.planning.kernels.site import Site

LANES = 256


def map_variants(site: Site) -> tuple[Variant, ...]:
    pull, of = site.pull(), site.of(site.root)
    draft = pull.draft
    index = draft.invocation(LANES, of.count)
    with draft.where(index < draft.size(of.count)):
        draft.store(index, pull.computed(site.root, Place(of.shape, None, index)))
    return (Variant(site.finished(pull, LANES), ((of.count, LANES),)),)
