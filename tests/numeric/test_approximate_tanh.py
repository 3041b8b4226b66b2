"""The hyperbolic tangent of the approximate track is the strict one, in doubles where these are native."""

from __future__ import annotations

import numpy as np
import pytest

from vyre import dispatch
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Approx, InvocationId
from vyre.ir.operators import ApproxOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.prepare import prepare
from vyre.lower.ways import LLVM_WAYS
from vyre.numeric.functions import function_op
from vyre.semantics.vector import evaluate


def test_doubles_give_the_bits_of_the_strict_function() -> None:
    pytest.importorskip("llvmlite")
    given = BufferDecl.read("a", 0, DataType.F32)
    out = BufferDecl.read_write("out", 1, DataType.F32)
    value = Approx(ApproxOp.FTanhApprox, given[InvocationId(0)], 1)
    program = Program([given, out], (64, 1, 1), [out.store(InvocationId(0), value)])
    spread = np.arange(3, 1 << 32, 65519, dtype=np.uint64).astype(np.uint32)
    bits = np.concatenate([spread, np.arange(0x38F00000, 0x41A00000, 4099, dtype=np.uint32)])
    buffers = {"a": bits.view(np.float32), "out": np.zeros(bits.size, np.float32)}
    assert dict(prepare(program, ways=LLVM_WAYS).ways) == {"f32.tanh": "double"}
    found = dispatch(program, buffers, backend="cpu")["out"].view(np.uint32)
    strict = function_op("soft.f32.tanh")
    assert strict is not None
    assert np.array_equal(found, evaluate(strict, bits))
