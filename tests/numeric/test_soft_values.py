"""Soft floats give the reference's bits on special values, hard cases and every 16-bit input."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats.cases import specials
from lab.floats.mutants import mutants
from lab.floats.sweep import exhaustive, hard, hard_block
from tests.numeric.numeric_truth import reference
from vyre.compose.registry import Registry
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, InvocationId, Load, Var
from vyre.ir.node import Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.numeric.soft import soft_ops
from vyre.numeric.soft.layout import F32, LAYOUTS
from vyre.numeric.vector import evaluate
from vyre.reference import run
from vyre.validate import validate_op

if TYPE_CHECKING:
    from vyre.ir.op import Op

OPS = {op.id: op for op in soft_ops()}
ARITHMETIC = [op for op in OPS.values() if op.id.endswith((".add", ".sub", ".mul", ".div", ".fma"))]


def names(op: Op) -> str:
    return op.id


def values(op: Op) -> list[int]:
    if ".from_" in op.id:
        return [
            0,
            1,
            2,
            3,
            0x7FFFFFFF,
            0x80000000,
            0x80000001,
            0xFFFFFFFF,
            0x01000001,
            0x01000003,
            65519,
            65520,
        ]
    return specials(LAYOUTS[DataType(op.id.split(".")[1].upper())])


def differing(op: Op, *arrays: np.ndarray) -> list[tuple[int, ...]]:
    got = evaluate(op, *arrays).tolist()
    rows = list(zip(*(a.tolist() for a in arrays), strict=True))
    return [row for row, bits in zip(rows, got, strict=True) if bits != reference(op.id, row)]


@pytest.mark.parametrize("op", OPS.values(), ids=names)
def test_special_values_crossed(op: Op) -> None:
    given = values(op)
    if len(op.params) == 3:
        given = given[::3]
    grid = np.meshgrid(*[np.array(given, dtype=np.uint32)] * len(op.params), indexing="ij")
    assert differing(op, *(axis.ravel() for axis in grid)) == []


@pytest.mark.parametrize("op", ARITHMETIC, ids=names)
def test_hard_cases_against_the_reference(op: Op) -> None:
    pytest.importorskip("llvmlite")
    assert differing(op, *(a[:1500] for a in hard_block(op, 7, 1 << 16))) == []


def test_a_wrong_op_differs_from_the_reference() -> None:
    truncating = dict(mutants(OPS["soft.f32.add"]))["truncates"]
    one = np.array([F32.one], dtype=np.uint32)
    assert differing(truncating, one, one - np.uint32(1)) == [(F32.one, F32.one - 1)]


@pytest.mark.parametrize("op", ARITHMETIC, ids=names)
def test_hard_cases_against_the_processor(op: Op) -> None:
    pytest.importorskip("llvmlite")
    sweep = hard(op, 1 << 19)
    assert (sweep.failures, sweep.first) == (0, ())
    assert sweep.cases == 1 << 19


def test_a_sweep_finds_a_wrong_op_and_its_first_case() -> None:
    pytest.importorskip("llvmlite")
    wrong = dict(mutants(OPS["soft.f16.mul"]))["goes past infinity"]
    sweep = hard(wrong, 1 << 18)
    assert sweep.failures > 0
    assert reference(wrong.id, sweep.first) != int(
        evaluate(wrong, *(np.array([x], dtype=np.uint32) for x in sweep.first))[0]
    )


UNARY_16 = [
    op
    for op in OPS.values()
    if op.id.startswith(("soft.f16.", "soft.bf16."))
    and op.id.rpartition(".")[2].startswith(("sqrt", "floor", "ceil", "round", "trunc", "to_"))
]


@pytest.mark.parametrize("op", UNARY_16, ids=names)
def test_every_16_bit_input(op: Op) -> None:
    pytest.importorskip("llvmlite")
    sweep = exhaustive(op)
    assert (sweep.cases, sweep.failures, sweep.first) == (65536, 0, ())


def test_the_half_precision_fma_that_double_rounding_gets_wrong() -> None:
    # a = 2^-5 (1 + 2^-10), b = 2^-6 (1 - 2^-10), c = 1 + 2^-10: through F32 this gives 0x3C02.
    operands = [np.array([x], dtype=np.uint32) for x in (0x2801, 0x23FE, 0x3C01)]
    assert evaluate(OPS["soft.f16.fma"], *operands)[0] == 0x3C01


def test_numpy_agrees_on_random_bits() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 1 << 32, (2, 1 << 17), dtype=np.uint32)
    x, y = a.view(np.float32), b.view(np.float32)
    with np.errstate(all="ignore"):
        results = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y, "sqrt": np.sqrt(x)}
    for name, result in results.items():
        bits = np.where(np.isnan(result), np.uint32(F32.nan), result.view(np.uint32))
        op = OPS[f"soft.f32.{name}"]
        assert np.array_equal(evaluate(op, *(a, b)[: len(op.params)]), bits), name


@pytest.mark.parametrize(
    "op_id", ["soft.f32.fma", "soft.f32.div", "soft.bf16.sqrt", "soft.f16.to_i32_nearest"]
)
def test_the_interpreter_runs_the_same_definitions(op_id: str) -> None:
    op = OPS[op_id]
    columns = [
        specials(LAYOUTS[DataType(op_id.split(".")[1].upper())])[i::3][:16] for i in range(len(op.params))
    ]
    index = InvocationId(0)
    program = Program(
        (
            BufferDecl.read_write("out", 0, DataType.U32, count=16),
            *(BufferDecl.read(p.name, i + 1, DataType.U32, count=16) for i, p in enumerate(op.params)),
        ),
        (16, 1, 1),
        (Store("out", index, Call(op.id, tuple(Load(p.name, index) for p in op.params))),),
    )
    buffers = {
        p.name: np.array(column, dtype="<u4").tobytes() for p, column in zip(op.params, columns, strict=True)
    }
    result = run(program, buffers, (1, 1, 1), registry=Registry(soft_ops()))
    got = np.frombuffer(result.buffers["out"], dtype="<u4").tolist()
    assert got == [reference(op.id, row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("op", OPS.values(), ids=names)
def test_every_definition_is_valid_and_small(op: Op) -> None:
    assert validate_op(op) == []
    assert all(p.type is DataType.U32 for p in op.params)
    assert op.output is DataType.U32
    assert len(op.body) <= 90


def estimate(op: Op, step: str, operand: np.ndarray) -> np.ndarray:
    """The value of one step of a unary op, or of a binary op whose operands are equal."""
    from lab.floats.jit import compiled

    return compiled(replace(op, result=Var(step)))(*[operand] * len(op.params)).astype(np.uint64)


def test_the_reciprocal_of_every_divisor_is_close_enough_and_never_too_large() -> None:
    """The lemma of `soft/division.py`, on all 2^23 significands."""
    pytest.importorskip("llvmlite")
    divisors = np.arange(F32.one, F32.one + F32.hidden, dtype=np.uint32)
    divisor = (divisors.astype(np.uint64) & np.uint64(F32.fraction) | np.uint64(F32.hidden)) << np.uint64(8)
    reciprocal = estimate(OPS["soft.f32.div"], "reciprocal_2", divisors)
    below = np.uint64(1 << 63) - reciprocal * divisor
    assert int(below.max()) <= 1 << (63 - 26)


def test_the_root_estimate_is_at_most_one_too_small_for_every_significand() -> None:
    """The lemma of `soft/root.py`, on all 2^24 significands and parities."""
    pytest.importorskip("llvmlite")
    for start in range(F32.one, F32.one + 2 * F32.hidden, 1 << 21):
        operands = np.arange(start, start + (1 << 21), dtype=np.uint32)
        target = estimate(OPS["soft.f32.sqrt"], "d", operands) << np.uint64(18)
        guess = estimate(OPS["soft.f32.sqrt"], "guess", operands)
        assert bool((guess * guess <= target).all())
        assert bool(((guess + np.uint64(2)) ** np.uint64(2) > target).all())
