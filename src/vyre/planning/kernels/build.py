"""A kernel for every value that is stored: which programs compute it, and what they read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.graph.nodes import Accumulator, Constant, Input, MatMul, Recurrence, Reduce, Scan, Scatter
from vyre.planning.certain import OpenProduct
from vyre.planning.kernels.alike import WrittenKernels
from vyre.planning.kernels.exact import exact_variants
from vyre.planning.kernels.exact_pairs import paired_variants
from vyre.planning.kernels.held import held_variant
from vyre.planning.kernels.mapped import map_variants
from vyre.planning.kernels.matrices import matrix_variants
from vyre.planning.kernels.open import open_variants
from vyre.planning.kernels.open_tiles import open_tile_variants
from vyre.planning.kernels.panels import panel_variants
from vyre.planning.kernels.prefixed import team_scan_variants
from vyre.planning.kernels.products import product_variants
from vyre.planning.kernels.reduced import reduce_variants
from vyre.planning.kernels.registers import register_variants
from vyre.planning.kernels.rows import row_variant
from vyre.planning.kernels.scanned import recurrence_variants, scan_variants
from vyre.planning.kernels.scattered import scatter_variants
from vyre.planning.kernels.site import Site, Variant
from vyre.planning.kernels.thin import thin_variants
from vyre.planning.kernels.tiled import tiled_variant
from vyre.planning.prefixes import TeamScan
from vyre.planning.rows import by_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from vyre.graph.graph import Graph
    from vyre.graph.nodes import GraphNode
    from vyre.planning.fusion import Fusion


@dataclass(frozen=True, slots=True)
class PlannedKernel:
    """What computes one stored value; the first variant that suits a call and its backend is taken."""

    root: str
    kind: str
    variants: tuple[Variant, ...]

    def variant(self, sizes: Mapping[str, int], hardware: frozenset[str]) -> Variant:
        for variant in self.variants:
            if variant.suits(sizes, hardware):
                return variant
        raise VyreError(f"no kernel of {self.root!r} suits {dict(sizes)}.", fix="report it.")


def kernels_of(graph: Graph, fusion: Fusion) -> tuple[PlannedKernel, ...]:
    """The kernels in the order in which they run, for every backend."""
    written = WrittenKernels()
    return tuple(_kernel(site, written, *_way(site.node)) for site in _sites(graph, fusion))


@dataclass(frozen=True, slots=True)
class Core:
    """What a core has, where a workgroup is the work of one: `wide` ones have 32 registers of 64 bytes."""

    wide: bool


@dataclass(frozen=True, slots=True)
class Team:
    """A workgroup is the work of a team of processors with many registers."""


def own_kernels(graph: Graph, fusion: Fusion, place: Core | Team) -> tuple[PlannedKernel, ...]:
    """The same values by kernels for backends whose workgroups are worked on at such a place."""
    fused, chains = by_rows(graph, fusion)
    written = WrittenKernels()
    variant = held_variant if isinstance(place, Core) else row_variant

    def rows(site: Site) -> tuple[Variant, ...]:
        return (variant(site, chains[site.root]),)

    return tuple(
        _kernel(site, written, "rows", rows)
        if site.root in chains
        else _kernel(site, written, *_way(site.node, place))
        for site in _sites(graph, fused)
    )


def _sites(graph: Graph, fusion: Fusion) -> Iterator[Site]:
    for name, node in graph.values:
        if name in fusion.stored and not isinstance(node, Input | Constant):
            yield Site(graph, fusion, name, fusion.core.get(name))


def _kernel(
    site: Site, written: WrittenKernels, kind: str, write: Callable[[Site], tuple[Variant, ...]]
) -> PlannedKernel:
    return PlannedKernel(site.root, kind, written.variants(site, write))


def _way(
    node: GraphNode, place: Core | Team | None = None
) -> tuple[str, Callable[[Site], tuple[Variant, ...]]]:
    """What a kernel is called, and what writes it."""
    match node:
        case Reduce():
            return "reduce", partial(reduce_variants, team=isinstance(place, Team))
        case TeamScan():
            return "scan", team_scan_variants
        case Scan():
            return "scan", scan_variants
        case Recurrence():
            return "recurrence", recurrence_variants
        case OpenProduct():
            return "matmul", open_tile_variants if isinstance(place, Team) else open_variants
        case MatMul(accumulator=Accumulator.Exact):
            return "matmul", exact_variants if place is None else paired_variants
        case MatMul():
            return "matmul", partial(_matmul_variants, place=place)
        case Scatter():
            return "scatter", scatter_variants
        case _:
            return "map", map_variants


def _matmul_variants(site: Site, *, place: Core | Team | None) -> tuple[Variant, ...]:
    match place:
        case None:
            own: tuple[Variant, ...] = ()
        case Core(wide=wide):
            own = panel_variants(site, wide=wide)
        case Team():
            own = (*matrix_variants(site), *thin_variants(site), *register_variants(site))
    tiles = (*own, tiled_variant(site))
    return (*(tile for tile in tiles if tile.possible), *product_variants(site))
