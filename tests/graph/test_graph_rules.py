"""Every rule of graphs: what breaks it, its code, what the message says; every place that refuses."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import vyre.graph
from vyre.errors import ValidationError
from vyre.graph import Constant, Copy, ElementWise, Graph, Input, Size, ValueType, faults
from vyre.graph.infer import MAX_DIAGNOSTICS
from vyre.ir import expr as e
from vyre.ir.types import DataType
from vyre.validate import gathered

SOURCE = Path(vyre.graph.__file__).parent

HEAD = """vyre graph 1
x = input F32[n, 4]
v = input F32[4]
h = input F16[n, 4]
u = input U32[n, 4]
i = input I64[3]
s = input F32[]
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A value that breaks a rule, and what the message and the fix must say."""

    code: str
    value: str
    message: str
    fix: str = ""


CASES = (
    Case("V051", "x = copy(x)", "'x' is defined twice"),
    Case("V051", "`a b` = copy(x)", "'a b' cannot name a value"),
    Case("V051", f"{'a' * 129} = copy(x)", "cannot name a value", "at most 128 characters"),
    Case("V051", "y = copy(z)", "'z' is not defined before"),
    Case("V052", "y = elementwise() element F32 => f32(1.5)", "without operands"),
    Case("V052", "y = elementwise(x, v) element F32 => fadd(x0, x1)", "the shapes [n, 4] and [4] differ"),
    Case("V052", "y = broadcast(x) shape [8]", "[n, 4] does not broadcast to [8]", "dynamic"),
    Case("V052", "y = broadcast(v) shape [n, 5]", "[4] does not broadcast to [n, 5]", "equal or 1"),
    Case("V052", "y = concat() axis 0", "concatenation needs operands"),
    Case("V052", "y = concat(x, v) axis 0", "[n, 4] and [4] differ beside axis 0"),
    Case("V052", "y = recurrence(x, v) axis 0 element F32", "[n, 4] of the factors and [4] of the terms"),
    Case("V052", "y = recurrence(x, x, x) axis 0 element F32", "shape [n, 4], not [4]", "to [4] first"),
    Case("V052", "y = pick(x, i) axis 1", "indices of the shape [3] do not fit [n, 4] along axis 1"),
    Case("V052", "y = scatter(x, u, x) axis 0 duplicates Last", "indices of the shape [n, 4]", "one axis"),
    Case("V052", "y = scatter(x, i, x) axis 0 duplicates Last", "the shape [n, 4] where [3, 4] is needed"),
    Case("V053", "y = elementwise(x) element U32 => x0", "gives F32 and the element is U32", "F32"),
    Case("V053", "y = elementwise(x, u) element F32 => fadd(x0, x1)", "FAdd does not take F32, U32"),
    Case("V053", "y = elementwise(x) element F32 => -x0", "Negate does not take F32"),
    Case(
        "V053",
        "y = elementwise(x) element F32 => call primitive.math.add(x0, x0)",
        "does not take (F32, F32)",
    ),
    Case(
        "V053", "y = elementwise(x) element F32 => select(x0, x0, x0)", "Select does not take F32, F32, F32"
    ),
    Case("V053", "y = elementwise(i) element U64 => x0", "cannot hold U64", "I64"),
    Case("V053", "y = iota F32[n] axis 0", "coordinates cannot be F32"),
    Case("V053", "y = pad(h) before [0, 0] after [0, 0] value 0x10000", "0x10000 do not fit F16"),
    Case("V053", "y = concat(x, h) axis 0", "F32[n, 4] and F16[n, 4]"),
    Case("V053", "y = gather(x, v) axis 0", "indices cannot be F32[4]"),
    Case("V053", "y = pick(x, h) axis 0", "indices cannot be F16[n, 4]"),
    Case("V053", "y = scatter(x, v, x) axis 1 duplicates Last", "indices cannot be F32[4]"),
    Case(
        "V053", "w = input U32[3, 4] y = scatter(x, i, w) axis 0 duplicates Last", "U32 for elements of F32"
    ),
    Case("V053", "w = input I64[3] y = scatter(w, i, w) axis 0 duplicates Add", "Add of I64", "use Last"),
    Case(
        "V053",
        "y = reduce(u) axes [0] joining Add order Strict accumulator U32 element U32",
        "strict order for Add of U32",
        "TreeBinary",
    ),
    Case("V053", "y = scan(x) axis 0 joining ArgMax accumulator F32 element U32", "cannot join by ArgMax"),
    Case(
        "V053",
        "y = scan(x) axis 0 joining Add accumulator U32 element F32",
        "F32 elements cannot be joined in U32",
        "F64",
    ),
    Case(
        "V053",
        "y = scan(i) axis 0 joining Add accumulator U32 element F32",
        "I64 elements",
        "cast the indices",
    ),
    Case("V053", "y = scan(x) axis 0 joining Xor accumulator F32 element F32", "Xor of F32", "FMin"),
    Case("V053", "y = scan(u) axis 0 joining FMin accumulator U32 element U32", "FMin of U32", "Min or Max"),
    Case("V053", "y = scan(x) axis 0 joining Max accumulator F32 element F16", "given as F16", "element F32"),
    Case("V053", "y = recurrence(u, u) axis 0 element F32", "U32[n, 4], U32[n, 4] cannot be given as F32"),
    Case(
        "V053",
        "w = input F64[4, n] y = matmul(w, x) accumulator F32 step FMulAdd element F32",
        "F64 times F32 in F32",
    ),
    Case(
        "V053",
        "w = input F32[4, n] y = matmul(w, x) accumulator I32 step FMulAdd element I32",
        "F32 times F32",
    ),
    Case(
        "V053",
        "w = input F32[4, n] y = matmul(w, x) accumulator Exact step FMulFAdd element F32",
        "two roundings",
        "FMulAdd",
    ),
    Case(
        "V053",
        "w = input F32[4, n] y = matmul(w, x) accumulator F32 step FMulAdd element F64",
        "given as F64",
        "F32 or F16 or BF16",
    ),
    Case("V054", "y = transpose(x) axes [0]", "[0] does not order the 2 axes of F32[n, 4]", "from 0 to 1"),
    Case("V054", "y = slice(x) starts [0] stops [4] steps [1]", "1 ranges for the 2 axes of F32[n, 4]"),
    Case("V054", "y = pad(x) before [0] after [0, 0]", "1 sizes before and 2 after for the 2 axes"),
    Case(
        "V054", "y = scan(x) axis 2 joining Add accumulator F32 element F32", "axis 2 of F32[n, 4]", "0 to 1"
    ),
    Case("V054", "y = scan(s) axis 0 joining Add accumulator F32 element F32", "axis 0 of F32[]", "no axes"),
    Case("V054", "y = scan(x) axis -1 joining Add accumulator F32 element F32", "axis -1 of F32[n, 4]"),
    Case(
        "V054",
        "y = reduce(x) axes [1, 0] joining Add order TreeBinary accumulator F32 element F32",
        "F32[n, 4] cannot be reduced along the axes [1, 0]",
        "ascending",
    ),
    Case("V054", "y = gather(x, i) axis 5", "axis 5"),
    Case("V054", "y = concat(x, x) axis 5", "axis 5"),
    Case("V054", "y = iota U32[n] axis 1", "axis 1"),
    Case("V055", "y = reshape(x) shape [n, 5]", "[n, 4] has 4*n elements and [n, 5] has 5*n"),
    Case("V055", "y = constant F32[3] { 0x0 }", "F32[3] takes 12 bytes, not 4"),
    Case("V056", "y = slice(v) starts [0] stops [4] steps [0]", "the step 0 along axis 0"),
    Case(
        "V056",
        "y = slice(v) starts [0] stops [5] steps [1]",
        "0 to 5 does not lie in axis 0 of F32[4]",
        "<= 4",
    ),
    Case("V056", "y = slice(v) starts [3] stops [2] steps [1]", "3 to 2 does not lie"),
    Case(
        "V056",
        "y = slice(x) starts [0, 0] stops [n, 4] steps [2, 1]",
        "step 2 along axis 0 of the dynamic size n",
    ),
    Case("V056", "y = windows(v) axis 0 size 0", "windows of 0 elements"),
    Case("V056", "y = windows(v) axis 0 size 3 dilation 2", "reaches over 5 elements", "pad"),
    Case("V056", "y = windows(x) axis 0 size 3 stride 2", "stride 2 along the dynamic size n"),
    Case("V056", "y = pad(v) before [-1] after [0]", "F32[4] cannot be padded by [-1] before"),
    Case("V057", "y = matmul(x, x) accumulator F32 step FMulAdd element F32", "[n, 4] and [n, 4] cannot"),
    Case(
        "V057",
        "w = input F32[4, n] y = matmul(w, x, h) accumulator F32 step FMulAdd element F32",
        "the mask is F16[n, 4], and the left side is F32[4, n]",
        "Bool[4, n]",
    ),
    Case("V058", "y = elementwise(x) element F32 => x1", "'x1' is not one of the operands x0"),
    Case("V058", "y = elementwise(x) element F32 => x0[0]", "Load is not an operation on single elements"),
    Case("V058", "y = elementwise(x) element F32 => call acme.none(x0)", "acme.none is not a registered op"),
    Case("V059", "y = broadcast(s) shape [m]", "the dimension 'm' of F32[m] is named by no input"),
    Case("V059", "y = constant F32[n] { }", "a constant of the type F32[n]"),
    Case("V060", "y = broadcast(s) shape [1, 1, 1, 1, 1, 1, 1, 1, 1]", "9 axes; 8 are allowed"),
    Case("V060", "y = reshape(v) shape [1, 1, 1, 1, 1, 1, 1, 1, 4]", "9 axes; 8 are allowed"),
    Case("V060", "y = broadcast(s) shape [4294967296]", "the size 4294967296 of an axis"),
    Case("V060", "y = input F32[-1]", "the size -1 of an axis"),
)


def diagnostics(graph: Graph) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        _ = graph.types
    return [(d.code, d.path) for d in caught.value.diagnostics]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code} {case.value[:40]}")
def test_a_broken_rule_is_named(case: Case) -> None:
    graph = Graph.from_text(f"{HEAD}{case.value}\noutput x")
    with pytest.raises(ValidationError) as caught:
        _ = graph.types
    (found,) = caught.value.diagnostics
    assert (found.code, found.path) == (case.code, graph.values[-1][0])
    assert case.message in found.message
    assert case.fix in found.fix
    assert found.message.endswith(".")
    assert found.fix.endswith(".")


def test_the_values_that_the_cases_start_from_are_valid() -> None:
    assert len(Graph.from_text(f"{HEAD}output x").types) == 6


def _sites() -> set[tuple[str, int]]:
    """The file and first line of every call of `fault`."""
    found: set[tuple[str, int]] = set()
    for path in SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "fault":
                found.add((path.name, node.lineno))
    return found


def test_every_place_that_refuses_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases above and the graphs that no text can hold reach each call of `fault`, and no code is new."""
    reached: set[tuple[str, int]] = set()
    codes: set[str] = set()

    def watched(self: faults.Fault, code: str, message: str, fix: str) -> None:
        frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
        reached.add((Path(frame.f_code.co_filename).name, frame.f_lineno))
        codes.add(code)
        Exception.__init__(self, message)
        self.code, self.message, self.fix = code, message, fix

    monkeypatch.setattr(faults.Fault, "__init__", watched)
    for case in CASES:
        diagnostics(Graph.from_text(f"{HEAD}{case.value}\noutput x"))
    for graph in BEYOND_TEXT.values():
        diagnostics(graph)
    assert _sites() - reached == set()
    assert codes == {f"V{number:03}" for number in range(51, 61)}


def _wide(levels: int) -> e.Expr:
    expr: e.Expr = e.Var("x0")
    for _ in range(levels):
        expr = e.FMulAdd(expr, expr, e.Var("x0"))
    return expr


_X = Input(ValueType(DataType.F32, (4,)))
BEYOND_TEXT: dict[str, Graph] = {
    "a large expression": Graph({"x": _X, "y": ElementWise(_wide(12), ("x",), DataType.F32)}, ["y"]),
    "a product of many": Graph({"y": Input(ValueType(DataType.F32, (Size.of([(("n",) * 9, 1)]),)))}, ["y"]),
    "a large constant": Graph({"y": Constant(ValueType(DataType.U8, (1 << 20, 2)), bytes(1 << 21))}, ["y"]),
}


@pytest.mark.parametrize("name", BEYOND_TEXT)
def test_what_no_text_holds_is_refused_too(name: str) -> None:
    assert diagnostics(BEYOND_TEXT[name]) == [("V060", "y")]


def test_a_size_of_too_many_terms_is_a_broken_rule() -> None:
    """Sizes are added while types are inferred, and what they refuse is reported like the rest."""
    names = [f"d{i}" for i in range(17)]
    values = {f"x{i}": Input(ValueType(DataType.F32, (name,))) for i, name in enumerate(names)}
    text = Graph(values, []).to_text().replace("output", f"y = concat({', '.join(values)}) axis 0\noutput y")
    assert diagnostics(Graph.from_text(text)) == [("V060", "y")]


def test_sizes_that_double_stay_small() -> None:
    """A chain of concatenations would give sizes of thousands of digits."""
    values = [("x", _X), *((f"x{i}", _doubled(i)) for i in range(200))]
    ((code, path),) = diagnostics(Graph(values, ["x199"]))
    assert (code, path) == ("V060", "x29")


def _doubled(i: int) -> vyre.graph.Concat:
    below = f"x{i - 1}" if i else "x"
    return vyre.graph.Concat((below, below), 0)


def test_an_unknown_output_is_reported_beside_the_rest() -> None:
    graph = Graph({"x": _X, "y": Copy("nowhere"), "z": Copy("y")}, ["z", "q"])
    assert diagnostics(graph) == [("V051", "y"), ("V051", "outputs")]


def test_no_more_errors_are_reported_than_of_a_program() -> None:
    assert gathered.MAX_DIAGNOSTICS == MAX_DIAGNOSTICS
    graph = Graph({f"y{i}": Copy("nowhere") for i in range(2 * MAX_DIAGNOSTICS)}, [])
    assert len(diagnostics(graph)) == MAX_DIAGNOSTICS
