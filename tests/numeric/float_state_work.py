"""What a process computes, compiles and prints, as digests by subject; imported once the state is set."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np

import vyre
from tests.numeric.float_state_kernel import literals, scaled
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.generate.float_streams import LANDMARKS
from vyre.frontend.literals import float_bits, python_float
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Cast, Expr, InvocationId, Load, UnOp, f32, f64
from vyre.ir.node import Store
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.languages import LANGUAGES, lower
from vyre.numeric.doubles.catalogue import double_ops
from vyre.numeric.functions.catalogue import FUNCTIONS, function_ops
from vyre.numeric.soft.catalogue import soft_ops
from vyre.text.literals import decimal_of

SPECIAL = (
    0,
    1,
    2,
    0x7FFFFF,
    0x800000,
    0x3F800000,
    0x3F800001,
    0x40490FDB,
    0x42F00000,
    0x7F7FFFFF,
    0x7F800000,
)
WORDS = np.array(
    [w for x in SPECIAL for w in (x, x | 0x80000000)] + [(k * 0x9E3779B1) & 0xFFFFFFFF for k in range(490)],
    np.uint32,
)
"""Inputs by their bits, a third of them beyond 1 in size."""

OPERATIONS = (
    *FUNCTIONS,
    *(BinaryOp.FAdd, BinaryOp.FSub, BinaryOp.FMul, BinaryOp.FDiv, BinaryOp.FMin, BinaryOp.FLt),
    *(UnaryOp.FSqrt, UnaryOp.FFloor, UnaryOp.FRound),
)
HALVES = (BinaryOp.FAdd, BinaryOp.FMul, UnaryOp.FSqrt)
"""Of 16-bit formats, those that may be done in F32; the functions are integers throughout."""

DOUBLES = (1, 3, 1 << 52, 1 << 63 | 1, *(0x9E3779B97F4A7C15 * k % (1 << 64) for k in range(1, 60)))
FORMATS = (DataType.F16, DataType.BF16, DataType.F32, DataType.F64)


def digests() -> dict[str, str]:
    """Every subject, in one order."""
    found = {f"source {language}": _digest(_sources(language)) for language in LANGUAGES}
    found["definitions"] = _digest(map(repr, (*double_ops(), *function_ops(), *soft_ops())))
    found["results cpu"] = _digest(_results(CpuBackend(threads=2), WORDS))
    found["results reference"] = _digest(_results(ReferenceBackend(), WORDS[:32]))
    found["literals"] = _digest(_literals())
    found["printed"] = _digest(
        decimal_of(kind, bits & ((1 << kind.bits) - 1)) for bits in DOUBLES for kind in FORMATS
    )
    found["kernels"] = _digest(p.to_text() for p in (literals.program, scaled.program))
    found["generated"] = _digest(map(hex, LANDMARKS))
    return found


def _digest(parts: Any) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def _program(op: UnaryOp | BinaryOp, kind: DataType) -> Program:
    i = InvocationId(0)
    a, b = (_float(Load(name, i), kind) for name in ("a", "b"))
    made = UnOp(op, a) if isinstance(op, UnaryOp) else BinOp(op, a, b)
    value: Expr = made if op is BinaryOp.FLt else Cast(DataType.U32, made)
    buffers = [BufferDecl.read(n, k, DataType.U32) for k, n in enumerate("ab")]
    return Program(
        [*buffers, BufferDecl.read_write("out", 2, DataType.U32)], (64, 1, 1), [Store("out", i, value)]
    )


def _float(bits: Expr, kind: DataType) -> Expr:
    return Cast(kind, bits if kind is DataType.F32 else bits >> 16)


def _sources(language: str) -> list[str]:
    return [lower(_program(op, DataType.F32), language).text for op in OPERATIONS]


def _results(backend: Any, words: Any) -> list[str]:
    texts: list[str] = []
    for kind, operations in ((DataType.F32, OPERATIONS), (DataType.F16, HALVES)):
        for op in operations:
            out = np.zeros_like(words)
            views = {
                "a": words.data.cast("B"),
                "b": words[::-1].copy().data.cast("B"),
                "out": out.data.cast("B"),
            }
            backend.compile(_program(op, kind)).run(views, (-(-words.size // 64), 1, 1))
            texts.append(f"{op} {kind} {out.tobytes().hex()}")
    return texts


def _literals() -> list[str]:
    """Numbers as users give them: doubles by their bits, and NumPy's scalars."""
    found: list[str] = []
    for bits in DOUBLES:
        value: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
        found += [hex(float_bits(value, k)) for k in FORMATS]
        found += [repr(f32(value)), repr(f64(value))]
        single = np.frombuffer((bits >> 32).to_bytes(4, "little"), np.float32)[0]
        found.append(hex(float_bits(python_float(single), DataType.F64)))
    return found


__all__ = ["digests", "vyre"]
