"""Every node, planned and run on `cpu`, gives the bits of the evaluator, fused and unfused."""

from __future__ import annotations

import pytest

from tests.planning.compared import require_agreement
from vyre.graph import (
    NODES,
    Accumulator,
    Broadcast,
    Concat,
    Constant,
    Copy,
    Duplicates,
    ElementWise,
    Gather,
    Graph,
    GraphNode,
    Input,
    Iota,
    Joining,
    MatMul,
    MulStep,
    Pad,
    Pick,
    Recurrence,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Size,
    Slice,
    Transpose,
    ValueType,
    Windows,
)
from vyre.graph.join_rules import accumulators, outputs
from vyre.ir.expr import BinOp, Cast, Expr, LitU32, Select, UnOp, Var, fadd, fmul
from vyre.ir.operators import BinaryOp, ReduceOrder, UnaryOp
from vyre.ir.types import DataType

T = DataType
X0, X1 = Var("x0"), Var("x1")
N = Size("n")
TREE, STRICT = ReduceOrder.TreeBinary, ReduceOrder.Strict
TWO_LENGTHS = ({"n": 5}, {"n": 19})


def sizes(*values: int | Size) -> tuple[Size, ...]:
    return tuple(v if isinstance(v, Size) else Size(v) for v in values)


def given(element: DataType, *shape: int | Size | str) -> Input:
    return Input(ValueType(element, shape))


def single(made: GraphNode, **inputs: GraphNode) -> Graph:
    return Graph({**inputs, "y": made}, ["y"])


MOVES = {
    "transpose": single(Transpose("a", (2, 0, 1)), a=given(T.F32, 2, "n", 3)),
    "slice": single(Slice("a", sizes(1, 0), sizes(N - 1, 8), (1, 3)), a=given(T.F16, N, 8)),
    "broadcast": single(Broadcast("a", sizes(2, N, 4)), a=given(T.BF16, N, 1)),
    "reshape": single(Reshape("a", sizes(N * 2, 3)), a=given(T.I8, N, 6)),
    "windows": single(Windows("a", 0, 3, 1, 2), a=given(T.U8, N, 2)),
    "strided_windows": single(Windows("a", 1, 3, 2, 1), a=given(T.U16, 2, 9)),
    "copy": single(Copy("a"), a=given(T.I64, N, 2)),
    "pad": single(Pad("a", sizes(1, 0), sizes(2, N), 0xFF), a=given(T.I8, N, 3)),
    "pad_bool": single(Pad("a", sizes(2), sizes(1), 1), a=given(T.Bool, N)),
    "concat": single(Concat(("a", "b", "a"), 1), a=given(T.F64, 2, N), b=given(T.F64, 2, 3)),
    "iota": single(Iota(ValueType(T.I32, (N, 3)), 0), a=given(T.F32, N)),
    "constant": single(Constant(ValueType(T.U16, (3,)), b"\1\0\2\0\xff\xff")),
    "splat": single(Constant(ValueType(T.F32, (2, 2)), b"\0\0\x80\x3f" * 4)),
    "input": Graph({"a": given(T.I16, N)}, ["a"]),
    "gather": single(Gather("a", "i", 1), a=given(T.F32, 2, N, 3), i=given(T.I32, 4, 2)),
    "gather_i64": single(Gather("a", "i", 0), a=given(T.F16, N), i=given(T.I64, 9)),
    "gather_i8": single(Gather("a", "i", 0), a=given(T.F32, N, 2), i=given(T.I8, 9)),
    "pick": single(Pick("a", "i", 1), a=given(T.F32, 2, N), i=given(T.U8, 2, 4)),
}


@pytest.mark.parametrize("lengths", TWO_LENGTHS, ids=str)
@pytest.mark.parametrize("name", MOVES)
def test_what_moves_elements_agrees(name: str, lengths: dict[str, int]) -> None:
    graph = MOVES[name]
    require_agreement(graph, {dim: lengths[dim] for dim in graph.dims})


ELEMENTWISE: dict[str, tuple[Expr, tuple[DataType, ...], DataType]] = {
    "add_f32": (fadd(X0, X1), (T.F32, T.F32), T.F32),
    "add_f16": (fadd(X0, X1), (T.F16, T.F16), T.F16),
    "exp_bf16": (UnOp(UnaryOp.FExp, X0), (T.BF16,), T.BF16),
    "mul_f64": (fmul(X0, X1), (T.F64, T.F64), T.F64),
    "add_i8": (X0 + X1, (T.I8, T.I8), T.I8),
    "add_to_u8": (Cast(T.U32, X0) + Cast(T.U32, X1), (T.I32, T.I16), T.U8),
    "compare": (Cast(T.Bool, BinOp(BinaryOp.FLt, X0, X1)), (T.F32, T.F32), T.Bool),
    "choose": (Select(X0, X1, X1 + LitU32(1)), (T.Bool, T.U32), T.U32),
    "index": (Cast(T.U32, X0) + LitU32(1), (T.I64,), T.U32),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_expressions_agree_also_behind_each_other(name: str) -> None:
    expr, kinds, element = ELEMENTWISE[name]
    names = tuple(f"a{k}" for k in range(len(kinds)))
    values: dict[str, GraphNode] = {n: given(t, N, 3) for n, t in zip(names, kinds, strict=True)}
    values["y"] = ElementWise(expr, names, element)
    if element in (T.I8, T.U8):  # what was cut off must not come back
        values["z"] = ElementWise(X0 + X0, ("y",), element)
        values["w"] = ElementWise(
            X0 >> LitU32(1) if element is T.U8 else X0 + X0, ("z",), T.U32 if element is T.U8 else T.I32
        )
    else:
        values["z"] = values["w"] = Copy("y")
    require_agreement(Graph(values, ["w"]), {"n": 7})


def reductions() -> list[tuple[DataType, DataType, DataType, Joining, ReduceOrder]]:
    found: list[tuple[DataType, DataType, DataType, Joining, ReduceOrder]] = []
    for element in (T.F32, T.F16, T.BF16, T.F64, T.U32, T.I32, T.Bool, T.I8, T.U8, T.I16, T.U16):
        for accumulator in accumulators(element):
            for joining in Joining:
                floating = accumulator.is_float
                if joining in (Joining.And, Joining.Or, Joining.Xor) and floating:
                    continue
                if joining in (Joining.FMin, Joining.FMax) and not floating:
                    continue
                made = outputs(accumulator)[-1]
                if joining in (Joining.Min, Joining.Max):
                    made = element
                elif joining in (Joining.ArgMin, Joining.ArgMax):
                    made = T.U32
                found.append((element, accumulator, made, joining, TREE))
                if floating and joining in (Joining.Add, Joining.Mul):
                    found.append((element, accumulator, made, joining, STRICT))
    return found


@pytest.mark.parametrize("length", [0, 1, 2, 7, 13, 64])
def test_reductions_of_every_kind_agree(length: int) -> None:
    values: dict[str, GraphNode] = {}
    outs: list[str] = []
    for k, (element, accumulator, made, joining, order) in enumerate(reductions()):
        values[f"a{k}"] = given(element, 3, N) if k % 2 else given(element, N, 3)
        values[f"y{k}"] = Reduce(f"a{k}", (k % 2,), joining, order, accumulator, made)
        outs.append(f"y{k}")
    require_agreement(Graph(values, outs), {"n": length})


def test_reductions_over_several_axes_agree() -> None:
    values: dict[str, GraphNode] = {"a": given(T.F32, 3, N, 5, 2)}
    for k, axes in enumerate(((0, 2), (1, 3), (0, 1, 2, 3), (2,))):
        values[f"y{k}"] = Reduce("a", axes, Joining.Add, TREE, T.F32, T.F32)
    require_agreement(Graph(values, ["y0", "y1", "y2", "y3"]), {"n": 6})


@pytest.mark.parametrize("length", [512, 1024, 2333])
def test_long_rows_agree(length: int) -> None:
    values: dict[str, GraphNode] = {"a": given(T.F32, 2, N), "b": given(T.I32, N, 2), "h": given(T.F16, 1, N)}
    values["y"] = Reduce("a", (1,), Joining.Add, TREE, T.F32, T.F16)
    values["m"] = Reduce("a", (1,), Joining.Max, TREE, T.F32, T.F32)
    values["l"] = Reduce("a", (1,), Joining.Min, TREE, T.F32, T.F32)
    values["i"] = Reduce("b", (0,), Joining.Add, TREE, T.I32, T.I32)
    values["j"] = Reduce("b", (0,), Joining.Min, TREE, T.I32, T.I32)
    values["p"] = Reduce("h", (1,), Joining.Add, TREE, T.F16, T.F16)
    values["f"] = Reduce("h", (1,), Joining.FMax, TREE, T.F32, T.F16)
    require_agreement(Graph(values, list("ymlijpf")), {"n": length})


@pytest.mark.parametrize("exclusive", [False, True])
def test_scans_of_every_kind_agree(exclusive: bool) -> None:
    values: dict[str, GraphNode] = {}
    outs: list[str] = []
    for k, (element, accumulator, made, joining, order) in enumerate(reductions()):
        if order is STRICT or joining in (Joining.ArgMin, Joining.ArgMax):
            continue
        values[f"a{k}"] = given(element, 2, N, 2)
        values[f"y{k}"] = Scan(f"a{k}", 1, joining, accumulator, made, exclusive)
        outs.append(f"y{k}")
    require_agreement(Graph(values, outs), {"n": 11})


def test_recurrences_agree() -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, 2, N, 3),
        "b": given(T.F16, 2, N, 3),
        "h": given(T.BF16, 2, 3),
    }
    values["y"] = Recurrence("a", "b", 1, T.F32)
    values["z"] = Recurrence("b", "a", 1, T.F16, "h")
    require_agreement(Graph(values, ["y", "z"]), {"n": 9})


PRODUCTS = [
    (T.F32, T.F32, Accumulator.F32, MulStep.FMulAdd, T.F32),
    (T.F32, T.F16, Accumulator.F32, MulStep.FMulFAdd, T.F16),
    (T.BF16, T.F16, Accumulator.F32, MulStep.FMulAdd, T.BF16),
    (T.F64, T.F32, Accumulator.F64, MulStep.FMulAdd, T.F64),
    (T.F16, T.BF16, Accumulator.F64, MulStep.FMulFAdd, T.F16),
    (T.F64, T.F64, Accumulator.F64, MulStep.FMulAdd, T.BF16),
    (T.I8, T.U8, Accumulator.I32, MulStep.FMulAdd, T.I32),
    (T.U16, T.I32, Accumulator.U32, MulStep.FMulAdd, T.U8),
    (T.I16, T.I8, Accumulator.I32, MulStep.FMulAdd, T.I16),
    (T.F32, T.F32, Accumulator.Exact, MulStep.FMulAdd, T.F32),
    (T.F16, T.BF16, Accumulator.Exact, MulStep.FMulAdd, T.F16),
    (T.F32, T.F16, Accumulator.Exact, MulStep.FMulAdd, T.F64),
    (T.F64, T.F64, Accumulator.Exact, MulStep.FMulAdd, T.F64),
    (T.F64, T.F32, Accumulator.Exact, MulStep.FMulAdd, T.BF16),
    (T.F64, T.F64, Accumulator.Exact, MulStep.FMulAdd, T.F32),
]


@pytest.mark.parametrize("depth", [0, 1, 17])
@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_products_agree(case: tuple[DataType, DataType, Accumulator, MulStep, DataType], depth: int) -> None:
    left, right, accumulator, step, element = case
    values: dict[str, GraphNode] = {
        "a": given(left, 2, 3, N),
        "b": given(right, 2, 5, N),
        "mask": given(T.Bool, 2, 3, N),
        "t": Transpose("b", (0, 2, 1)),
        "y": MatMul("a", "t", accumulator, step, element),
        "z": MatMul("a", "t", accumulator, step, element, "mask"),
    }
    require_agreement(Graph(values, ["y", "z"]), {"n": depth})


@pytest.mark.parametrize("case", [case for case in PRODUCTS if case[2] is not Accumulator.Exact], ids=str)
def test_tiled_products_agree(
    case: tuple[DataType, DataType, Accumulator, MulStep, DataType],
) -> None:
    left, right, accumulator, step, element = case
    values: dict[str, GraphNode] = {
        "a": given(left, 2, N, 17),
        "b": given(right, 2, 17, 70),
        "mask": given(T.Bool, 2, N, 17),
        "y": MatMul("a", "b", accumulator, step, element),
        "z": MatMul("a", "b", accumulator, step, element, "mask"),
        "row": Slice("z", sizes(0, 0, 0), sizes(1, 1, 70), (1, 1, 1)),
        "bias": Broadcast("row", sizes(2, N, 70)),
        "w": ElementWise(X0, ("y", "bias"), element),
    }
    if element.is_float:
        values["w"] = ElementWise(fadd(fmul(X0, X0), X1), ("y", "bias"), element)
    require_agreement(Graph(values, ["w", "z"]), {"n": 30})


FOLDED = [T.F32, T.F16, T.BF16, T.F64, T.I32, T.U32, T.U8, T.I8, T.U16, T.I16]


@pytest.mark.parametrize(
    ("duplicates", "element"),
    [(d, t) for d in Duplicates for t in (*FOLDED, *((T.Bool, T.I64) if d is Duplicates.Last else ()))],
)
def test_scatters_agree(duplicates: Duplicates, element: DataType) -> None:
    values: dict[str, GraphNode] = {
        "a": given(element, 2, N, 2),
        "i": given(T.I32, 9),
        "u": given(element, 2, 9, 2),
        "y": Scatter("a", "i", "u", 1, duplicates),
    }
    require_agreement(Graph(values, ["y"]), {"n": 5})


def test_every_node_is_planned_somewhere_above() -> None:
    tried = {type(node) for graph in MOVES.values() for _, node in graph.values}
    assert set(NODES) - tried == {ElementWise, Reduce, Scan, Recurrence, MatMul, Scatter}
