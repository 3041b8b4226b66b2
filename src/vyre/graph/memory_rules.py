"""The rules of values that are made or put together: constants, counters, padding, indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.faults import fault, require_axis, shown
from vyre.graph.nodes import Duplicates
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.graph.nodes import Concat, Constant, Gather, Iota, Pad, Pick, Scatter

_T = DataType
INDICES = frozenset({_T.U32, _T.I32, _T.I64, _T.U8, _T.I8, _T.U16, _T.I16})

MAX_CONSTANT = 1 << 20
"""Bytes of one constant (V060); weights are inputs."""


def constant_type(node: Constant) -> ValueType:
    static = node.type.count.static
    if static is None:
        raise fault("V059", f"a constant of the type {node.type}.", "broadcast a constant of static shape.")
    wanted = static * node.type.element.stride
    if len(node.data) != wanted:
        raise fault("V055", f"{node.type} takes {wanted} bytes, not {len(node.data)}.", "pass all elements.")
    if wanted > MAX_CONSTANT:
        raise fault("V060", f"a constant of {wanted} bytes; {MAX_CONSTANT} are allowed.", "make it an input.")
    return node.type


def iota_type(node: Iota) -> ValueType:
    require_axis(node.axis, node.type)
    if node.type.element not in (_T.U32, _T.I32):
        raise fault(
            "V053", f"coordinates as {node.type.element.value}.", "use U32 or I32, then cast or convert."
        )
    return node.type


def pad_type(node: Pad, of: ValueType) -> ValueType:
    if not len(node.before) == len(node.after) == of.rank:
        raise fault(
            "V054", f"{len(node.before)} and {len(node.after)} sizes for {of}.", "give two for every axis."
        )
    if any((size.static or 0) < 0 for size in (*node.before, *node.after)):
        raise fault("V056", "a negative number of elements to pad with.", "slice instead.")
    if not 0 <= node.value < 1 << of.element.bits:
        raise fault(
            "V053", f"the bits {node.value:#x} are no {of.element.value}.", "pass bits of the element."
        )
    return ValueType(
        of.element, (b + n + a for b, n, a in zip(node.before, of.shape, node.after, strict=True))
    )


def concat_type(node: Concat, of: list[ValueType]) -> ValueType:
    if not of:
        raise fault("V052", "nothing to put together.", "give one operand at least.")
    first = of[0]
    require_axis(node.axis, first)
    total = Size(0)
    for kind in of:
        if kind.element is not first.element:
            raise fault("V053", f"{first} beside {kind}.", "cast them to one element type.")
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
        raise fault("V053", f"indices as {of}.", "use integers: U32, I32, I64 or narrow ones.")


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
            f"indices {shown(indices.shape)} for {shown(of.shape)} along axis {node.axis}.",
            "give them equal sizes on all other axes.",
        )
    return ValueType(of.element, indices.shape)


def scatter_type(node: Scatter, of: ValueType, indices: ValueType, updates: ValueType) -> ValueType:
    require_axis(node.axis, of)
    _require_indices(indices)
    if indices.rank != 1:
        raise fault("V052", f"indices of the shape {shown(indices.shape)}.", "use indices of one axis.")
    wanted = (*of.shape[: node.axis], indices.shape[0], *of.shape[node.axis + 1 :])
    if updates.shape != wanted or updates.element is not of.element:
        wish = ValueType(of.element, wanted)
        raise fault("V052", f"updates {updates} where {wish} is needed.", "reshape or cast the updates.")
    if node.duplicates is not Duplicates.Last and of.element in (_T.I64, _T.Bool):
        raise fault("V053", f"{node.duplicates.value} of {of.element.value}.", "use Last, or cast.")
    return of
