"""Calls of a plan on arrays that its kernels can use as they are: the shortest way to the launches.

What follows from the classes, types and shapes of the arrays is worked out once: the launches, the memory
that they take between them, and the outputs to make. A call asks where each array lies, makes the outputs and
launches. Whatever is not as it should be (another stream, a view with gaps, memory that is elsewhere) is left
to the ordinary way of `vyre.planning.run`, which takes it or says what is wrong with it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.claim import Claim
from vyre.backends.device_buffer import DeviceBuffer
from vyre.backends.protocol import able
from vyre.backends.recording import current
from vyre.backends.storage import STORAGE
from vyre.engines.placed import placed_steps
from vyre.engines.run import Launch
from vyre.engines.short import LocatingBackend
from vyre.ir.types import DataType
from vyre.planning.draft import ROW
from vyre.planning.results import bfloat_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vyre.backends.protocol import Backend, DeviceMemory
    from vyre.engines.placed import PlacedSteps
    from vyre.engines.run import Runner
    from vyre.graph.graph import Graph
    from vyre.graph.nodes import Constant
    from vyre.planning.bound import BoundPlan

    Make = Callable[[], tuple[Any, int] | None]

_ALIGNED = 256
"""Where a value begins in the memory between kernels."""
_WIDEST = 15
"""Bits of an address that are 0 where the widest element may lie."""


def kind_of(values: Iterable[Any]) -> tuple[Any, ...] | None:
    """What a call depends on of its arrays, but for where they lie; None for what has no type or no shape."""
    try:
        return tuple([(value.__class__, value.dtype, value.shape) for value in values])
    except AttributeError:
        return None


class GraphCall:
    """The calls of a plan on one backend, for arrays of certain classes, types and shapes."""

    __slots__ = ("_backend", "_kept", "_makes", "_scratch", "_slots", "_steps", "_truths")

    def __init__(
        self,
        backend: LocatingBackend,
        steps: PlacedSteps,
        makes: Sequence[Make],
        slots: Sequence[int],
        constants: Iterable[tuple[Claim, DeviceMemory]],
        truths: frozenset[int],
    ) -> None:
        self._backend = backend
        self._steps = steps
        self._makes = makes
        self._slots = [0]
        for size in slots:
            self._slots.append(self._slots[-1] + -(-size // _ALIGNED) * _ALIGNED)
        self._scratch = self._slots.pop()
        self._kept = [(claim, memory.span[1]) for claim, memory in constants]
        self._truths = truths
        """The outputs that come back as truth values of NumPy."""

    def __call__(self, arrays: Sequence[Any]) -> list[Any] | None:
        """The outputs, in the order of the graph; None, with nothing done, for a call that is not for this.

        The arrays are of the kind that this was made for, in the order of the graph's inputs.
        """
        if current.get() is not None:
            return None
        backend = self._backend
        places: list[int] = []
        held: list[object] = []
        """What keeps memory until the launches are queued; what is freed later is freed behind them."""
        for value in arrays:
            if type(value) is DeviceBuffer:
                claim, memory = value._claim, value._memory
                if claim is None or memory is None or value._owner is not backend:
                    return None
                held.append(claim)
                place = memory.span[1]
            else:
                found = backend.located(value)
                if found is None:
                    return None
                place = found[0]
                held.append(found[3])
            if place & _WIDEST:
                return None
            places.append(place)
        results: list[Any] = []
        for make in self._makes:
            made = make()
            if made is None:
                return None
            results.append(made[0])
            places.append(made[1])
        if self._scratch:
            memory = backend.reserve(self._scratch)
            held.append(Claim(memory))
            first = memory.span[1]
            places += [first + offset for offset in self._slots]
        for _, place in self._kept:
            places.append(place)
        self._steps.run(places)
        for k in self._truths:
            results[k] = results[k] != 0
        return results


def graph_call(
    graph: Graph,
    bound: BoundPlan,
    backend: Backend,
    runner: Runner,
    values: Mapping[str, Any],
    constants: Mapping[str, Constant],
    kept: dict[str, tuple[Claim, DeviceMemory]],
) -> GraphCall | None:
    """The short way for arrays like these, in the order of the graph's inputs; None where there is none.

    `kept` is where the constants lie, from the first time on.
    """
    if not able(backend, LocatingBackend):
        return None
    written = [f"out_{name}" for name in graph.outputs]
    if any(name not in bound.plan.outputs for name in written):
        return None  # an input that is handed back is copied
    sizes: dict[str, int] = {}
    for name, of in graph.inputs.items():
        value = values[name]
        there = type(value) is DeviceBuffer
        found = (0, value.nbytes, value.dtype) if there else backend.located(value)
        if found is None or not found[1] or not _fits(found[2], of.element):
            return None
        sizes[name] = found[1]
    makes: list[Make] = []
    kinds: set[type] = {value.__class__ for value in values.values()} - {np.ndarray}
    kind: type = np.ndarray if not kinds else kinds.pop() if len(kinds) == 1 else DeviceBuffer
    bfloat = None if kind is np.ndarray else bfloat_of(values.values())
    for name, held in zip(graph.outputs, written, strict=True):
        element, shape = graph.types[name].element, bound.shapes[name]
        dtype = bfloat if bfloat is not None and element is DataType.BF16 else STORAGE[element]
        make = _own(backend, shape, dtype) if kind is DeviceBuffer else backend.fresh(kind, shape, dtype)
        if make is None or 0 in shape:
            return None
        makes.append(make)
        sizes[held] = bound.nbytes[name]
    slots = [space.length for space in bound.plan.scratch.values() if isinstance(space.length, int)]
    sizes |= dict(zip(bound.plan.scratch, slots, strict=True))
    own: list[tuple[Claim, DeviceMemory]] = []
    for name, node in constants.items():
        if name not in kept:
            memory = backend.borrow(memoryview(node.data))
            kept[name] = Claim(memory), memory
        own.append(kept[name])
        sizes[name] = own[-1][1].nbytes
    steps = [s for s in runner.launches(bound.plan, ROW, whole=True) if isinstance(s, Launch)]
    if len(steps) != len(bound.plan.steps):
        return None
    placed = placed_steps(steps, sizes, backend)
    if placed is None:
        return None
    bools = {k for k, name in enumerate(graph.outputs) if graph.types[name].element is DataType.Bool}
    truths = frozenset(bools if kind is np.ndarray else ())
    return GraphCall(backend, placed, makes, slots, own, truths)


def _fits(dtype: np.dtype[Any], element: DataType) -> bool:
    return dtype == STORAGE[element] or (element is DataType.BF16 and dtype.name == "bfloat16")


def _own(backend: LocatingBackend, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Make:
    return partial(_reserved, backend, shape, dtype, int(np.prod(shape)) * dtype.itemsize)


def _reserved(
    backend: LocatingBackend, shape: tuple[int, ...], dtype: np.dtype[Any], nbytes: int
) -> tuple[DeviceBuffer, int]:
    memory = backend.reserve(nbytes)
    return DeviceBuffer(backend, memory, dtype, shape), memory.span[1]
