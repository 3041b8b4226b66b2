"""Functions through the lowerings: one helper, on integers alone, and the right bits on devices."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats.jit import compiled
from lab.functions.pairs import pairs
from vyre import dispatch
from vyre.backends import get
from vyre.errors import BackendUnavailable, OpError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, InvocationId, Load, UnOp, Var, select
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.node import Loop, Store
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.languages import lower
from vyre.numeric.functions import FUNCTIONS, function_op, undecided_op
from vyre.numeric.functions.script import Script
from vyre.numeric.registry import SoftRegistry
from vyre.numeric.soft.layout import prefix
from vyre.semantics.vector import evaluate

if TYPE_CHECKING:
    from vyre.ir.op import Op

ROOT = Path(__file__).parents[2]
I = InvocationId(0)  # noqa: E741


HELD = {DataType.F32: np.float32, DataType.F16: np.float16, DataType.BF16: np.uint16}


def program(op: UnaryOp | BinaryOp, of: DataType) -> Program:
    names = ("a",) if isinstance(op, UnaryOp) else ("a", "b")
    loads = [Load(name, I) for name in names]
    value = UnOp(op, loads[0]) if isinstance(op, UnaryOp) else BinOp(op, loads[0], loads[1])
    buffers = [BufferDecl.read(name, k, of) for k, name in enumerate(names)]
    buffers.append(BufferDecl.read_write("out", len(names), of))
    return Program(buffers, (64, 1, 1), [Store("out", I, value)])


@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.value)
def test_wgsl_has_one_helper_and_no_float(op: UnaryOp | BinaryOp) -> None:
    text = lower(program(op, DataType.F32), "wgsl").text
    assert text.count(f"fn soft_f32_{FUNCTIONS[op]}(") == 1
    assert not re.search(r"(?<![a-z_])(f32|f16|float|double)(?![a-z_])|[0-9]\.[0-9]", text)


@pytest.mark.parametrize("language", ["llvm", "cuda", "opencl"])
def test_other_languages_have_the_helper(language: str) -> None:
    assert "soft_f16_sin(" in lower(program(UnaryOp.FSin, DataType.F16), language).text


def run(backend: str, op: UnaryOp | BinaryOp, of: DataType, count: int) -> None:
    """Compares a kernel on a backend with the formula on arrays."""
    fmt, name = STRICT_FORMATS[of], FUNCTIONS[op]
    given = pairs(fmt, name, 0, count)[: 1 if isinstance(op, UnaryOp) else 2]
    word = np.uint32 if fmt.width == 32 else np.uint16
    held = HELD[of]
    arrays = {key: a.astype(word).view(held) for key, a in zip("ab", given, strict=False)}
    result = dispatch(program(op, of), {**arrays, "out": np.zeros(count, held)}, backend=backend)["out"]
    expected = function_op(f"{prefix(fmt)}.{name}")
    assert expected is not None
    assert np.array_equal(result.view(word), evaluate(expected, *given).astype(word))


@pytest.mark.parametrize(
    ("op", "of"), [(UnaryOp.FExp, DataType.F32), (UnaryOp.FLog2, DataType.F16), (UnaryOp.FCos, DataType.BF16)]
)
def test_cpu(op: UnaryOp, of: DataType) -> None:
    run("cpu", op, of, 4096)


@pytest.mark.parametrize(
    ("backend", "op", "of"),
    [
        ("wgpu", UnaryOp.FSin, DataType.F32),
        ("wgpu", BinaryOp.FPow, DataType.F32),
        ("dawn", UnaryOp.FATan, DataType.F16),
        ("opencl", UnaryOp.FLog10, DataType.F32),
    ],
)
def test_devices(backend: str, op: UnaryOp | BinaryOp, of: DataType) -> None:
    try:
        get(backend)
    except BackendUnavailable as error:
        pytest.skip(error.message)
    run(backend, op, of, 4096)


def test_machine_code_and_arrays_agree_on_branches() -> None:
    pytest.importorskip("llvmlite")
    s = Script("soft.test.branch", "a", doc="")
    (a,) = s.params
    result, seen = s("result", a + 1), s("seen", 5)
    with s.when(a > 2):
        once = s.let(result * 3)
        s.assign(result, once)
        s.assign(seen, result + once)
    op = s.gives(result ^ seen << 8)
    words = np.arange(6, dtype=np.uint32)
    expected = [(x * 3 if x > 3 else x) ^ (x * 6 if x > 3 else 5) << 8 for x in range(1, 7)]
    assert compiled(op)(words).tolist() == expected
    assert evaluate(op, words).tolist() == expected


def test_arrays_and_machine_code_refuse_loops() -> None:
    s = Script("soft.test.loop", "a", doc="")
    op = s.gives(s.params[0])
    looping = type(op)(op.id, op.params, op.output, op.result, (Loop("k", Var("a"), Var("a"), ()),))
    with pytest.raises(OpError, match="Loop"):
        evaluate(looping, np.zeros(1, np.uint32))
    with pytest.raises(OpError, match="Loop"):
        compiled(looping)


def test_the_registry_finds_functions_and_nothing_else() -> None:
    registry = SoftRegistry()
    assert registry["soft.f32.exp"].id == "soft.f32.exp"
    assert "soft.bf16.atan2" in registry
    assert "soft.f32.asinh" not in registry
    assert registry.get("soft.f64.exp") is None
    with pytest.raises(OpError, match="no soft op"):
        registry["soft.f32.asinh"]
    with pytest.raises(OpError, match="no rounding test"):
        undecided_op("soft.f32.exp")


def test_the_coefficients_are_those_of_the_generator() -> None:
    pytest.importorskip("flint")
    command = [sys.executable, "-m", "lab.functions.coefficients", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout.strip()) == (0, "the coefficients are up to date")


def test_the_sweep_reports_no_difference() -> None:
    pytest.importorskip("flint")
    pytest.importorskip("llvmlite")
    command = [
        sys.executable,
        "-m",
        "lab.functions.sweep",
        "log2",
        "--count",
        "4096",
        "--workers",
        "1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "f32.log2: 40" in done.stdout
    assert " 0 differ;" in done.stdout


def test_the_sweep_finds_a_wrong_input(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flint")
    pytest.importorskip("llvmlite")
    from lab.functions import sweep as tool

    right = function_op("soft.f16.exp2")
    assert right is not None
    assert right.result is not None
    wrong = replace(right, result=select(Var("a").eq(0x3123), right.result + 1, right.result))

    def broken(_: str) -> Op:
        return wrong

    monkeypatch.setattr(tool, "function_op", broken)
    found = tool.swept(tool.Part("exp2", "f16", 0, 1 << 16, 1))
    assert (found.cases, found.differences) == (1 << 16, 1)
    assert found.first.startswith("exp2(0x00003123) = ")
