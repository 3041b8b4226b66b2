"""`scan`: one item for each element, ascending where the sums do not wrap."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.compact import by_value
from vyre.conform.registry.engine.engine_inputs import length, source, words, work_bound
from vyre.conform.registry.engine.reduce import output, scanned
from vyre.conform.registry.engine.withheld import NO_HISTORY
from vyre.conform.spec.engine import EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.engines.prefix import scan_engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.engines.plan import Shape

_OPS = ("add", "xor", "max", "min", "or", "and", "mul")
_ASCENDING = 1 << 16
"""The largest element of a sum that is to ascend without wrapping."""


def _build(op: str, inclusive: bool, shape: Shape) -> Any:
    return scan_engine(op, inclusive=inclusive, shape=shape)


def _case(seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    op, inclusive = _OPS[index % len(_OPS)], bool(index % 2)
    data = words(rng, index, length(rng, index, least=3 if invariant is Inv.Ordered else 0))
    ascending = invariant is Inv.Ordered and index % 2 == 0
    if ascending:
        # Sums of small numbers of 1 and more ascend strictly, so that any exchange shows.
        op, data = "add", data % np.uint32(_ASCENDING) + np.uint32(1)
    return _of(op, inclusive, ascending, {"input": data})


def _on(op: str, inclusive: bool, ascending: bool, inputs: Mapping[str, Any]) -> EngineCase | None:
    data = inputs["input"]
    lawful = not ascending or bool(np.all((data > 0) & (data <= _ASCENDING)))
    return _of(op, inclusive, ascending, inputs) if lawful else None


def _of(op: str, inclusive: bool, ascending: bool, inputs: Mapping[str, Any]) -> EngineCase:
    data = inputs["input"]
    return EngineCase(
        partial(_build, op, inclusive),
        inputs,
        scanned(op, data, inclusive=inclusive),
        output,
        work_bound(data.size),
        key=by_value if ascending else None,
        note=f"op={op}, {'inclusive' if inclusive else 'exclusive'}",
        on=partial(_on, op, inclusive, ascending),
    )


SPEC = EngineSpec(
    "scan",
    "the join of all elements up to, or before, each one",
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
