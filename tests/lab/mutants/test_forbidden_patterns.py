"""The five forbidden float patterns: the lawful bits, why nothing can emit the pattern, and what finds it.

Each has three kinds of tests. The lawful program gives the strict bits on `cpu` and on the reference. No
source in any language contains what the pattern needs. A backend that has the pattern all the same is found
by the checks of the product, which the mutants of `lab/mutants` are let loose on.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from lab.mutants import hunt
from lab.mutants.float_ import catalogue
from lab.mutants.float_.format import F32, binary
from lab.mutants.judges import in_chunk
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cuda.backend import OPTIONS
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.diff.differential import run_bytes
from vyre.conform.oracle.floats.operations import Operation, operations
from vyre.errors import VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import EXPR_KINDS, Cast, Expr, FMulAdd, FReduce, LitU32, UnOp, Var
from vyre.ir.node import Store
from vyre.ir.operators import FLOAT_UNARY_OPS, ReduceOp, ReduceOrder
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import postorder
from vyre.lower.languages import LANGUAGES, lower
from vyre.lower.manifest import manifest
from vyre.optimize.rules import RULES
from vyre.text import parse_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.mutants.mutant import Mutant

U32, F32_TYPE = DataType.U32, DataType.F32
FUNCTIONS = (
    "Sin",
    "Cos",
    "Tan",
    "ASin",
    "ACos",
    "ATan",
    "ATan2",
    "Exp",
    "Log",
    "Exp2",
    "Log2",
    "Exp10",
    "Log10",
    "Pow",
)
LIBRARY = re.compile(
    r"(?<![\w.])(?:native_|half_|__|llvm\.)?"
    r"(?:a?(?:sin|cos|tan)h?|atan2|sincos|exp(?:2|10|m1)?|log(?:2|10|1p)?|pow[nr]?|fdividef?|divide|recip|rcp|rsqrt|mad)"
    r"f?(?:\.(?:f32|f64|approx)\S*)?(?:_ftz|_approx)?\("
)
"""A call of a mathematical function or of an approximate instruction, in any of the four languages."""


@cache
def backends() -> tuple[Any, ...]:
    return CpuBackend(threads=1, keep=4096), ReferenceBackend()


def bits_of(program: Program, words: dict[str, tuple[int, ...]], count: int) -> list[int]:
    """The words of `out`, which must be the same on both backends."""
    inputs = {name: np.array(column, np.uint32).tobytes() for name, column in words.items()}
    inputs["out"] = bytes(4 * count)
    found = [run_bytes(b, program, inputs, (1, 1, 1))["out"] for b in backends()]
    assert found[0] == found[1]
    return np.frombuffer(found[0], np.uint32).tolist()


def elementwise(build: Callable[..., Expr], *cases: tuple[int, ...]) -> list[int]:
    """An expression of F32 operands on each case."""
    columns = list(zip(*cases, strict=True))
    operation = Operation("", F32_TYPE, F32_TYPE, len(columns), build, lambda *x: x[0])
    words = dict(zip("abc", columns, strict=False))
    return bits_of(operation.program(), words, len(cases))


@cache
def named() -> dict[str, Mutant]:
    return {m.name: m for m in catalogue.mutants()}


def assert_caught(name: str) -> None:
    verdict = hunt(named()[name], backends()[0])
    assert verdict.witnessed, f"{verdict.mutant.witness} does not fail on it"
    assert verdict.caught


def sources(program: Program) -> dict[str, str]:
    return {language: lower(program, language).text for language in LANGUAGES}


def needed(program: Program, language: str) -> tuple[str, ...]:
    """What the manifest says that a host must compile or run the kernel with."""
    record = manifest(program, lower(program, language), file="kernel", digests={})
    return tuple(record["floats"]["needs"])


def operation(name: str) -> Program:
    return next(o.program() for o in operations() if o.name == name)


def has_float_type(wgsl: str) -> bool:
    return re.search(r"(?<!\w)f(?:32|16)\b", wgsl) is not None


def product_and_sum(a: Expr, b: Expr, c: Expr) -> Expr:
    return binary("FAdd", binary("FMul", a, b), c)


SQUARE = F32.words("above one", "above one", -1.0000002384185791)


def test_1_a_product_and_a_sum_round_twice() -> None:
    assert elementwise(product_and_sum, SQUARE) == [0]
    assert elementwise(FMulAdd, SQUARE) == [0x2880_0000]


def test_1_only_a_fused_operation_is_emitted_as_one() -> None:
    fused = {
        "llvm": r"llvm\.fma|fmuladd",
        "cuda": r"\bfmaf?\(|__fmaf?_rn",
        "opencl": r"\b(?:fma|mad)\(",
        "wgsl": r"\bfma\(",
    }
    apart = Operation("", F32_TYPE, F32_TYPE, 3, product_and_sum, lambda *x: x[0]).program()
    explicit = operation("FMulAdd F32")
    for language, pattern in fused.items():
        assert re.search(pattern, lower(apart, language).text) is None, language
        if language != "wgsl":
            assert re.search(pattern, lower(explicit, language).text) is not None, language
    assert re.search(r"\b(?:contract|fast|reassoc)\b", lower(apart, "llvm").text) is None
    assert "#pragma OPENCL FP_CONTRACT OFF" in lower(apart, "opencl").text
    assert re.search(r"__fmul_rn[\s\S]*__fadd_rn|__fadd_rn[\s\S]*__fmul_rn", lower(apart, "cuda").text)
    assert "--fmad=false" in needed(apart, "cuda")
    assert set(needed(apart, "cuda")) <= set(OPTIONS)


def fused_in(x: Expr) -> int:
    return sum(isinstance(part, FMulAdd) for part in postorder(x))


def test_1_no_rule_of_the_optimiser_makes_or_unmakes_a_fused_operation() -> None:
    assert [r.name for r in RULES if fused_in(r.pattern) != fused_in(r.replacement)] == []
    a, b, c = Var("x"), Var("y"), Var("z")
    assert fused_in(FMulAdd(a, b, c)) != fused_in(product_and_sum(a, b, c))


@pytest.mark.parametrize(
    "name",
    [
        *(f"product and sum fused: a b + c, {t}" for t in ("F32", "F16", "BF16")),
        "product and sum fused: a b - c, F32",
        "product and sum fused: c - a b, F32",
        "product and sum fused: a b + c, F32, by the probe",
        "product and sum fused: a b + c, F32, by the canaries",
        "fused operation taken apart: a b + c, F32",
        "fused operation made of two: float.fma",
        "rounded twice: float.fma, by way of F64",
        "rounded twice: float.f16.fma, by way of F32",
    ],
)
def test_1_fusion_is_caught(name: str) -> None:
    assert_caught(name)


VALUES = (2.0**24, 1.0, 1.0, 1.0, 2.0**-3, 1e8, -1e8)


def reduction(order: ReduceOrder, count: int) -> list[int]:
    data = BufferDecl.read("data", 0, F32_TYPE)
    out = BufferDecl.read_write("out", 1, U32)
    total = FReduce(order, ReduceOp.Add, "data", LitU32(0), LitU32(count))
    program = Program((data, out), (1, 1, 1), (Store("out", LitU32(0), Cast(U32, total)),))
    return bits_of(program, {"data": F32.words(*VALUES[:count])}, 1)


def left_to_right(values: list[np.float32]) -> np.float32:
    total = values[0]
    for value in values[1:]:
        total = np.float32(total + value)
    return total


def tree(values: list[np.float32]) -> np.float32:
    if len(values) == 1:
        return values[0]
    half = 1 << (len(values) - 1).bit_length() - 1
    return np.float32(tree(values[:half]) + tree(values[half:]))


@pytest.mark.parametrize("count", range(1, len(VALUES) + 1))
def test_2_both_orders_are_exactly_theirs(count: int) -> None:
    values = [np.float32(v) for v in VALUES[:count]]
    assert reduction(ReduceOrder.Strict, count) == [int(left_to_right(values).view(np.uint32))]
    assert reduction(ReduceOrder.TreeBinary, count) == [int(tree(values).view(np.uint32))]


def test_2_the_two_orders_differ_here() -> None:
    assert reduction(ReduceOrder.Strict, 4) != reduction(ReduceOrder.TreeBinary, 4)


def test_2_there_is_no_third_order() -> None:
    assert {o.value for o in ReduceOrder} == {"Strict", "TreeBinary"}
    assert {k.__name__ for k in EXPR_KINDS if "Reduce" in k.__name__} == {"FReduce", "FReduceApprox"}
    unordered: Any = "Unordered"
    with pytest.raises(VyreError, match="ReduceOrder"):
        FReduce(unordered, ReduceOp.Add, "data", LitU32(0), LitU32(4))
    data, out = BufferDecl.read("data", 0, F32_TYPE), BufferDecl.read_write("out", 1, F32_TYPE)
    total = FReduce(ReduceOrder.Strict, ReduceOp.Add, "data", LitU32(0), LitU32(4))
    text = Program((data, out), (1, 1, 1), (Store("out", LitU32(0), total),)).to_text()
    assert "strict" in text.lower()
    with pytest.raises(VyreError):
        parse_program(re.sub("(?i)strict", "unordered", text))


@pytest.mark.parametrize(
    "name",
    [
        m.name
        for m in catalogue.mutants()
        if m.kind in ("reduction in another order", "accumulator of another kind")
    ],
)
def test_2_another_order_is_caught(name: str) -> None:
    assert_caught(name)


def test_3_subnormals_go_in_and_come_out() -> None:
    tiny, least, half = F32.words("tiny", "least", 0.5)
    assert elementwise(partial(binary, "FAdd"), (tiny, 0), (least, tiny | 1 << 31)) == [1, 0x007F_FFFF]
    assert elementwise(partial(binary, "FMul"), (least, half), (1, 0x4000_0000)) == [0x0040_0000, 2]
    assert elementwise(partial(binary, "FDiv"), (least, 0x4000_0000)) == [0x0040_0000]
    assert elementwise(FMulAdd, (least, half, 1)) == [0x0040_0001]


def test_3_no_source_and_no_option_allows_flushing() -> None:
    for op in ("FAdd", "FMul", "FDiv", "FSqrt", "FMulAdd"):
        found = sources(operation(f"{op} F32"))
        assert not has_float_type(found["wgsl"]), "WGSL may flush any float: there is none"
        assert re.search(r"ftz|denormal|daz", " ".join(found.values()), re.IGNORECASE) is None
    assert has_float_type("let x: f32 = 1.0;")
    assert "--ftz=false" in needed(operation("FAdd F32"), "cuda")
    assert not [option for option in OPTIONS if "fast" in option]


@pytest.mark.parametrize(
    "name",
    [
        *(
            f"subnormal operands flushed: {op}"
            for op in ("float.add", "float.f16.mul", "float.bf16.div", "float.lt")
        ),
        *(
            f"subnormal results flushed: {op}"
            for op in ("float.mul", "float.f16.sub", "float.bf16.fma", "cast.f32.f16")
        ),
        *(m.name for m in catalogue.mutants() if m.kind.startswith("subnormals flushed by")),
    ],
)
def test_3_flushing_is_caught(name: str) -> None:
    assert_caught(name)


HARD = {
    "FSin": (0x7F00_0000, 0x3F1F_9631),
    "FCos": (0x3FC9_0FDB, 0xB33B_BD2E),
    "FExp": (0xC2CF_F1B4, 0x0000_0001),
    "FLog": (0x3F80_0001, 0x33FF_FFFF),
    "FTan": (0x3FC9_0FDB, 0xCBAE_8A4A),
}
"""Operands and what MPFR gives, in bits: sin of 2^127, cos and tan next to pi / 2, exp just above zero,
log next to 1."""


@pytest.mark.parametrize("op", HARD)
def test_4_functions_are_correctly_rounded(op: str) -> None:
    build = next(o.build for o in operations() if o.name == f"{op} F32")
    operand, expected = HARD[op]
    assert elementwise(build, (operand,)) == [expected]


@pytest.mark.parametrize("op", FUNCTIONS)
def test_4_no_source_calls_a_library(op: str) -> None:
    found = sources(operation(f"F{op} F32"))
    assert not has_float_type(found["wgsl"])
    assert [
        (language, LIBRARY.findall(text)) for language, text in found.items() if LIBRARY.search(text)
    ] == []


@pytest.mark.parametrize(
    "call",
    [
        "sinf(x)",
        "native_exp(x)",
        "__expf(x)",
        "@llvm.exp.f32(float %x)",
        "exp2(x)",
        "half_rsqrt(x)",
        "mad(a, b, c)",
    ],
)
def test_4_a_call_of_a_library_would_be_seen(call: str) -> None:
    assert LIBRARY.search(call)


@pytest.mark.parametrize(
    "name",
    [
        "function approximated: float.exp, by exp2",
        "function approximated: float.log, by log2",
        "function approximated: float.sin, reduced in single precision",
        "function approximated: float.exp, in half precision",
        "one input in 2^32 of a function: FExp at 0x3F3504F3",
        "one place off in a narrow interval: FLog at 0x3F804001",
    ],
)
def test_4_vendor_functions_are_caught(name: str) -> None:
    assert_caught(name)


def test_4_the_one_wrong_input_of_a_function_is_named() -> None:
    wrong = named()["one input in 2^32 of a function: FExp at 0x3F3504F3"].make(backends()[0])
    verdict = in_chunk(wrong, "exp", 0x3F35_04F3)
    (chunk,) = verdict.chunks
    (shown,) = chunk.shown
    assert (verdict.status, chunk.wrong, shown.input) == ("failed", 1, 0x3F35_04F3)
    assert shown.actual == shown.expected + 1
    assert in_chunk(backends()[0], "exp", 0x3F35_04F3).status == "part"


def test_5_quotients_and_roots_are_correctly_rounded() -> None:
    quotients = [F32.words(3.0, 15.0), F32.words(1.0, 3.0), F32.words(5.0, 3.0)]
    assert elementwise(partial(binary, "FDiv"), *quotients) == [0x3E4C_CCCD, 0x3EAA_AAAB, 0x3FD5_5555]
    root = partial(UnOp, next(op for op in FLOAT_UNARY_OPS if op.value == "FSqrt"))
    assert elementwise(root, *(F32.words(x) for x in (2.0, 5.0, 7.0))) == [
        0x3FB5_04F3,
        0x400F_1BBD,
        0x4029_53FD,
    ]


def test_5_no_source_approximates() -> None:
    for op in ("FDiv", "FSqrt"):
        for text in sources(operation(f"{op} F32")).values():
            assert LIBRARY.search(text) is None
    assert "__fdiv_rn" in lower(operation("FDiv F32"), "cuda").text
    assert "__fsqrt_rn" in lower(operation("FSqrt F32"), "cuda").text
    assert re.search(r"\b(?:arcp|afn|fast)\b", lower(operation("FDiv F32"), "llvm").text) is None
    options = {language: needed(operation("FDiv F32"), language) for language in ("cuda", "opencl")}
    assert {"--prec-div=true", "--prec-sqrt=true"} <= set(options["cuda"])
    assert "-cl-fp32-correctly-rounded-divide-sqrt" in options["opencl"]


@pytest.mark.parametrize(
    "name",
    [
        m.name
        for m in catalogue.mutants()
        if m.kind in ("quotient by the reciprocal", "root by the reciprocal root")
    ],
)
def test_5_approximations_are_caught(name: str) -> None:
    assert_caught(name)
