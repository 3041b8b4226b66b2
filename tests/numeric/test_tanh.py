"""The hyperbolic tangent of the approximate track is correctly rounded."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats.truth import decoded, enclosure, truth
from lab.functions.pairs import pairs
from vyre import dispatch
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Approx, InvocationId, Var, select
from vyre.ir.node import Let
from vyre.ir.operators import ApproxOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.prepare import prepare
from vyre.lower.ways import LLVM_WAYS
from vyre.numeric.functions import function_op, function_ops, hyperbolic
from vyre.numeric.functions.exponentials import power_of_two
from vyre.numeric.registry import SoftRegistry
from vyre.numeric.soft.layout import BF16, F16, F32, LAYOUTS, Layout
from vyre.numeric.vector import evaluate
from vyre.validate import validate_op
from vyre.wire import meaning_digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.expr import Expr
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Unrounded
    from vyre.numeric.functions.limbs import Words as Limbs
    from vyre.numeric.functions.script import Script

    Words = NDArray[np.uint32]

pytest.importorskip("flint")

COUNTED = 18
"""Units of 2^-63 of the result: 8 of the reciprocal, 8 of the product with it, 2 of what is cut before."""


SWEPT = {
    "soft.f32.tanh": "f0c6750eef6cc774",
    "double.f32.tanh": "856d4f1f81415003",
}
"""The definitions of which all 2^32 inputs were run: the first by `python -m lab.functions.sweep tanh`
against the truth, the second by `python -m lab.devices.approximate cpu --tanh` against the first."""


def op_of(fmt: Layout) -> Op:
    op = function_op(f"{fmt.prefix}.tanh")
    assert op is not None
    return op


def differing(op: Op, fmt: Layout, bits: Words) -> list[int]:
    return bits[np.flatnonzero(evaluate(op, bits) != truth("tanh", fmt, bits)[0])].tolist()


@pytest.mark.parametrize("fmt", [F16, BF16], ids=lambda fmt: fmt.type.value)
def test_every_16_bit_value(fmt: Layout) -> None:
    assert differing(op_of(fmt), fmt, np.arange(1 << 16, dtype=np.uint32)) == []


def test_spread_inputs_and_the_ends_of_the_parts() -> None:
    spread = np.arange(5, 1 << 32, 32749, dtype=np.uint64).astype(np.uint32)
    ends = [0, 1, 0x00800000, 0x39000000, 0x3F800000, 0x41102CB4, 0x41800000, F32.infinity, F32.nan]
    near = np.array([e + d & 0xFFFFFFFF for e in ends for d in range(-8, 9)], np.uint32)
    middle = np.arange(0x39000000, 0x41800000, 12289, dtype=np.uint32)
    for bits in (spread, near, near | np.uint32(F32.sign), middle):
        assert differing(op_of(F32), F32, bits) == []


def test_doubles_give_the_same_bits() -> None:
    given = BufferDecl.read("a", 0, DataType.F32)
    out = BufferDecl.read_write("out", 1, DataType.F32)
    value = Approx(ApproxOp.FTanhApprox, given[InvocationId(0)], 1)
    program = Program([given, out], (64, 1, 1), [out.store(InvocationId(0), value)])
    spread = np.arange(3, 1 << 32, 65519, dtype=np.uint64).astype(np.uint32)
    bits = np.concatenate([spread, np.arange(0x38F00000, 0x41A00000, 4099, dtype=np.uint32)])
    buffers = {"a": bits.view(np.float32), "out": np.zeros(bits.size, np.float32)}
    assert dict(prepare(program, ways=LLVM_WAYS).ways) == {"f32.tanh": "double"}
    found = dispatch(program, buffers, backend="cpu")["out"].view(np.uint32)
    assert np.array_equal(found, evaluate(op_of(F32), bits))


@pytest.mark.parametrize("op_id", SWEPT)
def test_the_definition_is_the_one_that_was_swept(op_id: str) -> None:
    op = SoftRegistry()[op_id]
    assert op.result is not None
    given, out = BufferDecl.read("a", 0, DataType.U32), BufferDecl.read_write("out", 1, DataType.U32)
    entry = [Let("a", given[InvocationId(0)]), *op.body, out.store(InvocationId(0), op.result)]
    assert meaning_digest(Program([given, out], (64, 1, 1), entry))[:16] == SWEPT[op_id]


def test_a_wrong_input_is_seen() -> None:
    right = op_of(F16)
    assert right.result is not None
    wrong = replace(right, result=select(Var("a").eq(0x3123), right.result + 1, right.result))
    assert differing(wrong, F16, np.arange(1 << 16, dtype=np.uint32)) == [0x3123]


def unrounded(patch: pytest.MonkeyPatch) -> list[Op]:
    """The exponent and the words before the rounding, each as an op."""
    found: list[Op] = []

    def catch(s: Script, _: Layout, value: Unrounded) -> Expr:
        found.extend(s.gives(word) for word in (value.exponent, *value.words))
        return value.exponent

    patch.setattr(hyperbolic, "nearest", catch)
    hyperbolic.tanh(F32)
    return found


def worst(ops: list[Op]) -> float:
    """The largest error, in units of 2^-63 of the result."""
    field = np.uint32(F32.bias - 13) + pairs(F32, "atan2", 0, 800)[1] % np.uint32(17)
    bits = pairs(F32, "atan2", 0, 800)[0] & np.uint32(F32.fraction) | field << np.uint32(23)
    exponents, high, low = (evaluate(op, bits).tolist() for op in ops)
    largest = Fraction(0)
    for k, x in enumerate(decoded(F32, bits).tolist()):
        signed = exponents[k] - (1 << 32 if exponents[k] >> 31 else 0)
        got = Fraction(high[k] << 32 | low[k], 1 << 63) * Fraction(2) ** signed
        largest = max(largest, abs(got / enclosure("tanh", 400, Fraction(x))[0] - 1))
    return float(largest * 2**63)


def test_the_error_before_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worst(unrounded(monkeypatch)) < COUNTED


def test_a_worse_power_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(s: Script, whole: Expr, fraction: Limbs) -> Unrounded:
        value = power_of_two(s, whole, fraction)
        first, second, third = value.words
        return replace(value, words=(first, s.let(second & 0xFFFF0000), third))

    monkeypatch.setattr(hyperbolic, "power_of_two", cut)
    assert worst(unrounded(monkeypatch)) > COUNTED


@pytest.mark.parametrize("fmt", LAYOUTS.values(), ids=lambda fmt: fmt.type.value)
def test_it_is_a_lawful_op_of_the_approximate_track_alone(fmt: Layout) -> None:
    assert validate_op(op_of(fmt)) == []
    assert op_of(fmt).id not in {op.id for op in function_ops()}
