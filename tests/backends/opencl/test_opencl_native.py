"""Native floats through OpenCL: every operation against exact arithmetic, constants included."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.backends.opencl.opencl_backend import opencl
from vyre.backends.probe.cases import WORKGROUP, ProbeOp, cases, probe_ops
from vyre.ir import (
    BufferDecl,
    Convert,
    DataType,
    InvocationId,
    Let,
    Literal,
    LitU32,
    Program,
    RoundMode,
    Store,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.lower.ways import opencl_ways
from vyre.reference import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS: dict[int, Any] = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def bundles() -> dict[str, list[ProbeOp]]:
    """The native operations that take the same operands: one kernel, because a compile takes a second."""
    native = opencl_ways(denormals=True, divide=True, doubles=True).native
    found: dict[str, list[ProbeOp]] = defaultdict(list)
    for op in probe_ops():
        if native.issuperset(op.keys):
            found[" ".join(t.value for t in op.inputs)].append(op)
    return dict(found)


BUNDLES = bundles()


def bundled(ops: list[ProbeOp]) -> Program:
    inputs = [BufferDecl.read(f"in{k}", k, t) for k, t in enumerate(ops[0].inputs)]
    outs = [BufferDecl.read_write(f"out{k}", len(inputs) + k, op.output) for k, op in enumerate(ops)]
    i = Var("i")
    body = [Store(out.name, i, op.value([x[i] for x in inputs])) for out, op in zip(outs, ops, strict=True)]
    return Program([*inputs, *outs], (WORKGROUP,), [Let("i", InvocationId(0)), *body])


@pytest.mark.parametrize("operands", BUNDLES)
def test_every_native_operation_is_exact(operands: str) -> None:
    backend = opencl()
    ops = BUNDLES[operands]
    if not backend.ways.native.issuperset(key for op in ops for key in op.keys):
        pytest.skip(f"the device does not promise all of {operands}")
    rows = cases(ops[0], 2000)
    columns: list[NDArray[Any]] = [
        np.array(column, _WORDS[t.stride])
        for column, t in zip(zip(*rows, strict=True), ops[0].inputs, strict=True)
    ]
    results = [np.zeros(len(rows), _WORDS[op.output.stride]) for op in ops]
    views = {f"in{k}": x.data.cast("B") for k, x in enumerate(columns)}
    views |= {f"out{k}": x.data.cast("B") for k, x in enumerate(results)}
    executable = backend.compile(bundled(ops))
    assert executable.lowering == "native"
    executable.run(views, (-(-len(rows) // WORKGROUP), 1, 1))
    for op, result in zip(ops, results, strict=True):
        expected = np.array([op.truth(row) for row in rows], result.dtype)
        wrong = np.flatnonzero(expected != result)
        assert not len(wrong), f"{op.name} of {rows[int(wrong[0])]} is {result[wrong[0]]:#x}"


def test_the_compiler_may_fold_constants() -> None:
    """PoCL folds its own `rint` and `floor` of such constants into something undefined."""
    f32, f64 = DataType.F32, DataType.F64
    values = [Literal(f64, 0xD8435D3BD6AB28AB), Literal(f64, 0x7FF4 << 48), Literal(f32, 0x7F000000)]
    values += [Literal(f32, 0x7F800001), Literal(f32, 0xBF000000)]
    out = BufferDecl.read_write("out", 0, DataType.U32, count=64)
    exprs = [
        made.cast(DataType.U32) if made.type is f32 else Convert(DataType.U32, RoundMode.Nearest, made)
        for made in values
    ]
    for value in values:
        for op in (UnaryOp.FRound, UnaryOp.FFloor, UnaryOp.FCeil, UnaryOp.FTrunc, UnaryOp.FSqrt):
            bits = UnOp(op, value) if value.type is f32 else UnOp(op, value).cast(f32)
            exprs.append(bits.cast(DataType.U32))
        exprs += [Convert(DataType.I32, mode, value).cast(DataType.U32) for mode in RoundMode]
    body = [Store("out", LitU32(k), x) for k, x in enumerate(exprs)]
    program = Program([out], (1,), body)
    result = np.zeros(64, np.uint32)
    opencl().compile(program).run({"out": result.data.cast("B")}, (1, 1, 1))
    expected = run(program, {"out": bytes(256)}, (1, 1, 1), check=False).buffers["out"]
    assert result.tobytes() == expected
