"""What the specs of the family `collection` share: keys of every type, and their order by NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.engine_inputs import length, source, words, work_bound
from vyre.conform.registry.engine.withheld import NO_HISTORY
from vyre.conform.spec.engine import EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Inputs = Mapping[str, Array]

KINDS = (DataType.I32, DataType.F32, DataType.U64, DataType.U32)
_DTYPES = {
    DataType.U32: np.uint32,
    DataType.F32: np.float32,
    DataType.U64: np.uint64,
    DataType.I32: np.int32,
}
ALL_BUT_ATOMIC = (
    Inv.Deterministic,
    Inv.NoOutputLost,
    Inv.NoDuplicate,
    Inv.Ordered,
    Inv.Bounded,
    Inv.Termination,
    Inv.WorkgroupInvariant,
)


def keys(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Array:
    """Keys with repetitions; of floats every kind of bits."""
    low = words(rng, index, count)
    if kind is DataType.U64:
        return low.astype(np.uint64) << np.uint64(16) | words(rng, index, count)
    return low.view(_DTYPES[kind])


def ordered(array: Array) -> Array:
    """Unsigned numbers that compare as the keys do; floats in IEEE's total order."""
    bits = array.view(np.uint64 if array.itemsize == 8 else np.uint32)
    top = bits.dtype.type(1 << (8 * array.itemsize - 1))
    match array.dtype.kind:
        case "u":
            return bits
        case "i":
            return bits ^ top
        case _:
            return np.where(bits & top, ~bits, bits | top)


def in_order(array: Array) -> Array:
    return array[np.argsort(ordered(array), kind="stable")]


def items_of(array: Array) -> Array:
    """Elements as numbers that can be counted, whatever their type."""
    return array.view(np.uint64 if array.itemsize == 8 else np.uint32)


def pairs(keys: Array, values: Array) -> Array:
    """A number for each key with its value."""
    return items_of(keys).astype(np.uint64) << np.uint64(32) ^ values.astype(np.uint64)


def whole(outputs: Mapping[str, Any]) -> Array:
    return items_of(outputs["output"])


@dataclass(frozen=True, slots=True)
class Subject:
    """An engine of the family: how it is built for a kind of keys, what it is given, and what must come out.

    `draw` makes inputs from random numbers, a number of elements and a kind; `oracle` is plain NumPy.
    """

    id: str
    doc: str
    build: Callable[[DataType, int, Any], Any]
    draw: Callable[[np.random.Generator, int, int, DataType], Inputs]
    oracle: Callable[[Inputs, int], Array]
    items: Callable[[Mapping[str, Any]], Array] = whole
    elements: tuple[str, ...] = ("input",)
    least: int = 0
    kinds: tuple[DataType, ...] = KINDS
    sorted_input: bool = False
    """Whether nothing is promised for an input that is not in order."""

    def spec(self, invariants: tuple[Inv, ...] = ALL_BUT_ATOMIC) -> EngineSpec:
        return EngineSpec(self.id, self.doc, invariants, self._case, withheld=NO_HISTORY)

    def _case(self, seed: int, index: int, invariant: Inv) -> EngineCase:
        rng = source(seed, index)
        kind = self.kinds[index % len(self.kinds)]
        least = max(self.least, 3 if invariant is Inv.Ordered else 0)
        return self._on(kind, index, self.draw(rng, index, length(rng, index, least=least), kind))

    def _on(self, kind: DataType, index: int, inputs: Inputs) -> EngineCase:
        count = sum(array.size for array in inputs.values())
        return EngineCase(
            partial(self.build, kind, index),
            inputs,
            self.oracle(inputs, index),
            self.items,
            work_bound(16 * count),
            note=f"keys of {kind.value}",
            on=partial(self._again, kind, index),
            elements=self.elements,
        )

    def _again(self, kind: DataType, index: int, inputs: Inputs) -> EngineCase | None:
        numbers = ordered(inputs["input"])
        unlawful = self.sorted_input and bool(np.any(numbers[1:] < numbers[:-1]))
        return None if unlawful else self._on(kind, index, inputs)
