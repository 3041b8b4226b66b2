"""`reduce`: one item, the join of all inputs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.engine_inputs import length, source, words, work_bound
from vyre.conform.registry.engine.withheld import ONE_NUMBER
from vyre.conform.spec.engine import EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.engines.fold import reduce_engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.engines.plan import Shape

_ORACLES: dict[str, tuple[Any, int]] = {
    "add": (np.add, 0),
    "mul": (np.multiply, 1),
    "min": (np.minimum, 0xFFFF_FFFF),
    "max": (np.maximum, 0),
    "and": (np.bitwise_and, 0xFFFF_FFFF),
    "or": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
}


def joined(op: str, values: NDArray[np.uint32]) -> int:
    """By NumPy, which wraps as u32 does."""
    ufunc, neutral = _ORACLES[op]
    return int(ufunc.reduce(values, dtype=np.uint32)) if values.size else neutral


def scanned(op: str, values: NDArray[np.uint32], *, inclusive: bool) -> NDArray[np.uint32]:
    ufunc, neutral = _ORACLES[op]
    running = ufunc.accumulate(values, dtype=np.uint32)
    if inclusive:
        return running
    return np.concatenate([np.array([neutral], np.uint32), running])[: values.size]


def output(outputs: Mapping[str, Any]) -> Any:
    """The items of an engine whose whole output they are."""
    return outputs["output"]


def _build(op: str, shape: Shape) -> Any:
    return reduce_engine(op, shape=shape)


def _case(seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    op = list(_ORACLES)[index % len(_ORACLES)]
    return _on(op, {"input": words(rng, index, length(rng, index))})


def _on(op: str, inputs: Mapping[str, Any]) -> EngineCase:
    data = inputs["input"]
    return EngineCase(
        partial(_build, op),
        inputs,
        np.array([joined(op, data)], np.uint32),
        output,
        work_bound(data.size),
        note=f"op={op}",
        on=partial(_on, op),
    )


SPEC = EngineSpec(
    "reduce",
    "all elements joined by one u32 operation",
    (Inv.Deterministic, Inv.NoOutputLost, Inv.Bounded, Inv.Termination, Inv.WorkgroupInvariant),
    _case,
    withheld=ONE_NUMBER,
)
