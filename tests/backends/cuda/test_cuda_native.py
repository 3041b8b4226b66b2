"""Native floats in PTX: every instruction names its rounding, nothing is fused, F64 stays in registers."""

from __future__ import annotations

import re

import pytest

from vyre.backends.probe.cases import probe_ops
from vyre.ir import (
    Assign,
    BinaryOp,
    BinOp,
    BufferDecl,
    DataType,
    FMulAdd,
    InvocationId,
    Let,
    Literal,
    LitU32,
    Loop,
    Program,
    Store,
    Var,
)
from vyre.lower.languages import lower

pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings is not installed")

_ARITHMETIC = re.compile(r"\b(?:add|sub|mul|mad|fma|div|sqrt)\.[\w.]*f(?:32|64)\b")
OPS = {op.name: op for op in probe_ops()}


def ptx(program: Program) -> str:
    from vyre.backends.cuda.backend import compile_source
    from vyre.errors import VyreError

    source = lower(program, "cuda")
    try:
        return compile_source(source, "compute_90").decode()
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"NVRTC is missing: {error}")
    except VyreError:
        raise


def arithmetic(program: Program) -> list[str]:
    return _ARITHMETIC.findall(ptx(program))


@pytest.mark.parametrize(
    ("name", "instructions"),
    [
        ("FAdd F32", ["add.rn.f32"]),
        ("FSub F32", ["sub.rn.f32"]),
        ("FMul F32", ["mul.rn.f32"]),
        ("FDiv F32", ["div.rn.f32"]),
        ("FSqrt F32", ["sqrt.rn.f32"]),
        ("FMulAdd F32", ["fma.rn.f32"]),
        ("FMul then FAdd F32", ["mul.rn.f32", "add.rn.f32"]),
        ("FMin F32", []),
        ("FAdd F64", ["add.rn.f64"]),
        ("FDiv F64", ["div.rn.f64"]),
        ("FMulAdd F64", ["fma.rn.f64"]),
        ("FMul then FAdd F64", ["mul.rn.f64", "add.rn.f64"]),
        ("FDiv F16", ["div.rn.f32"]),
        ("FMul then FAdd BF16", ["mul.rn.f32", "add.rn.f32"]),
        ("FMulAdd F16", []),
    ],
)
def test_each_operation_is_one_instruction_that_names_its_rounding(
    name: str, instructions: list[str]
) -> None:
    assert arithmetic(OPS[name].program()) == instructions


@pytest.mark.parametrize(
    "name", ["FRound F32", "Convert F64 to U32 Ceil", "Convert U32 to F32", "Cast F64 to F32"]
)
def test_roundings_and_conversions_are_conversions(name: str) -> None:
    text = ptx(OPS[name].program())
    assert re.search(r"\bcvt\.(rni|rpi|rn)\.", text)
    assert ".ftz" not in text
    assert ".approx" not in text


def test_a_chain_has_as_many_fmas_as_the_program_and_one_canonical_nan() -> None:
    """The loop is pure arithmetic: NaNs are made canonical once, behind it."""
    f32 = DataType.F32
    a, out = BufferDecl.read("a", 0, f32), BufferDecl.read_write("out", 1, f32)
    i, acc = InvocationId(0), Var("acc")
    step = FMulAdd(acc, acc, BinOp(BinaryOp.FMul, acc, a[i]))
    program = Program(
        [a, out],
        (64,),
        [
            Let("acc", Literal(f32, 0x3F800000)),
            Loop("k", LitU32(0), a.length, (Assign("acc", step),)),
            Store("out", i, acc),
        ],
    )
    source = lower(program, "cuda").text
    assert source.count("soft_f32_canon(v_acc)") == 1
    assert source.count("soft_f32_canon(") == 2, "the definition and one use"
    found = arithmetic(program)
    assert set(found) == {"fma.rn.f32", "mul.rn.f32"}
    assert found.count("fma.rn.f32") == found.count("mul.rn.f32"), (
        "one each for every copy of the loop's body"
    )


def test_doubles_stay_in_registers() -> None:
    f64 = DataType.F64
    a, out = BufferDecl.read("a", 0, f64), BufferDecl.read_write("out", 1, f64)
    i, acc = InvocationId(0), Var("acc")
    program = Program(
        [a, out],
        (64,),
        [
            Let("acc", Literal(f64, 0)),
            Loop("k", LitU32(0), a.length, (Assign("acc", FMulAdd(a[Var("k")], a[i], acc)),)),
            Store("out", i, acc),
        ],
    )
    text = ptx(program)
    loop = text[: text.index("st.global")]
    assert re.search(r"ld\.global\.nc\.f64|ld\.global\.f64|ld\.global\.nc\.b64", loop)
    assert loop.count("mov.b64") <= 2, "no packing and unpacking of words"
