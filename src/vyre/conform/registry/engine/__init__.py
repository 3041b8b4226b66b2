"""Engine-level specifications with their invariants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.engine import (
    blocks,
    bucket,
    codes,
    compact,
    frames,
    histogram,
    match,
    networks,
    numerals,
    ordering,
    pipeline,
    places,
    programs,
    reduce,
    scan,
    texts,
)
from vyre.conform.registry.engine import float_engines as floats

if TYPE_CHECKING:
    from vyre.conform.spec.engine import EngineSpec

ENGINES: tuple[EngineSpec, ...] = (
    reduce.SPEC,
    scan.SPEC,
    compact.SPEC,
    histogram.SPEC,
    match.SPEC,
    bucket.SPEC,
    floats.TREE,
    floats.STRICT,
    pipeline.SPEC,
    programs.SPEC,
    *ordering.SPECS,
    *places.SPECS,
    histogram.BINS_SPEC,
    *texts.SPECS,
    *codes.SPECS,
    *numerals.SPECS,
    *networks.SPECS,
    *frames.SPECS,
    *blocks.SPECS,
)
"""Their order is part of the names of cases: new ones go to the end."""
