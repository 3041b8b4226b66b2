"""The functions in doubles give the bits of those on integers, and what makes them right is needed."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lab.functions.pairs import pairs
from vyre.conform.oracle.truth import hardest
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, InvocationId, UnOp
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.languages import lower
from vyre.lower.native import F64_KEYS
from vyre.numeric.doubles import double_op, double_ops
from vyre.numeric.doubles.pairs import ANGLE_SLACK, POWER_SLACK
from vyre.numeric.doubles.ties import TIES, Ties
from vyre.numeric.functions import FUNCTIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]

ROOT = Path(__file__).parents[2]
F32 = DataType.F32
I = InvocationId(0)  # noqa: E741
NARROWEST = 32
OPS = {name: op for op, name in FUNCTIONS.items()}


def program(name: str, *, width: int = 256) -> Program:
    """Kernels are kept by their programs: one that is compiled from an altered formula has another width."""
    op = OPS[name]
    count = 1 if isinstance(op, UnaryOp) else 2
    inputs = [BufferDecl.read(letter, place, F32) for place, letter in enumerate("ab"[:count])]
    loads = [b[I] for b in inputs]
    out = BufferDecl.read_write("out", count, F32)
    value = UnOp(op, loads[0]) if isinstance(op, UnaryOp) else BinOp(op, *loads)
    return Program([*inputs, out], (width, 1, 1), [out.store(I, value)])


def backend() -> Any:
    pytest.importorskip("llvmlite")
    from vyre.backends.cpu.backend import CpuBackend

    found = CpuBackend()
    if not found.ways.doubles:
        pytest.skip("this processor's doubles are not used")
    return found


BELOW = {"exp2": (0xB52D1F9A,), "log10": (0x604DF02C, 0x610567E4, 0x62A6C1DD)}
"""Inputs whose double is a midpoint, as that of a tie, but whose result lies below it."""

HARD = {**BELOW, "log": (0x3F554D38,), "log2": (0x3F929A0A, 0x3FEDDFFD)}
"""With them inputs that a series as short as these, but with other coefficients, gets wrong."""


def run(executable: Any, *inputs: Words) -> Words:
    out = np.zeros(inputs[0].size, np.uint32)
    held = {letter: np.ascontiguousarray(x) for letter, x in zip("ab", inputs, strict=False)} | {"out": out}
    executable.run({k: v.data.cast("B") for k, v in held.items()}, (out.size // NARROWEST + 1, 1, 1))
    return out


def arguments(name: str) -> tuple[Words, ...]:
    """Every exponent and sign with the ends of its significands, random bits, numbers near one, hard ones."""
    if isinstance(OPS[name], BinaryOp):
        return pairs(STRICT_FORMATS[F32], name, 0, 1 << 16)
    rng = np.random.default_rng(7)
    ends = np.array([0, 1, 2, 0x400000, 0x7FFFFE, 0x7FFFFF], np.uint32)
    crossed = (np.arange(512, dtype=np.uint32)[:, None] << np.uint32(23) | ends).ravel()
    bits = rng.integers(0, 1 << 32, 1 << 16, dtype=np.uint32)
    usual = (rng.standard_normal(1 << 16) * 10).astype(np.float32).view(np.uint32)
    near = (1 + rng.standard_normal(1 << 15) / 4096).astype(np.float32).view(np.uint32)
    hard = np.concatenate([hardest.load(f"f32.{name}").operands[0], np.array(HARD.get(name, ()), np.uint32)])
    return (np.concatenate([crossed, bits, usual, near, hard]),)


@pytest.mark.parametrize("name", OPS)
def test_doubles_and_integers_give_the_same_bits(name: str) -> None:
    cpu = backend()
    given = arguments(name)
    fast = cpu.compile(program(name))
    slow = cpu.compile(program(name), ways=cpu.ways.without(F64_KEYS))
    assert (fast.lowering, slow.lowering) == ("double", "soft")
    assert np.array_equal(run(fast, *given), run(slow, *given))


def with_ties(name: str, ties: Ties, inputs: Words, monkeypatch: pytest.MonkeyPatch) -> Words:
    """The results where these are the ties of the function."""
    from vyre.lower import prepare

    monkeypatch.setitem(TIES, name, ties)
    double_op.cache_clear()
    prepare._function.cache_clear()
    try:
        return run(backend().compile(program(name, width=128)), inputs)
    finally:
        double_op.cache_clear()
        prepare._function.cache_clear()


@pytest.mark.parametrize("name", TIES)
def test_every_tie_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = np.array([*TIES[name].larger, *TIES[name].smaller], np.uint32)
    right = run(backend().compile(program(name)), inputs)
    wrong = with_ties(name, Ties(), inputs, monkeypatch)
    assert (np.abs(right.astype(np.int64) - wrong.astype(np.int64)) == 1).all()


@pytest.mark.parametrize("name", BELOW)
def test_the_mask_leaves_alone_what_lies_below(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = np.array(BELOW[name], np.uint32)
    right = run(backend().compile(program(name)), inputs)
    wrong = with_ties(name, TIES[name]._replace(mask=0), inputs, monkeypatch)
    assert (np.abs(right.astype(np.int64) - wrong.astype(np.int64)) == 1).all()


@pytest.mark.parametrize(("name", "slack"), [("pow", POWER_SLACK), ("atan2", ANGLE_SLACK)])
def test_the_slack_covers_the_error(name: str, slack: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The double before it is rounded, its words taken out of the formula, against Arb."""
    flint = pytest.importorskip("flint")
    cpu = backend()
    halves = [_words(cpu, name, part, monkeypatch) for part in ("low_word", "high_word")]
    found = (halves[1].astype(np.uint64) << np.uint64(32) | halves[0]).view(np.float64)
    a, b = (x.view(np.float32) for x in _pairs(name))
    flint.ctx.prec = 200
    worst = 0.0
    for x, y, value in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        exact = flint.arb(x) ** flint.arb(y) if name == "pow" else flint.arb.atan2(flint.arb(x), flint.arb(y))
        if 1e-40 < abs(float(exact.mid())) < 1e40:
            worst = max(worst, abs(float((flint.arb(value) / exact - 1).mid())))
    assert 2.0**-slack / 64 < worst < 2.0**-slack / 2


def _pairs(name: str) -> tuple[Words, Words]:
    rng = np.random.default_rng(3)
    if name == "pow":
        a, b = np.exp(rng.uniform(-80, 80, 4000)), rng.uniform(-30, 30, 4000)
    else:
        a, b = np.exp(rng.uniform(-9, 9, 4000)), np.exp(rng.uniform(-9, 9, 4000))
    return tuple(x.astype(np.float32).view(np.uint32) for x in (a, b))  # pyright: ignore[reportReturnType]


def _words(cpu: Any, name: str, part: str, monkeypatch: pytest.MonkeyPatch) -> Words:
    """One half of the double that is rounded, in place of the result."""
    from vyre.lower import prepare
    from vyre.numeric.doubles import pairs as module
    from vyre.numeric.doubles import script

    def half(value: Any) -> Any:
        return getattr(script, part)(value)

    def nothing(*_: Any) -> Any:
        return nullcontext()

    with monkeypatch.context() as patch:
        patch.setattr(module, "rounded", half)
        patch.setattr(module.DoubleScript, "when", nothing)
        patch.setattr(module.DoubleScript, "assign", nothing)
        double_op.cache_clear()
        prepare._function.cache_clear()  # pyright: ignore[reportPrivateUsage]
        try:
            width = 64 if part == "low_word" else NARROWEST
            return run(cpu.compile(program(name, width=width)), *_pairs(name))
        finally:
            double_op.cache_clear()
            prepare._function.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_only_rare_helpers_stay_calls() -> None:
    for language, keyword in (
        ("cuda", "static __device__ __noinline__"),
        ("opencl", "static __attribute__((noinline))"),
        ("llvm", "noinline cold"),
    ):
        assert lower(program("sin"), language).text.count(keyword) == 1
        assert keyword not in lower(program("exp"), language).text
    assert "double" not in lower(program("sin"), "wgsl").text


def test_every_function_has_a_twin_in_doubles() -> None:
    assert {op.id for op in double_ops()} == {f"double.f32.{name}" for name in OPS}
    assert double_op("double.f16.exp") is None


def test_the_coefficients_are_those_of_the_generator() -> None:
    pytest.importorskip("flint")
    command = [sys.executable, "-m", "lab.functions.double_coefficients", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout.strip()) == (0, "coefficients.py is up to date")
