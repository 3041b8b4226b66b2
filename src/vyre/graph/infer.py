"""The types of all values of a graph, and the rules that they must keep (V051 to V060)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import Diagnostic, ValidationError, VyreError
from vyre.graph.element_rules import expression_type
from vyre.graph.faults import Fault, fault, require_shape
from vyre.graph.fields import excess
from vyre.graph.join_rules import matmul_type, recurrence_type, reduce_type, scan_type
from vyre.graph.memory_rules import (
    concat_type,
    constant_type,
    gather_type,
    iota_type,
    pad_type,
    pick_type,
    scatter_type,
)
from vyre.graph.nodes import (
    Broadcast,
    Concat,
    Constant,
    Copy,
    ElementWise,
    Gather,
    GraphNode,
    Input,
    Iota,
    MatMul,
    Pad,
    Pick,
    Recurrence,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Slice,
    Transpose,
    Windows,
)
from vyre.graph.view_rules import broadcast_type, reshape_type, slice_type, transpose_type, windows_type
from vyre.ir.limits import MAX_NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.graph.types import ValueType


MAX_DIAGNOSTICS = 1_000
"""Errors that are reported of one graph, as of one program."""


def infer_all(values: Sequence[tuple[str, GraphNode]], outputs: Sequence[str]) -> dict[str, ValueType]:
    """The type of every value. Raises `ValidationError` with one diagnostic for each value at fault.

    What is computed from a value at fault is not looked at.
    """
    types: dict[str, ValueType] = {}
    broken: set[str] = set()
    found: list[Diagnostic] = []
    named = _named(values)
    many = excess(values, outputs)
    if many is not None:
        raise ValidationError([Diagnostic("V060", many, "split it into several graphs.", "graph")])
    for name, node in values:
        if len(found) == MAX_DIAGNOSTICS:
            break
        try:
            _require_name(name, types, broken)
            if broken.intersection(node.operands):
                broken.add(name)
                continue
            types[name] = inferred(node, types, named)
        except Fault as error:
            broken.add(name)
            found.append(_diagnostic(error, name))
        except VyreError as error:
            broken.add(name)
            found.append(Diagnostic("V060", error.message, error.fix, name))
    for name in outputs:
        if name not in types and name not in broken:
            error = Fault("V051", f"the output {name!r} is not a value.", "name a value of the graph.")
            found.append(_diagnostic(error, "outputs"))
    if found:
        raise ValidationError(found)
    return types


def _diagnostic(error: Fault, path: str) -> Diagnostic:
    return Diagnostic(error.code, error.message, error.fix, path)


def _named(values: Sequence[tuple[str, GraphNode]]) -> frozenset[str]:
    """The names that inputs give to dimensions of their own."""
    found: set[str] = set()
    for _, node in values:
        if isinstance(node, Input):
            found |= {str(size) for size in node.type.shape if size.static is None and len(size.terms) == 1}
    return frozenset(found)


def _require_name(name: str, types: Mapping[str, ValueType], broken: set[str]) -> None:
    if name in types or name in broken:
        raise fault("V051", f"{name!r} is defined twice.", "give each value a name of its own.")
    if not name.isidentifier() or len(name) > MAX_NAME_LENGTH:
        raise fault(
            "V051",
            f"{name[:40]!r} cannot name a value.",
            f"use a name like a variable's, of at most {MAX_NAME_LENGTH} characters.",
        )


def inferred(node: GraphNode, types: Mapping[str, ValueType], named: frozenset[str]) -> ValueType:
    """The type of one value over those before it; `named` are the dimensions that inputs name."""
    for operand in node.operands:
        if operand not in types:
            raise fault(
                "V051", f"{operand!r} is not defined before this value.", "define operands before their use."
            )
    made = _type(node, [types[name] for name in node.operands])
    require_shape(made)
    unknown = sorted(made.names - named)
    if unknown:
        raise fault(
            "V059",
            f"the dimension {unknown[0]!r} of {made} is named by no input.",
            f"give an input an axis of the size {unknown[0]}.",
        )
    return made


def _type(node: GraphNode, of: list[ValueType]) -> ValueType:
    match node:
        case Input():
            return node.type
        case Constant():
            return constant_type(node)
        case Iota():
            return iota_type(node)
        case ElementWise():
            return expression_type(node, of)
        case Transpose():
            return transpose_type(node, of[0])
        case Slice():
            return slice_type(node, of[0])
        case Broadcast():
            return broadcast_type(node, of[0])
        case Reshape():
            return reshape_type(node, of[0])
        case Windows():
            return windows_type(node, of[0])
        case Copy():
            return of[0]
        case Pad():
            return pad_type(node, of[0])
        case Concat():
            return concat_type(node, of)
        case Reduce():
            return reduce_type(node, of[0])
        case Scan():
            return scan_type(node, of[0])
        case Recurrence():
            return recurrence_type(node, of)
        case MatMul():
            return matmul_type(node, of)
        case Gather():
            return gather_type(node, *of)
        case Pick():
            return pick_type(node, *of)
        case Scatter():
            return scatter_type(node, *of)
        case _:
            raise TypeError(f"{type(node).__name__} has no rule")
