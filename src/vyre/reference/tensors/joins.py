"""Nodes that join elements one after another: reductions, scans, recurrences, scatters."""

from __future__ import annotations

from functools import reduce as fold
from typing import TYPE_CHECKING

from vyre.graph.join_rules import ARGUMENTS, accumulators
from vyre.graph.nodes import Duplicates, Joining
from vyre.ir.operators import ReduceOp, ReduceOrder
from vyre.ir.types import DataType
from vyre.reference import floats
from vyre.reference.tensors.elements import Elements, Place, made, places, with_axis, without_axis
from vyre.reference.tensors.numbers import converted, greatest, integer, least, rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.graph.nodes import Recurrence, Reduce, Scan, Scatter

_FLOAT = {
    Joining.Add: ReduceOp.Add,
    Joining.Mul: ReduceOp.Mul,
    Joining.FMin: ReduceOp.Min,
    Joining.FMax: ReduceOp.Max,
}
_WORD = (1 << 32) - 1
_INTEGER: dict[Joining, tuple[int, Callable[[int, int], int]]] = {
    Joining.Add: (0, lambda a, b: (a + b) & _WORD),
    Joining.Mul: (1, lambda a, b: (a * b) & _WORD),
    Joining.And: (_WORD, lambda a, b: a & b),
    Joining.Or: (0, lambda a, b: a | b),
    Joining.Xor: (0, lambda a, b: a ^ b),
}
"""What a sum of nothing is, and one step."""
_FOLDED = {
    Duplicates.Add: Joining.Add,
    Duplicates.Mul: Joining.Mul,
    Duplicates.Min: Joining.Min,
    Duplicates.Max: Joining.Max,
}


def argument(joining: Joining, of: DataType, values: Sequence[int]) -> int:
    """Where the least or the greatest element stands, the first of several; 0 where there is none."""
    choose = min if joining in (Joining.Min, Joining.ArgMin) else max
    # Both give the first of equal ones.
    return choose(range(len(values)), key=lambda i: rank(of, values[i]), default=0)


def joined(
    joining: Joining,
    order: ReduceOrder,
    of: DataType,
    accumulator: DataType,
    element: DataType,
    values: Sequence[int],
) -> int:
    """The values, which are elements of the type `of`, joined in the accumulator and given as `element`."""
    if joining in ARGUMENTS:
        return argument(joining, of, values)
    if joining in (Joining.Min, Joining.Max):
        if not values:
            return greatest(of) if joining is Joining.Min else least(of)
        return values[argument(joining, of, values)]
    widened = [converted(of, accumulator, bits) for bits in values]
    if accumulator.is_float:
        total = floats.reduce(order, _FLOAT[joining], floats.FORMATS[accumulator], widened)
    else:
        start, step = _INTEGER[joining]
        total = fold(step, widened, start)
    return converted(accumulator, element, total)


def reduced(node: Reduce, of: Elements, shape: Place, element: DataType) -> Elements:
    """`element` is the type of the operand."""
    kept = [axis for axis in range(len(of.shape)) if axis not in node.axes]
    along = [of.shape[axis] for axis in node.axes]

    def at(place: Place) -> int:
        source = [0] * len(of.shape)
        for axis, coordinate in zip(kept, place, strict=True):
            source[axis] = coordinate
        values: list[int] = []
        for inner in places(along):
            for axis, coordinate in zip(node.axes, inner, strict=True):
                source[axis] = coordinate
            values.append(of.at(source))
        return joined(node.joining, node.order, element, node.accumulator, node.element, values)

    return made(shape, at)


def scanned(node: Scan, of: Elements, element: DataType) -> Elements:
    """`element` is the type of the operand."""

    rows: dict[Place, list[int]] = {}

    def at(place: Place) -> int:
        first = with_axis(place, node.axis, 0)
        if first not in rows:
            length = of.shape[node.axis]
            rows[first] = [of.at(with_axis(place, node.axis, i)) for i in range(length)]
        values = rows[first][: place[node.axis] + (0 if node.exclusive else 1)]
        return joined(node.joining, ReduceOrder.TreeBinary, element, node.accumulator, node.element, values)

    return made(of.shape, at)


def recurred(node: Recurrence, of: list[Elements], elements: list[DataType]) -> Elements:
    """`elements` are the types of the operands."""
    f32 = floats.FORMATS[DataType.F32]
    factor, term = of[:2]
    state: dict[Place, int] = {}

    def before(place: Place) -> int:
        coordinate = place[node.axis]
        if coordinate:
            return state[with_axis(place, node.axis, coordinate - 1)]
        rest = without_axis(place, node.axis)
        return converted(elements[2], DataType.F32, of[2].at(rest)) if len(of) == 3 else 0

    def at(place: Place) -> int:
        a = converted(elements[0], DataType.F32, factor.at(place))
        b = converted(elements[1], DataType.F32, term.at(place))
        # Places come in row-major order, so the one before along the axis is already known.
        state[place] = floats.fma(f32, a, before(place), b)
        return converted(DataType.F32, node.element, state[place])

    return made(factor.shape, at)


def scattered(node: Scatter, of: list[Elements], element: DataType, indexed: DataType) -> Elements:
    """`element` is the type of the source, `indexed` that of the indices."""
    source, indices, updates = of
    written: dict[int, list[int]] = {}
    for k, bits in enumerate(indices.bits):
        written.setdefault(integer(indexed, bits), []).append(k)

    def at(place: Place) -> int:
        first = source.at(place)
        found = written.get(place[node.axis], [])
        given = [updates.at(with_axis(place, node.axis, k)) for k in found]
        if not given:
            return first
        if node.duplicates is Duplicates.Last:
            return given[-1]
        joining, accumulator = _FOLDED[node.duplicates], accumulators(element)[0]
        return joined(joining, ReduceOrder.Strict, element, accumulator, element, [first, *given])

    return made(source.shape, at)
