"""`histogram`: every bin is a location on which as many additions of 1 worked as bytes have its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.engine_inputs import length, source, words, work_bound
from vyre.conform.registry.engine.reduce import output
from vyre.conform.registry.engine.withheld import COUNTS
from vyre.conform.spec.engine import EngineCase, EngineSpec, Location
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.engines.bins import BINS, bins_engine, histogram_engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.plan import Shape


def _build(shape: Shape) -> Any:
    return histogram_engine(shape=shape)


def _case(seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    return _on({"input": (words(rng, index, length(rng, index)) & np.uint32(0xFF)).astype(np.uint8)})


def _on(inputs: Mapping[str, Any]) -> EngineCase:
    data = inputs["input"]
    wanted = np.bincount(data, minlength=BINS)

    def history(outputs: Mapping[str, Any]) -> list[Location]:
        found = outputs["output"]
        return [
            Location(f"bin {b}", 0, np.ones(int(wanted[b]), np.int64), None, int(found[b]))
            for b in range(BINS)
        ]

    return EngineCase(
        _build,
        inputs,
        wanted.astype(np.uint32),
        output,
        work_bound(data.size + BINS * 64),
        history=history,
        on=_on,
    )


SPEC = EngineSpec(
    "histogram",
    "how often each byte value occurs",
    (Inv.Deterministic, Inv.Bounded, Inv.Termination, Inv.AtomicLinearizable, Inv.WorkgroupInvariant),
    _case,
    withheld=COUNTS,
)

_FEW_BINS = 300
"""Of numbers up to twice as large, so that some count for no bin."""


def _build_bins(shape: Shape) -> Any:
    return bins_engine(_FEW_BINS, shape=shape)


def _bins_case(seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    return _on_bins({"input": words(rng, index, length(rng, index)) % np.uint32(2 * _FEW_BINS)})


def _on_bins(inputs: Mapping[str, Any]) -> EngineCase:
    data = inputs["input"]
    wanted = np.bincount(data[data < _FEW_BINS], minlength=_FEW_BINS)

    def history(outputs: Mapping[str, Any]) -> list[Location]:
        found = outputs["output"]
        return [
            Location(f"bin {b}", 0, np.ones(int(wanted[b]), np.int64), None, int(found[b]))
            for b in range(_FEW_BINS)
        ]

    return EngineCase(
        _build_bins,
        inputs,
        wanted.astype(np.uint32),
        output,
        work_bound(data.size + _FEW_BINS),
        history=history,
        on=_on_bins,
    )


BINS_SPEC = EngineSpec(
    "bins", "how often each u32 below a number of bins occurs", SPEC.invariants, _bins_case, withheld=COUNTS
)
