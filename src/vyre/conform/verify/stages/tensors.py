"""Tensors and networks: plans of graphs on the backend, every byte held against the evaluator.

`tensors/<subject>/<number>` are graphs of single nodes and, after them, random graphs; `networks/…` are
compositions. A plan is run with and without fusion and must give the same bytes; the fused one also in memory
of the device, from trial to trial the same, which is how a user's call runs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.diff.graphs import GraphCase, GraphDifference, first_difference, smallest
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes, telling_inputs
from vyre.conform.generate.network_cases import network_cases
from vyre.conform.generate.tensor_cases import TensorCase, tensor_cases
from vyre.conform.verify.stage import FAILED, PASSED, Outcome, attempt
from vyre.conform.verify.stages.engines_memory import GuardedMemory
from vyre.engines.memory import keeps_on_device
from vyre.graph.types import ELEMENTS
from vyre.ir.types import DataType
from vyre.planning import GraphPlan, plan_graph, run_graph
from vyre.reference.tensors import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.graph.graph import Graph
    from vyre.reference.tensors import Elements

FEW, MANY = 8, 32
_LONG_RUN = 1 << 16
"""Random cases of a plan from which on `MANY` random graphs are run."""
_EVERYWHERE = tuple(element for element in ELEMENTS if element is not DataType.F64)
"""Elements of random graphs: F64, which a device may lack, has cases of its own."""


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

    def explain(self, backend: Backend, plan: RunPlan, case: str) -> Outcome:
        """The outcome of a failing case again, on the smallest graph that still fails."""
        return self._one(backend, plan, int(case.rpartition("/")[2]), small=True)

    def _made(self, plan: RunPlan, number: int) -> TensorCase:
        named = self._cases()
        if number < len(named):
            return named[number]
        seed = plan.seed + number
        graph = random_graph(seed, elements=_EVERYWHERE)
        return TensorCase("float random graph", graph, random_sizes(graph, seed))

    def _one(self, backend: Backend, plan: RunPlan, number: int, *, small: bool = False) -> Outcome:
        made = self._made(plan, number)
        name = f"{self.name}/{made.subject.replace(' ', '_')}/{number}"

        def ask() -> Outcome:
            # What must come out does not depend on the plan, and the evaluator takes its time.
            trials = [(case, evaluate(case.graph, case.inputs)) for case in _trials(made, plan.seed + number)]
            for fuse in (True, False):
                bench = _Bench(backend, fuse=fuse)
                for case, expected in trials:
                    found = bench.outcome(case, expected, name, made.subject, small=small)
                    if found is not None:
                        return found
            return Outcome(name, made.subject, PASSED)

        return attempt(name, made.subject, None, ask)


def _trials(case: TensorCase, seed: int) -> Iterator[GraphCase]:
    """The inputs of a case, one after another."""
    for lengths in case.lengths:
        yield GraphCase(case.graph, random_inputs(case.graph, lengths, seed))
        yield GraphCase(case.graph, telling_inputs(case.graph, lengths, seed))
        for name in case.hidden:
            yield GraphCase(case.graph, telling_inputs(case.graph, lengths, seed, special=name))


class _Bench:
    """A backend, and the plan of a graph on it, which serves all lengths in turn."""

    def __init__(self, backend: Backend, *, fuse: bool) -> None:
        self._backend = backend
        self._fuse = fuse
        self._plans: dict[Graph, GraphPlan] = {}
        self._memory = GuardedMemory()

    def run(self, graph: Graph, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        if graph not in self._plans:
            self._plans[graph] = plan_graph(graph, fuse=self._fuse)
        self._memory = GuardedMemory()
        return run_graph(self._plans[graph], arrays, backend=self._backend, memory=self._memory)

    def run_there(self, graph: Graph, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """With all buffers on the device, which are those of the run before."""
        return run_graph(self._plans[graph], arrays, backend=self._backend)

    def outcome(
        self, case: GraphCase, expected: Mapping[str, Elements], name: str, subject: str, *, small: bool
    ) -> Outcome | None:
        """A failure, or None where every byte is right."""
        found = first_difference(case, self.run, expected=expected)
        if found is None:
            beside = self._memory.damage({})
            if beside is not None:
                where, before, after = beside
                return Outcome(name, subject, FAILED, "value", (where,), before, after, "", str(case.graph))
            if not self._fuse or not keeps_on_device(self._backend):
                return None
            found = first_difference(case, self.run_there, expected=expected)
            if found is None:
                return None
            return _failed(case, found, name, subject, "buffers on the device")
        if small:
            case = smallest(case, self._differs)
            found = first_difference(case, self.run) or found
        return _failed(case, found, name, subject, "" if self._fuse else "one kernel a value")

    def _differs(self, case: GraphCase) -> bool:
        try:
            return first_difference(case, self.run) is not None
        except Exception:  # a backend that fails in other ways on a smaller graph
            return False


def _failed(case: GraphCase, found: GraphDifference, name: str, subject: str, note: str) -> Outcome:
    place = found.output if found.place is None else f"{found.output}{list(found.place)}"
    shown = (place, *(f"{key} = {value.bits[:8]}" for key, value in case.inputs.items()))
    return Outcome(name, subject, FAILED, "value", shown, found.expected, found.found, note, str(case.graph))


TENSORS = Tensors("tensors", tensor_cases, random=True)
NETWORKS = Tensors("networks", network_cases, random=False)
