"""The rules of values that are made or put together: constants, counters, padding, indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.faults import fault, require_axis, require_rank, shown
from vyre.graph.nodes import Duplicates
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.ir.limits import MAX_GRAPH_CONSTANT_BYTES
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.graph.nodes import Concat, Constant, Gather, Iota, Pad, Pick, Scatter

_T = DataType
INDICES = frozenset({_T.U32, _T.I32, _T.I64, _T.U8, _T.I8, _T.U16, _T.I16})


def constant_type(node: Constant) -> ValueType:
    require_rank(node.type.shape)
    static = node.type.count.static
    if static is None:
        raise fault(
            "V059",
            f"a constant of the type {node.type} has no fixed size.",
            "broadcast a constant of static shape.",
        )
    wanted = static * node.type.element.stride
    if len(node.data) != wanted:
        raise fault(
            "V055", f"{node.type} takes {wanted} bytes, not {len(node.data)}.", "pass as many elements."
        )
    if wanted > MAX_GRAPH_CONSTANT_BYTES:
        raise fault(
            "V060",
            f"a constant of {wanted} bytes; {MAX_GRAPH_CONSTANT_BYTES} are allowed.",
            "make it an input.",
        )
    return node.type


def iota_type(node: Iota) -> ValueType:
    require_axis(node.axis, node.type)
    if node.type.element not in (_T.U32, _T.I32):
        raise fault(
            "V053",
            f"coordinates cannot be {node.type.element.value}.",
            "use U32 or I32, then cast or convert.",
        )
    return node.type


def pad_type(node: Pad, of: ValueType) -> ValueType:
    if not len(node.before) == len(node.after) == of.rank:
        raise fault(
            "V054",
            f"got {len(node.before)} sizes before and {len(node.after)} after for the {of.rank} axes "
            f"of {of}.",
            "give one of each for every axis.",
        )
    if any((size.static or 0) < 0 for size in (*node.before, *node.after)):
        raise fault(
            "V056",
            f"{of} cannot be padded by {shown(node.before)} before and {shown(node.after)} after.",
            "use sizes of 0 or more, and a slice to take elements away.",
        )
    if not 0 <= node.value < 1 << of.element.bits:
        raise fault(
            "V053", f"the bits {node.value:#x} do not fit {of.element.value}.", "pass bits of the element."
        )
    return ValueType(
        of.element, (b + n + a for b, n, a in zip(node.before, of.shape, node.after, strict=True))
    )


def concat_type(node: Concat, of: list[ValueType]) -> ValueType:
    if not of:
        raise fault("V052", "a concatenation needs operands.", "give at least one operand.")
    first = of[0]
    require_axis(node.axis, first)
    total = Size(0)
    for kind in of:
        if kind.element is not first.element:
            raise fault(
                "V053", f"{first} and {kind} have different elements.", "cast them to one element type."
            )
        if kind.rank != first.rank or _without(kind, node.axis) != _without(first, node.axis):
            raise fault(
                "V052",
                f"{shown(first.shape)} and {shown(kind.shape)} differ beside axis {node.axis}.",
                "give them equal sizes on all other axes.",
            )
        total = total + kind.shape[node.axis]
    return ValueType(first.element, (*first.shape[: node.axis], total, *first.shape[node.axis + 1 :]))


def _without(of: ValueType, axis: int) -> tuple[Size, ...]:
    return of.shape[:axis] + of.shape[axis + 1 :]


def _require_indices(of: ValueType) -> None:
    if of.element not in INDICES:
        raise fault("V053", f"indices cannot be {of}.", "use integers: U32, I32, I64 or narrow ones.")


def gather_type(node: Gather, of: ValueType, indices: ValueType) -> ValueType:
    require_axis(node.axis, of)
    _require_indices(indices)
    return ValueType(of.element, (*of.shape[: node.axis], *indices.shape, *of.shape[node.axis + 1 :]))


def pick_type(node: Pick, of: ValueType, indices: ValueType) -> ValueType:
    require_axis(node.axis, of)
    _require_indices(indices)
    if indices.rank != of.rank or _without(indices, node.axis) != _without(of, node.axis):
        raise fault(
            "V052",
            f"indices of the shape {shown(indices.shape)} do not fit {shown(of.shape)} along axis "
            f"{node.axis}.",
            "give them equal sizes on all other axes.",
        )
    return ValueType(of.element, indices.shape)


def scatter_type(node: Scatter, of: ValueType, indices: ValueType, updates: ValueType) -> ValueType:
    require_axis(node.axis, of)
    _require_indices(indices)
    if indices.rank != 1:
        raise fault(
            "V052",
            f"indices of the shape {shown(indices.shape)} are not one row.",
            "reshape them to one axis.",
        )
    wanted = (*of.shape[: node.axis], indices.shape[0], *of.shape[node.axis + 1 :])
    if updates.shape != wanted:
        raise fault(
            "V052",
            f"updates have the shape {shown(updates.shape)} where {shown(wanted)} is needed.",
            "reshape or broadcast the updates first.",
        )
    if updates.element is not of.element:
        raise fault(
            "V053",
            f"updates are {updates.element.value} for elements of {of.element.value}.",
            f"cast the updates to {of.element.value} first.",
        )
    if node.duplicates is not Duplicates.Last and of.element in (_T.I64, _T.Bool):
        raise fault(
            "V053",
            f"duplicates cannot be joined by {node.duplicates.name} of {of.element.value}.",
            "use Last, or cast the elements.",
        )
    return of
