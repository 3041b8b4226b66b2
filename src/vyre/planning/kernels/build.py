"""A kernel for every value that is stored: which programs compute it, and what they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.graph.nodes import Accumulator, Constant, Input, MatMul, Recurrence, Reduce, Scan, Scatter
from vyre.planning.kernels.alike import WrittenKernels
from vyre.planning.kernels.exact import exact_variants
from vyre.planning.kernels.mapped import map_variants
from vyre.planning.kernels.products import product_variants
from vyre.planning.kernels.reduced import reduce_variants
from vyre.planning.kernels.scanned import recurrence_variants, scan_variants
from vyre.planning.kernels.scattered import scatter_variants
from vyre.planning.kernels.site import Site, Variant
from vyre.planning.kernels.tiled import tiled_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.graph.graph import Graph
    from vyre.graph.nodes import GraphNode
    from vyre.planning.fusion import Fusion


@dataclass(frozen=True, slots=True)
class PlannedKernel:
    """What computes one stored value; the first variant that suits the lengths of a call is taken."""

    root: str
    kind: str
    variants: tuple[Variant, ...]

    def variant(self, sizes: Mapping[str, int]) -> Variant:
        for variant in self.variants:
            if variant.suits(sizes):
                return variant
        raise VyreError(f"no kernel of {self.root!r} suits {dict(sizes)}.", fix="report it.")


def kernels_of(graph: Graph, fusion: Fusion) -> tuple[PlannedKernel, ...]:
    """The kernels in the order in which they run."""
    written = WrittenKernels()
    return tuple(
        _kernel(Site(graph, fusion, name, fusion.core.get(name)), written)
        for name, node in graph.values
        if name in fusion.stored and not isinstance(node, Input | Constant)
    )


def _kernel(site: Site, written: WrittenKernels) -> PlannedKernel:
    kind, write = _way(site.node)
    return PlannedKernel(site.root, kind, written.variants(site, write))


def _way(node: GraphNode) -> tuple[str, Callable[[Site], tuple[Variant, ...]]]:
    """What a kernel is called, and what writes it."""
    match node:
        case Reduce():
            return "reduce", reduce_variants
        case Scan():
            return "scan", scan_variants
        case Recurrence():
            return "recurrence", recurrence_variants
        case MatMul(accumulator=Accumulator.Exact):
            return "matmul", exact_variants
        case MatMul():
            return "matmul", _matmul_variants
        case Scatter():
            return "scatter", scatter_variants
        case _:
            return "map", map_variants


def _matmul_variants(site: Site) -> tuple[Variant, ...]:
    tiled = tiled_variant(site)
    return (*((tiled,) if tiled.possible else ()), *product_variants(site))
