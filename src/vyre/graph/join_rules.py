"""The rules of what joins elements: reductions, scans, recurrences and products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.faults import fault, require_axis, shown
from vyre.graph.nodes import Accumulator, Joining, MulStep
from vyre.graph.types import ValueType
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.graph.nodes import MatMul, Recurrence, Reduce, Scan

_T = DataType
_FLOATS = {_T.F32: (_T.F32, _T.F64), _T.F16: (_T.F32, _T.F16), _T.BF16: (_T.F32, _T.BF16), _T.F64: (_T.F64,)}
"""The accumulators of a float element, its default first; each holds every value of the element."""
_INTEGERS = {
    _T.U32: _T.U32,
    _T.I32: _T.I32,
    _T.Bool: _T.U32,
    _T.I8: _T.I32,
    _T.I16: _T.I32,
    _T.U8: _T.U32,
    _T.U16: _T.U32,
}
BITWISE = frozenset({Joining.And, Joining.Or, Joining.Xor})
NUMBER_WINS = frozenset({Joining.FMin, Joining.FMax})
ARGUMENTS = frozenset({Joining.ArgMin, Joining.ArgMax})
ORDERED = frozenset({Joining.Add, Joining.Mul})
"""Where the order of a float reduction shows."""


def accumulators(element: DataType) -> tuple[DataType, ...]:
    """What elements may be joined in, the default first; none for I64, which is for indices alone."""
    if element in _FLOATS:
        return _FLOATS[element]
    return (_INTEGERS[element],) if element in _INTEGERS else ()


def outputs(accumulator: DataType) -> tuple[DataType, ...]:
    """The elements that a joined value is rounded to: floats, or integers that keep the low bits."""
    if accumulator is _T.F64:
        return (_T.F64, _T.F32, _T.F16, _T.BF16)
    if accumulator is _T.F32:
        return (_T.F32, _T.F16, _T.BF16)
    if accumulator in (_T.U32, _T.I32):
        return tuple(t for t in _INTEGERS if accumulator in t.stored)
    return (accumulator,)


def reduce_type(node: Reduce, of: ValueType) -> ValueType:
    if list(node.axes) != sorted(set(node.axes)) or not node.axes:
        raise fault(
            "V054",
            f"{of} cannot be reduced along the axes {list(node.axes)}.",
            "name one axis at least, in ascending order, each once.",
        )
    for axis in node.axes:
        require_axis(axis, of)
    _require_joining(node.joining, of, node.accumulator, node.element)
    if node.order is ReduceOrder.Strict and not (node.joining in ORDERED and node.accumulator.is_float):
        raise fault(
            "V053",
            f"a strict order for {node.joining.name} of {of.element.value} has no effect.",
            "use the order TreeBinary.",
        )
    shape = tuple(size for axis, size in enumerate(of.shape) if axis not in node.axes)
    return ValueType(node.element, shape)


def scan_type(node: Scan, of: ValueType) -> ValueType:
    require_axis(node.axis, of)
    if node.joining in ARGUMENTS:
        raise fault("V053", f"a scan cannot join by {node.joining.name}.", "use Min or Max, or a reduction.")
    _require_joining(node.joining, of, node.accumulator, node.element)
    return ValueType(node.element, of.shape)


def _require_joining(joining: Joining, of: ValueType, accumulator: DataType, element: DataType) -> None:
    lawful = accumulators(of.element)
    if accumulator not in lawful:
        names = " or ".join(t.value for t in lawful)
        raise fault(
            "V053",
            f"{of.element.value} elements cannot be joined in {accumulator.value}.",
            f"use the accumulator {names}." if lawful else "cast the indices to U32 or I32 first.",
        )
    if (joining in BITWISE and accumulator.is_float) or (joining in NUMBER_WINS and not accumulator.is_float):
        other = "Add, Mul, Min, Max, FMin or FMax" if accumulator.is_float else "Min or Max"
        raise fault("V053", f"there is no {joining.name} of {of.element.value} elements.", f"use {other}.")
    moved = joining in (Joining.Min, Joining.Max)
    lawful = (_T.U32,) if joining in ARGUMENTS else (of.element,) if moved else outputs(accumulator)
    if element not in lawful:
        raise fault(
            "V053",
            f"{joining.name} of {of.element.value} in {accumulator.value} cannot be given as "
            f"{element.value}.",
            f"use the element {' or '.join(t.value for t in lawful)}.",
        )


def recurrence_type(node: Recurrence, of: list[ValueType]) -> ValueType:
    factor, term = of[:2]
    require_axis(node.axis, factor)
    if factor.shape != term.shape:
        raise fault(
            "V052",
            f"the shapes {shown(factor.shape)} of the factors and {shown(term.shape)} of the terms differ.",
            "broadcast one of them to the shape of the other first.",
        )
    rest = factor.shape[: node.axis] + factor.shape[node.axis + 1 :]
    if len(of) == 3 and of[2].shape != rest:
        raise fault(
            "V052",
            f"the initial values have the shape {shown(of[2].shape)}, not {shown(rest)}.",
            f"reshape or broadcast them to {shown(rest)} first.",
        )
    halves = (_T.F32, _T.F16, _T.BF16)
    if any(kind.element not in halves for kind in of) or node.element not in halves:
        raise fault(
            "V053",
            f"a recurrence of {', '.join(map(str, of))} cannot be given as {node.element.value}.",
            "use F32, F16 or BF16 everywhere.",
        )
    return ValueType(node.element, factor.shape)


def matmul_type(node: MatMul, of: list[ValueType]) -> ValueType:
    left, right = of[:2]
    fits = left.rank >= 2 and left.rank == right.rank
    if not fits or left.shape[:-2] != right.shape[:-2] or left.shape[-1] != right.shape[-2]:
        raise fault(
            "V057",
            f"the shapes {shown(left.shape)} and {shown(right.shape)} cannot be multiplied.",
            "use [..., m, k] times [..., k, n] with equal axes before them; transpose or broadcast first.",
        )
    if node.mask is not None and (of[2].shape != left.shape or of[2].element is not _T.Bool):
        raise fault(
            "V057",
            f"the mask is {of[2]}, and the left side is {left}.",
            f"use a mask of the type Bool{shown(left.shape)}.",
        )
    _require_sum(node, left.element, right.element)
    return ValueType(node.element, (*left.shape[:-1], right.shape[-1]))


def _require_sum(node: MatMul, left: DataType, right: DataType) -> None:
    given = f"{left.value} times {right.value} in {node.accumulator.value}"
    match node.accumulator:
        case Accumulator.F32 | Accumulator.F64 | Accumulator.Exact:
            most = (
                (_T.F32, _T.F16, _T.BF16)
                if node.accumulator is Accumulator.F32
                else (_T.F32, _T.F16, _T.BF16, _T.F64)
            )
            if left not in most or right not in most:
                raise fault(
                    "V053",
                    f"{given} is not possible.",
                    "cast the operands to a float type that the accumulator holds.",
                )
            kept = _T.F32 if node.accumulator is Accumulator.F32 else _T.F64
            lawful = outputs(kept)
        case Accumulator.I32 | Accumulator.U32:
            signed = node.accumulator is Accumulator.I32
            if any(t not in _INTEGERS or t is _T.Bool for t in (left, right)):
                raise fault("V053", f"{given} is not possible.", "use integer operands.")
            lawful = outputs(_T.I32 if signed else _T.U32)
    if node.step is not MulStep.FMulAdd and node.accumulator not in (Accumulator.F32, Accumulator.F64):
        raise fault(
            "V053", f"{given} cannot have two roundings a step.", "use the step FMulAdd, which such sums are."
        )
    if node.element not in lawful:
        names = " or ".join(t.value for t in lawful)
        raise fault("V053", f"{given} cannot be given as {node.element.value}.", f"use the element {names}.")
