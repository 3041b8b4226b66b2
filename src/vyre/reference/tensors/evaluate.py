"""`evaluate`: a graph, elements in, elements out. What this says is what every plan must give."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from vyre.errors import DispatchError, StepBudgetExceeded
from vyre.graph import nodes as g
from vyre.graph.binding import sizes_of
from vyre.ir.types import DataType
from vyre.reference.interpreter import DEFAULT_STEP_BUDGET
from vyre.reference.tensors import joins, moves
from vyre.reference.tensors.elements import Elements, Place, made
from vyre.reference.tensors.expressions import computed, unpacked
from vyre.reference.tensors.products import multiplied

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.graph.graph import Graph
    from vyre.graph.types import ValueType


def evaluate(
    graph: Graph, inputs: Mapping[str, Elements], *, step_budget: int = DEFAULT_STEP_BUDGET
) -> dict[str, Elements]:
    """The outputs of a graph, in their order.

    A value takes a step for each element that is looked at to compute it; more than `step_budget` of them
    raise `StepBudgetExceeded`. Raises `DispatchError` where the inputs do not fit the graph.
    """
    sizes = sizes_of(graph, {name: given.shape for name, given in inputs.items()})
    evaluation = _Evaluation(graph, sizes, step_budget)
    for name, kind in graph.inputs.items():
        evaluation.values[name] = _checked(name, kind, inputs[name])
    for name, node in graph.values:
        if name not in evaluation.values:
            evaluation.values[name] = evaluation.value(name, node)
    return {name: evaluation.values[name] for name in graph.outputs}


def _checked(name: str, kind: ValueType, given: Elements) -> Elements:
    if len(given.bits) != given.count:
        raise DispatchError(
            f"the input {name!r} has {len(given.bits)} elements and its shape {list(given.shape)} "
            f"has {given.count}.",
            fix=f"pass {given.count} elements.",
        )
    if given.bits and not 0 <= min(given.bits) <= max(given.bits) < 1 << kind.element.bits:
        raise DispatchError(
            f"the input {name!r} has elements that are not the bits of {kind.element.value}.",
            fix=f"pass unsigned integers of {kind.element.bits} bits.",
        )
    if kind.element is DataType.Bool:
        return Elements(given.shape, [int(bits != 0) for bits in given.bits])
    return given


class _Evaluation:
    """The values of one call as they are computed, and the steps that are left to it."""

    def __init__(self, graph: Graph, sizes: Mapping[str, int], step_budget: int) -> None:
        self.graph = graph
        self.sizes = sizes
        self.budget = step_budget
        self.left = step_budget
        self.values: dict[str, Elements] = {}

    def value(self, name: str, node: g.GraphNode) -> Elements:
        shape = self.graph.types[name].resolved(self.sizes)
        of = [self.values[operand] for operand in node.operands]
        elements = [self.graph.types[operand].element for operand in node.operands]
        self.charge(name, _steps(node, of, shape))
        match node:
            case g.ElementWise():
                return self.element_wise(name, node, of, elements)
            case g.Constant():
                return Elements(shape, unpacked(node.type.element, node.data))
            case g.Iota():
                return made(shape, lambda place: place[node.axis])
            case g.Copy():
                return of[0]
            case g.Reshape():
                return Elements(shape, of[0].bits)
            case g.Transpose():
                return moves.transposed(node, of[0], shape)
            case g.Slice():
                return moves.sliced(node, of[0], shape, self.sizes)
            case g.Broadcast():
                return moves.broadcast(of[0], shape)
            case g.Windows():
                return moves.windows(node, of[0], shape)
            case g.Pad():
                return moves.padded(node, of[0], shape, elements[0], self.sizes)
            case g.Concat():
                return moves.concatenated(node, of, shape)
            case g.Gather():
                return moves.gathered(node.axis, of[0], of[1], shape, elements[1])
            case g.Pick():
                return moves.picked(node.axis, of[0], of[1], elements[1])
            case g.Reduce():
                return joins.reduced(node, of[0], shape, elements[0])
            case g.Scan():
                return joins.scanned(node, of[0], elements[0])
            case g.Recurrence():
                return joins.recurred(node, of, elements)
            case g.Scatter():
                return joins.scattered(node, of, elements[0], elements[1])
            case g.MatMul():
                return multiplied(node, of, elements, shape)
            case _:
                raise TypeError(f"{type(node).__name__} has no meaning")

    def element_wise(
        self, name: str, node: g.ElementWise, of: list[Elements], elements: list[DataType]
    ) -> Elements:
        try:
            result, steps = computed(node, of, elements, self.left)
        except StepBudgetExceeded:
            raise self.exceeded(name) from None
        self.charge(name, steps)
        return result

    def charge(self, name: str, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise self.exceeded(name)

    def exceeded(self, name: str) -> StepBudgetExceeded:
        return StepBudgetExceeded(
            f"evaluating the graph up to {name!r} takes more than {self.budget} steps, its step budget.",
            fix="pass smaller inputs or a larger step_budget, or run the graph on a backend.",
        )


def _steps(node: g.GraphNode, of: list[Elements], shape: Place) -> int:
    """How many elements are looked at; `ElementWise` counts for itself."""
    count = prod(shape)
    match node:
        case g.Reduce():
            return count + of[0].count
        case g.Scan():
            return count * shape[node.axis]
        case g.MatMul():
            return count * max(1, of[0].shape[-1])
        case g.Scatter():
            return count + of[2].count
        case _:
            return count
