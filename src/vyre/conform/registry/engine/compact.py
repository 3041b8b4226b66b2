"""`compact`: the kept elements are the items; all inputs differ, so each can be told from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.engine_inputs import distinct, flags, length, source, work_bound
from vyre.conform.registry.engine.slotted_compaction import slotted_engine
from vyre.conform.registry.engine.withheld import NO_HISTORY
from vyre.conform.spec.engine import EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.engines.plan import Shape


def build(shape: Shape) -> Any:
    return slotted_engine(shape=shape)


def counted(outputs: Mapping[str, Any]) -> Any:
    """The items of an engine that says how many there are."""
    return outputs["output"][: int(outputs["count"][0])]


def written(outputs: Mapping[str, Any]) -> dict[str, int]:
    return {"output": int(outputs["count"][0]), "count": 1}


def by_value(items: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The key of items that ascend."""
    return items.astype(np.int64)


def ranked(expected: NDArray[np.uint32]) -> Any:
    """The key of an item: its place among the expected ones, which are all different."""
    order = np.argsort(expected, kind="stable")

    def key(items: NDArray[np.uint32]) -> NDArray[np.int64]:
        at = np.minimum(np.searchsorted(expected[order], items), max(expected.size - 1, 0))
        return order[at]

    return key


def _case(seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    count = length(rng, index, least=3 if invariant is Inv.Ordered else 0)
    data = distinct(rng, count)
    chosen = flags(rng, index, count)
    if invariant is Inv.Ordered:
        chosen[[0, -1]] = 1
    return _of({"input": data, "flags": chosen})


def _on(inputs: Mapping[str, Any]) -> EngineCase | None:
    """Elements that are alike cannot be ranked."""
    return _of(inputs) if np.unique(inputs["input"]).size == len(inputs["input"]) else None


def _of(inputs: Mapping[str, Any]) -> EngineCase:
    expected = inputs["input"][inputs["flags"] != 0]
    return EngineCase(
        build,
        inputs,
        expected,
        counted,
        work_bound(len(inputs["input"])),
        key=ranked(expected),
        written=written,
        on=_on,
        elements=("input", "flags"),
    )


SPEC = EngineSpec(
    "compact",
    "the elements whose flag is set, in their order",
    (
        Inv.Deterministic,
        Inv.NoOutputLost,
        Inv.NoDuplicate,
        Inv.Ordered,
        Inv.Bounded,
        Inv.Termination,
        Inv.WorkgroupInvariant,
    ),
    _case,
    withheld=NO_HISTORY,
)
