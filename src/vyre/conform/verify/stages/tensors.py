"""Tensors and networks: plans of graphs on the backend, every byte held against the evaluator.

`tensors/<subject>/<number>` are graphs of single nodes and, after them, random graphs; `networks/…` are
compositions. A plan is run with and without fusion and must give the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import STORAGE
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes, telling_inputs
from vyre.conform.generate.network_cases import network_cases
from vyre.conform.generate.tensor_cases import TensorCase, tensor_cases
from vyre.conform.verify.stage import FAILED, PASSED, Outcome, attempt
from vyre.conform.verify.stages.engines_memory import GuardedMemory
from vyre.graph.types import ELEMENTS
from vyre.ir.types import DataType
from vyre.planning import plan_graph, run_graph
from vyre.reference.tensors import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.graph.graph import Graph
    from vyre.planning import GraphPlan
    from vyre.reference.tensors import Elements

FEW, MANY = 8, 32
_LONG_RUN = 1 << 16
"""Random cases of a plan from which on `MANY` random graphs are run."""
_EVERYWHERE = tuple(element for element in ELEMENTS if element is not DataType.F64)
"""Elements of random graphs: F64, which a device may lack, has cases of its own."""
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Tensors:
    """Named graphs and, for `tensors`, random ones."""

    group = 4

    def __init__(self, name: str, cases: Callable[[], tuple[TensorCase, ...]], *, random: bool) -> None:
        self.name = name
        self._cases = cases
        self._random = random

    def count(self, plan: RunPlan) -> int:
        return len(self._cases()) + (self._random * (MANY if plan.cases >= _LONG_RUN else FEW))

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, number) for number in range(lo, hi)]

    def _made(self, plan: RunPlan, number: int) -> TensorCase:
        named = self._cases()
        if number < len(named):
            return named[number]
        seed = plan.seed + number
        graph = random_graph(seed, elements=_EVERYWHERE)
        return TensorCase("float random graph", graph, random_sizes(graph, seed))

    def _one(self, backend: Backend, plan: RunPlan, number: int) -> Outcome:
        made = self._made(plan, number)
        name = f"{self.name}/{made.subject.replace(' ', '_')}/{number}"

        def ask() -> Outcome:
            wrong = _wrong(backend, made, plan.seed + number)
            if wrong is None:
                return Outcome(name, made.subject, PASSED)
            where, expected, actual = wrong
            return Outcome(
                name, made.subject, FAILED, "value", (where,), expected, actual, "", made.graph.to_text()
            )

        return attempt(name, made.subject, None, ask)


def _wrong(backend: Backend, case: TensorCase, seed: int) -> tuple[str, str, str] | None:
    """The first element that differs from the evaluator's, or anything written beside the buffers."""
    for fuse in (True, False):
        plan = plan_graph(case.graph, fuse=fuse)
        for lengths in case.lengths:
            for inputs in (
                random_inputs(case.graph, lengths, seed),
                telling_inputs(case.graph, lengths, seed),
                *(telling_inputs(case.graph, lengths, seed, special=name) for name in case.hidden),
            ):
                wrong = _once(backend, plan, inputs, lengths)
                if wrong is not None:
                    return wrong
    return None


def _once(
    backend: Backend, plan: GraphPlan, inputs: Mapping[str, Elements], lengths: Mapping[str, int]
) -> tuple[str, str, str] | None:
    graph, memory = plan.graph, GuardedMemory()
    arrays = {name: as_array(value, graph.types[name].element) for name, value in inputs.items()}
    found = run_graph(plan, arrays, backend=backend, memory=memory)
    note = "" if plan.fuse else ", one kernel a value"
    return _difference(graph, evaluate(graph, inputs), found, lengths, note) or memory.damage({})


def as_array(value: Elements, element: DataType) -> NDArray[Any]:
    """The array of these bits."""
    dtype = STORAGE[element]
    return np.array(value.bits, _WORDS[dtype.itemsize]).view(dtype).reshape(value.shape)


def _difference(
    graph: Graph,
    expected: Mapping[str, Elements],
    found: Mapping[str, NDArray[Any]],
    lengths: Mapping[str, int],
    note: str,
) -> tuple[str, str, str] | None:
    for name in graph.outputs:
        want = as_array(expected[name], graph.types[name].element)
        got = found[name]
        whole = got.astype(np.uint32) if got.dtype == np.bool_ else got
        if want.tobytes() == np.ascontiguousarray(whole).tobytes():
            continue
        bits = _WORDS[want.itemsize]
        left, right = want.reshape(-1).view(bits), np.ascontiguousarray(whole).reshape(-1).view(bits)
        at = int(np.argmax(left != right))
        place = ", ".join(str(int(i)) for i in np.unravel_index(at, want.shape)) if want.ndim else ""
        given = "".join(f", {dim} = {length}" for dim, length in lengths.items())
        return f"{name}[{place}]{given}{note}", f"0x{int(left[at]):X}", f"0x{int(right[at]):X}"
    return None


TENSORS = Tensors("tensors", tensor_cases, random=True)
NETWORKS = Tensors("networks", network_cases, random=False)
