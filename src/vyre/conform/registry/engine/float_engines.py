"""`reduce_tree` and `reduce_strict`: one item, the bits of the reduction in its declared order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.engine_inputs import length, source, work_bound
from vyre.conform.registry.engine.float_oracle import reduced
from vyre.conform.registry.engine.reduce import output
from vyre.conform.registry.engine.withheld import ONE_NUMBER
from vyre.conform.spec.engine import EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.engines.float_fold import Fold
from vyre.engines.strict import strict_engine
from vyre.engines.tree import tree_engine
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.operators import ReduceOp, ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.engines.plan import Shape

_CHUNK = 100
_OPS = (ReduceOp.Add, ReduceOp.Mul, ReduceOp.Min, ReduceOp.Max)
_FOLDS = [(op, element) for op in _OPS for element in STRICT_FORMATS]


def float_bits(
    rng: np.random.Generator, op: ReduceOp, element: DataType, count: int, *, plain: bool = False
) -> NDArray[Any]:
    """Numbers whose sums and products round at every step; unless `plain`, sometimes special ones."""
    layout = STRICT_FORMATS[element]
    if op is ReduceOp.Mul:
        # The product of all stays far from overflow and underflow, whatever the length. The quotient is close
        # to exp(x), about which processors differ.
        x = rng.standard_normal(count) * min(1 / 16, 4 / max(count, 1) ** 0.5)
        numbers = (2 + x) / (2 - x)
    else:
        numbers = rng.standard_normal(count) * 2.0 ** rng.integers(-6, 6, count)
    f32 = numbers.astype(np.float32)
    if element is DataType.F32:
        bits: NDArray[Any] = f32.view(np.uint32)
    elif element is DataType.F16:
        bits = f32.astype(np.float16).view(np.uint16)
    else:
        bits = (f32.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if plain:
        return bits
    if count and not rng.integers(4):
        specials = [0, layout.sign, 1, layout.infinity, layout.sign | layout.infinity, layout.nan | 1]
        bits[rng.integers(count)] = specials[int(rng.integers(len(specials)))]
    if count and not rng.integers(8):
        bits[:] = layout.sign
    return bits


def _tree(fold: Fold, shape: Shape) -> Any:
    return tree_engine(fold, shape=shape)


def _strict(fold: Fold, shape: Shape) -> Any:
    # A chunk is where a strict fold could go wrong, so it follows the shape here.
    return strict_engine(fold, chunk=_CHUNK + shape.lanes, shape=shape)


def _case(order: ReduceOrder, build: Any, seed: int, index: int, invariant: Inv) -> EngineCase:
    rng = source(seed, index)
    op, element = _FOLDS[index % len(_FOLDS)]
    bits = float_bits(rng, op, element, length(rng, index))
    data = bits if element is DataType.BF16 else bits.view(np.dtype(f"<f{bits.itemsize}"))
    return _on(order, build, op, element, {"input": data})


def _on(
    order: ReduceOrder, build: Any, op: ReduceOp, element: DataType, inputs: Mapping[str, Any]
) -> EngineCase:
    data = inputs["input"]
    bits = data.view(np.dtype(f"<u{data.itemsize}"))
    return EngineCase(
        partial(build, Fold(op, element)),
        inputs,
        np.array([reduced(order, op, element, bits)], np.uint32),
        output,
        work_bound(bits.size),
        note=f"{order.value} {op.value} of {element.value}",
        on=partial(_on, order, build, op, element),
    )


_PROMISES = (Inv.Deterministic, Inv.NoOutputLost, Inv.Bounded, Inv.Termination, Inv.WorkgroupInvariant)

TREE = EngineSpec(
    "reduce_tree",
    "floats joined by the binary tree that splits at the largest power of two below the length",
    _PROMISES,
    partial(_case, ReduceOrder.TreeBinary, _tree),
    withheld=ONE_NUMBER,
)
STRICT = EngineSpec(
    "reduce_strict",
    "floats joined from left to right, in chunks",
    _PROMISES,
    partial(_case, ReduceOrder.Strict, _strict),
    withheld=ONE_NUMBER,
)
