"""What the specs of the library's functions share: a function of arrays, an oracle, and bounds by size.

The oracles are Python's own modules and plain loops over bytes, nodes and rows; none of them knows a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.collection_cases import ALL_BUT_ATOMIC
from vyre.conform.registry.engine.engine_inputs import source
from vyre.conform.registry.engine.withheld import NO_HISTORY
from vyre.conform.spec.engine import CalledEngine, EngineCase, EngineSpec
from vyre.conform.spec.invariant import EngineInvariant as Inv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Inputs = Mapping[str, Array]

LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 31, 63, 64, 65, 127, 128, 255, 256, 257, 300)
"""Around words, workgroups, and the parts that an invocation walks over."""
LONGEST = 700
TILES = 1 << 18
"""Turns of workgroups that go through whole tiles, however few elements are in them."""
SORTING = 1 << 20
"""Turns over the bins of every digit of a key, however few keys there are."""


def size(rng: np.random.Generator, index: int, least: int) -> int:
    """A length that is often a boundary; the first case is never a small one."""
    if index == 0:
        return int(rng.integers(LONGEST // 2, LONGEST))
    boundary = LENGTHS[int(rng.integers(len(LENGTHS)))]
    return max(least, boundary if rng.integers(4) else int(rng.integers(LONGEST)))


def letters(rng: np.random.Generator, count: int, of: bytes) -> Array:
    """Bytes of an alphabet, in which a letter that stands twice comes twice as often."""
    return np.frombuffer(of, np.uint8)[rng.integers(0, len(of), count)]


def numbers(values: Iterable[int]) -> Array:
    return np.array([*values], np.uint64)


def spans(found: Array) -> Array:
    """A number for each row of a begin and an end."""
    wide = found.astype(np.uint64).reshape(-1, 2)
    return wide[:, 0] << np.uint64(32) | wide[:, 1]


def place(error: int | None) -> int:
    """An item that tells where an input is wrong, or that it is not."""
    return 1 << 48 | (0 if error is None else error + 1)


def with_place(values: Array, error: Array) -> Array:
    """The bits of the values, and the place of the error behind them."""
    bits = values.view(f"<u{values.itemsize}").astype(np.uint64)
    return np.concatenate([bits, error.astype(np.uint64)])


def whole(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    """The output and nothing else."""
    array = outputs["output"]
    return array.view(f"<u{array.itemsize}").astype(np.uint64)


def elements_of(inputs: Inputs) -> int:
    return sum(array.size for array in inputs.values())


def always(inputs: Inputs) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class CallSubject:
    """A function of the library: its inputs, how it is called, and the items that must come out.

    `draw(rng, index, count)` makes inputs; `call(inputs, index, backend)` gives outputs, `index` chooses
    among variants; `items(inputs, outputs)` reads what `oracle(inputs, index)` says. Where the inputs
    `measure` n, an output has at most `growth * (n + 64)` elements, and loops take at most
    `effort * (n + 64)` turns, `repeats(inputs)` times over where dispatches are repeated, and `fixed` more.
    """

    id: str
    doc: str
    draw: Callable[[np.random.Generator, int, int], Inputs]
    call: Callable[[Inputs, int, Any], Mapping[str, Any]]
    oracle: Callable[[Inputs, int], Array]
    items: Callable[[Inputs, Mapping[str, Any]], Array] = whole
    elements: tuple[str, ...] = ("input",)
    growth: int = 4
    effort: int = 64
    fixed: int = TILES
    repeats: Callable[[Inputs], int] = field(default=lambda inputs: 1)
    measure: Callable[[Inputs], int] = elements_of
    lawful: Callable[[Inputs], bool] = always

    def spec(self) -> EngineSpec:
        """All of them promise all but a history of their atomics."""
        return EngineSpec(self.id, self.doc, ALL_BUT_ATOMIC, self._case, withheld=NO_HISTORY)

    def _case(self, seed: int, index: int, invariant: Inv) -> EngineCase:
        rng = source(seed, index)
        count = size(rng, index, 3 if invariant is Inv.Ordered else 0)
        return self._on(index, self.draw(rng, index, count))

    def _on(self, index: int, inputs: Inputs) -> EngineCase:
        count = 64 + self.measure(inputs)
        turns = self.repeats(inputs) * count

        def call(given: Mapping[str, Any], backend: Any) -> Mapping[str, Any]:
            return self.call(given, index, backend)

        engine = CalledEngine(call, self.effort * turns + self.fixed, self.growth * count)

        def build(shape: Any) -> CalledEngine:
            return engine

        return EngineCase(
            build,
            inputs,
            self.oracle(inputs, index),
            partial(self.items, inputs),
            1024 * turns,
            note=f"variant {index}",
            on=partial(self._again, index),
            elements=self.elements,
        )

    def _again(self, index: int, inputs: Inputs) -> EngineCase | None:
        return self._on(index, inputs) if self.lawful(inputs) else None
