"""Which products of matrices are computed by matrix instructions, on backends that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.nodes import Accumulator, MulStep
from vyre.ir.types import DataType
from vyre.planning.kernels.mma_f64 import f64_variant
from vyre.planning.kernels.mma_s8 import DEEP, HARDWARE, s8_variant
from vyre.planning.kernels.products import product_node
from vyre.planning.kernels.site import ALWAYS
from vyre.planning.kernels.tiled import LEAST
from vyre.planning.kernels.warp_tile import EACH, Cut

if TYPE_CHECKING:
    from vyre.planning.kernels.site import Site, Variant

T = DataType
INSTRUCTIONS = frozenset({*(f"mma_f64.m16n8k{k}_{i}" for k in (8, 16) for i in range(EACH)), HARDWARE})
"""What the kernels here are for, one or another."""
MANY = 1536
"""Rows and columns from which on large tiles occupy a large device."""
_RANGES = (((MANY, ALWAYS),) * 2, ((LEAST, ALWAYS),) * 2)

DOUBLES = (Cut(128, 64, 64, 32, 8), Cut(64, 64, 32, 32, 8))
"""Tiles for large and for small matrices. Large ones leave room for two workgroups on a multiprocessor, of
which one computes while the other waits at its barrier."""
FLOATS = (Cut(64, 64, 32, 32, 32), Cut(32, 64, 32, 32, 16))
"""For what is kept as F32 until it is multiplied, which takes half the room."""
BYTES = (Cut(128, 128, 64, 64, DEEP), Cut(32, 64, 32, 16, DEEP))


def matrix_variants(site: Site) -> tuple[Variant, ...]:
    """Kernels for the same bits as every other, those for large matrices first."""
    node = product_node(site)
    if node.mask is not None:
        return ()
    elements = [site.of(name).element for name in (node.left, node.right)]
    if node.accumulator is Accumulator.F64 and (node.step is MulStep.FMulAdd or T.F64 not in elements):
        cuts = DOUBLES if T.F64 in elements else FLOATS
        return tuple(f64_variant(site, cut, when) for cut, when in zip(cuts, _RANGES, strict=True))
    if node.accumulator is Accumulator.I32 and elements == [T.I8, T.I8]:
        return tuple(s8_variant(site, cut, when) for cut, when in zip(BYTES, _RANGES, strict=True))
    return ()
