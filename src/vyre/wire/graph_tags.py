"""The permanent numbers of graphs, given as those of programs are: once, one by one, never 0, never again."""

from collections.abc import Mapping
from typing import Any, Final

from vyre.graph import nodes as g
from vyre.graph.types import ELEMENTS
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType
from vyre.wire.tags import REDUCE_ORDERS, TYPES

NODES: Final[Mapping[type[g.GraphNode], int]] = {
    g.Input: 1,
    g.Constant: 2,
    g.Iota: 3,
    g.ElementWise: 4,
    g.Transpose: 5,
    g.Slice: 6,
    g.Broadcast: 7,
    g.Reshape: 8,
    g.Windows: 9,
    g.Copy: 10,
    g.Pad: 11,
    g.Concat: 12,
    g.Reduce: 13,
    g.Scan: 14,
    g.Recurrence: 15,
    g.MatMul: 16,
    g.Gather: 17,
    g.Pick: 18,
    g.Scatter: 19,
}

JOININGS: Final[Mapping[g.Joining, int]] = {
    g.Joining.Add: 1,
    g.Joining.Mul: 2,
    g.Joining.FMin: 3,
    g.Joining.FMax: 4,
    g.Joining.Min: 5,
    g.Joining.Max: 6,
    g.Joining.ArgMin: 7,
    g.Joining.ArgMax: 8,
    g.Joining.And: 9,
    g.Joining.Or: 10,
    g.Joining.Xor: 11,
}

ACCUMULATORS: Final[Mapping[g.Accumulator, int]] = {
    g.Accumulator.F32: 1,
    g.Accumulator.F64: 2,
    g.Accumulator.I32: 3,
    g.Accumulator.U32: 4,
    g.Accumulator.Exact: 5,
}

MUL_STEPS: Final[Mapping[g.MulStep, int]] = {
    g.MulStep.FMulAdd: 1,
    g.MulStep.FMulFAdd: 2,
}

DUPLICATES: Final[Mapping[g.Duplicates, int]] = {
    g.Duplicates.Last: 1,
    g.Duplicates.Add: 2,
    g.Duplicates.Mul: 3,
    g.Duplicates.Min: 4,
    g.Duplicates.Max: 5,
}

GRAPH_TABLES: Final[Mapping[str, Mapping[Any, int]]] = {
    "node": NODES,
    "joining": JOININGS,
    "accumulator": ACCUMULATORS,
    "step": MUL_STEPS,
    "duplicates": DUPLICATES,
}
"""Under the names by which a lock knows them."""

MEMBERS: Final[Mapping[type[Any], Mapping[Any, int]]] = {
    DataType: TYPES,
    ReduceOrder: REDUCE_ORDERS,
    g.Joining: JOININGS,
    g.Accumulator: ACCUMULATORS,
    g.MulStep: MUL_STEPS,
    g.Duplicates: DUPLICATES,
}
"""The tags of each enumeration that a field of a node can hold."""

ELEMENT_TAGS: Final[Mapping[DataType, int]] = {element: TYPES[element] for element in ELEMENTS}
