"""The choice between soft and native, and NaNs made canonical only where somebody can see them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from vyre.compose.registry import Registry
from vyre.errors import UnsupportedByBackend
from vyre.ir import (
    Assign,
    BinaryOp,
    BinOp,
    BufferDecl,
    Call,
    Cast,
    DataType,
    Expr,
    FMulAdd,
    FReduce,
    InvocationId,
    Let,
    Literal,
    LitU32,
    Loop,
    Node,
    Program,
    ReduceOp,
    ReduceOrder,
    Select,
    Store,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.ir.op import Op, Param
from vyre.lower.languages import LANGUAGES, lower
from vyre.lower.manifest import manifest
from vyre.lower.native import ALL_KEYS, F32_KEYS, F64_KEYS, native_signature
from vyre.lower.native_c import CUDA, OPENCL, CNative
from vyre.lower.native_c import definitions as c_definitions
from vyre.lower.native_llvm import declarations
from vyre.lower.native_llvm import definitions as llvm_definitions
from vyre.lower.native_wgsl import definitions as wgsl_definitions
from vyre.lower.prepare import prepare
from vyre.lower.ways import CUDA_WAYS, SOFT, Ways, opencl_ways, summary
from vyre.numeric.soft import lowering, soft_ops

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

F32, F64, U32 = DataType.F32, DataType.F64, DataType.U32
I = InvocationId(0)  # noqa: E741
A = BufferDecl.read("a", 0, F32)
OUT = BufferDecl.read_write("out", 1, F32)
BITS = BufferDecl.read_write("bits", 2, U32)
WIDE = BufferDecl.read_write("wide", 3, F64)
X, Y = A[I], A[I + 1]


def add(x: Expr, y: Expr) -> Expr:
    return BinOp(BinaryOp.FAdd, x, y)


def negated(x: Expr) -> Expr:
    return UnOp(UnaryOp.FNeg, x)


def text(*entry: Node, ways: Ways = CUDA_WAYS) -> str:
    """The kernel itself, in CUDA C."""
    from vyre.lower.cuda import emit

    whole = emit(prepare(Program([A, OUT, BITS, WIDE], (64,), entry), ways=ways)).text
    return whole[whole.index("vyre_main(") :]


def canonical(*entry: Node) -> int:
    return len(re.findall(r"(?:soft_f32|native_f64)_canon\(", text(*entry)))


OBSERVED = {
    "a store": ((Store("out", I, add(X, Y)),), 1),
    "a bitcast": ((Store("bits", I, Cast(U32, add(X, Y))),), 1),
    "the sign": ((Store("out", I, negated(add(X, Y))),), 1),
    "an operand": ((Store("out", I, add(add(X, Y), add(Y, X))),), 1),
    "a comparison": ((Store("bits", I, BinOp(BinaryOp.FLt, add(X, Y), X)),), 0),
    "a soft operation": ((Store("bits", I, UnOp(UnaryOp.FIsNaN, add(X, Y))),), 0),
    "a moved load": ((Store("out", I, Select(I, X, Y)),), 0),
    "one arm": ((Store("out", I, Select(I, add(X, Y), Y)),), 1),
    "an operand by way of a choice": (
        (Store("bits", I, BinOp(BinaryOp.FEq, Select(I, add(X, Y), Y), X)),),
        0,
    ),
    "a sign inside": ((Store("out", I, add(negated(add(X, Y)), X)),), 2),
    "a variable": ((Let("x", add(X, Y)), Store("out", I, add(Var("x"), X))), 1),
    "a variable that is stored twice": (
        (Let("x", add(X, Y)), Store("out", I, Var("x")), Store("out", I + 1, Var("x"))),
        2,
    ),
    "a variable that is moved": ((Let("x", add(X, Y)), Let("y", Var("x")), Store("out", I, Var("y"))), 1),
    "a loop": (
        (
            Let("x", Literal(F32, 0)),
            Loop("k", LitU32(0), I, (Assign("x", add(Var("x"), A[Var("k")])),)),
            Store("out", I, Var("x")),
        ),
        1,
    ),
    "a loop that starts with a load": (
        (
            Let("x", X),
            Loop("k", LitU32(0), I, (Assign("x", add(Var("x"), A[Var("k")])),)),
            Store("out", I, Var("x")),
        ),
        1,
    ),
    "a reduction": ((Store("out", I, FReduce(ReduceOrder.Strict, ReduceOp.Add, "a", LitU32(0), I)),), 1),
    "a tree": ((Store("out", I, FReduce(ReduceOrder.TreeBinary, ReduceOp.Add, "a", LitU32(0), I)),), 1),
    "a function": ((Store("out", I, UnOp(UnaryOp.FExp, X)),), 0),
    "a function by way of a variable": (
        (Let("x", UnOp(UnaryOp.FExp, X)), Let("y", Var("x")), Store("out", I, Var("y"))),
        0,
    ),
    "a function or a sum": (
        (
            Let("x", UnOp(UnaryOp.FExp, X)),
            Let("y", Select(I, Var("x"), add(X, Y))),
            Store("out", I, Var("y")),
        ),
        1,
    ),
    "a function, later a sum": (
        (
            Let("x", UnOp(UnaryOp.FExp, X)),
            Let("y", Var("x")),
            Assign("x", add(Var("x"), Y)),
            Assign("y", Var("x")),
            Store("out", I, Var("y")),
        ),
        1,
    ),
    "doubles": ((Store("wide", I, add(WIDE[I], WIDE[I + 1])),), 1),
    "a cast between formats": ((Store("wide", I, Cast(F64, add(X, Y))),), 1),
}


@pytest.mark.parametrize("name", OBSERVED)
def test_nans_are_made_canonical_where_they_are_seen(name: str) -> None:
    entry, count = OBSERVED[name]
    assert canonical(*entry) == count


@pytest.mark.parametrize(("width", "count"), [(1, 1), (64, 2)])
def test_the_memory_of_one_invocation_is_its_own(width: int, count: int) -> None:
    held = BufferDecl.workgroup("held", F32, 8)
    entry = [Store("held", LitU32(0), add(X, Y)), Store("out", I, add(held[LitU32(0)], Y))]
    program = Program([A, OUT, BITS, WIDE, held], (width,), entry)
    found = lower(program, "cuda").text
    assert found[found.index("vyre_main(") :].count("soft_f32_canon(") == count


def test_where_moved_bits_join_computed_ones_the_computed_ones_are_canonical_at_once() -> None:
    """Behind the loop nobody knows whether `x` is the load, whose NaN must keep its payload."""
    entry, _ = OBSERVED["a loop that starts with a load"]
    body = text(*entry)
    assert "v_x = soft_f32_canon(native_f32_add(v_x" in body
    reduced = text(OBSERVED["a reduction"][0][0])
    assert "v_total = native_f32_add(v_total" in reduced, "a fold keeps its one element apart"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_literal_nan_keeps_its_payload(language: str) -> None:
    program = Program([OUT], (1,), [Store("out", LitU32(0), Literal(F32, 0xFFA00001))])
    bits = "-6291455" if language == "llvm" else "4288675841u"
    assert bits in lower(program, language).text


def test_every_native_operation_is_defined_in_wgsl() -> None:
    for key in sorted(F32_KEYS):
        assert f"native_{key.replace('.', '_')}(" in "\n".join(wgsl_definitions([f"native.{key}"]))


def test_every_native_operation_is_defined_in_llvm_and_says_what_it_calls() -> None:
    for key in sorted(ALL_KEYS):
        called: set[str] = set()
        found = "\n".join(llvm_definitions([f"native.{key}"], called))
        assert f"native_{key.replace('.', '_')}(" in found
        assert called == set(re.findall(r"@llvm[\w.]+", found))
        assert set(re.findall(r"@llvm[\w.]+", "\n".join(declarations(called)))) == called


@pytest.mark.parametrize("language", [CUDA, OPENCL])
def test_every_native_operation_is_defined_in_c(language: CNative) -> None:
    for key in sorted(ALL_KEYS):
        (found,) = c_definitions([f"native.{key}"], language)[-1:]
        assert f"native_{key.replace('.', '_')}(" in found


def test_native_operations_have_the_signatures_of_the_soft_ones() -> None:
    soft = {op.id.removeprefix("soft."): op.signature for op in soft_ops()}
    for key in ALL_KEYS - F64_KEYS:
        assert native_signature(f"native.{key}") == soft[key]


def test_the_ways_are_told() -> None:
    entry = [Store("out", I, add(X, Y)), Store("bits", I, UnOp(UnaryOp.FIsInf, X))]
    program = Program([A, OUT, BITS], (64,), entry)
    source = lower(program, "cuda")
    assert source.ways == (("f32.add", "native"), ("f32.is_inf", "soft"))
    assert source.lowering == "native: f32.add; soft: f32.is_inf"
    floats = manifest(program, source, file="k.cu", digests={})["floats"]
    assert floats["ways"] == dict(source.ways)
    assert "--fmad=false" in floats["needs"]
    assert lower(program, "wgsl").lowering == "soft"
    assert summary(()) == ""


def test_wgsl_is_soft_and_has_no_f32() -> None:
    found = lower(Program([A, OUT], (64,), [Store("out", I, add(X, Y))]), "wgsl").text
    assert "f32" not in found.replace("soft_f32_add", "")


def test_f64_is_refused_where_there_are_no_doubles() -> None:
    program = Program([WIDE], (64,), [Store("wide", I, add(WIDE[I], WIDE[I]))])
    with pytest.raises(UnsupportedByBackend, match="FAdd on F64") as caught:
        lower(program, "wgsl")
    assert "cpu" in str(caught.value)
    moved = Program([WIDE], (64,), [Store("wide", I, negated(WIDE[I + 1]))])
    assert "vec2<u32>" in lower(moved, "wgsl").text


def test_opencl_asks_for_doubles_only_where_it_uses_them() -> None:
    plain = Program([A, OUT], (64,), [Store("out", I, add(X, Y))])
    assert "fp64" not in lower(plain, "opencl").text
    wide = Program([WIDE], (64,), [Store("wide", I, WIDE[I + 1])])
    assert lower(wide, "opencl").text.startswith("#pragma OPENCL EXTENSION cl_khr_fp64")


def test_an_opencl_device_gets_what_it_promises() -> None:
    nothing = opencl_ways(denormals=False, divide=True, doubles=False)
    assert nothing == SOFT
    some = opencl_ways(denormals=True, divide=False, doubles=False)
    assert "f32.add" in some.native
    assert "f32.div" not in some.native
    assert not some.doubles
    assert opencl_ways(denormals=False, divide=False, doubles=True).native == F64_KEYS


HYPOTENUSE = Op(
    "soft.f64.hypotenuse",
    (Param("a", F64), Param("b", F64)),
    F64,
    UnOp(UnaryOp.FSqrt, Var("sum")),
    (
        Let("square", BinOp(BinaryOp.FMul, Var("a"), Var("a"))),
        Let("sum", FMulAdd(Var("b"), Var("b"), Var("square"))),
    ),
)
CALLER = Op(
    "soft.f32.exp",
    (Param("bits", U32),),
    U32,
    Cast(U32, Cast(F32, Call(HYPOTENUSE.id, [Var("x"), Literal(F64, 0x4008 << 48)]))),
    (Let("x", Cast(F64, Cast(F32, Var("bits")))),),
)


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """A program of one FExp, which stands for the root of x * x + 9 here, computed in doubles."""
    registry = Registry([*soft_ops(), HYPOTENUSE, CALLER])
    for module in ("legalise", "prepare"):
        monkeypatch.setattr(f"vyre.lower.{module}.soft_registry", lambda: registry)
    monkeypatch.setattr("vyre.lower.native.lowering", _with_exp)
    prepare_module = sys.modules["vyre.lower.prepare"]
    prepare_module._function.cache_clear()
    yield Program([A, OUT], (64,), [Store("out", I, UnOp(UnaryOp.FExp, X))])
    prepare_module._function.cache_clear()


def _with_exp(expr: Expr, types: Sequence[DataType]) -> str | None:
    return CALLER.id if isinstance(expr, UnOp) and expr.op is UnaryOp.FExp else lowering(expr, types)


@pytest.mark.parametrize("language", ["llvm", "cuda", "opencl"])
def test_functions_over_doubles_are_emitted_before_their_callers(language: str, helpers: Program) -> None:
    found = lower(helpers, language).text
    heads = {"llvm": "double @{}(double %p_a, double %p_b)"}
    head = heads.get(language, "double {}(double v_a, double v_b)").format("soft_f64_hypotenuse")
    body = found[found.index(head) : found.index("soft_f32_exp(")]
    assert "canon(" in body, "the result of a function is canonical"
    assert body.count("canon(") == 1, "what is inside it is not"
    assert "uint2" not in found


def test_functions_over_doubles_compute(helpers: Program) -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    import numpy as np

    from vyre.backends.cpu.backend import CpuBackend

    a = np.linspace(-4, 4, 64, dtype=np.float32)
    out = np.zeros_like(a)
    views = {"a": a.data.cast("B"), "out": out.data.cast("B")}
    CpuBackend(threads=1).compile(helpers).run(views, (1, 1, 1))
    wide = a.astype(np.float64)
    assert np.array_equal(out, np.sqrt(wide * wide + 9).astype(np.float32))


def test_a_function_in_doubles_is_taken_where_doubles_are_native(
    helpers: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two definitions of one function: on integers, and in doubles."""
    integers = Op(CALLER.id, (Param("a", U32),), U32, Var("a") ^ 1)
    doubles = Op("double.f32.exp", CALLER.params, CALLER.output, CALLER.result, CALLER.body)
    registry = Registry([*soft_ops(), HYPOTENUSE, integers, doubles])
    for module in ("legalise", "prepare"):
        monkeypatch.setattr(f"vyre.lower.{module}.soft_registry", lambda: registry)
    assert lower(helpers, "cuda").ways == (("f32.exp", "double"),)
    assert "double_f32_exp(b_a[" in (fast := lower(helpers, "cuda").text) or "double_f32_exp(load_1(" in fast
    assert lower(helpers, "wgsl").ways == (("f32.exp", "soft"),)
    assert "soft_f32_exp(load_a(" in lower(helpers, "wgsl").text


def test_functions_over_doubles_are_refused_without_them(helpers: Program) -> None:
    with pytest.raises(UnsupportedByBackend, match="on F64"):
        lower(helpers, "wgsl")
