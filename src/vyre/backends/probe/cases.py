"""What the probe asks: every float operation as a kernel of its own, its inputs, and the truth.

Operands come from buffers, so that no compiler can fold them. The truth is the reference's arithmetic on
Python integers. Case `k` of an operation is always the same, so that a witness can be tried again.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Cast, Convert, Expr, FMulAdd, InvocationId, UnOp, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.operators import (
    FLOAT_BINARY_OPS,
    FLOAT_CLASS_OPS,
    FLOAT_COMPARE_OPS,
    FLOAT_UNARY_OPS,
    FUNCTION_BINARY_OPS,
    FUNCTION_UNARY_OPS,
    BinaryOp,
    RoundMode,
    UnaryOp,
)
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.native import key_of
from vyre.reference import floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.ir.float_formats import FloatFormat

WORKGROUP = 64
_FORMATS = (DataType.F32, DataType.F16, DataType.BF16, DataType.F64)
_SIGN_OPS = frozenset({UnaryOp.FNeg, UnaryOp.FAbs})
_CASTS = (
    (DataType.F32, DataType.F16),
    (DataType.F16, DataType.F32),
    (DataType.F32, DataType.BF16),
    (DataType.BF16, DataType.F32),
    (DataType.F32, DataType.F64),
    (DataType.F64, DataType.F32),
)


@dataclass(frozen=True, slots=True)
class ProbeOp:
    """One operation: `keys` are those of `vyre.lower.ways` that it needs, the first one its own."""

    name: str
    keys: tuple[str, ...]
    inputs: tuple[DataType, ...]
    output: DataType
    value: Callable[[Sequence[Expr]], Expr]
    truth: Callable[[Sequence[int]], int]

    def program(self) -> Program:
        """The kernel: one case for each element of `out`."""
        decls = [BufferDecl.read(f"in{k}", k, t) for k, t in enumerate(self.inputs)]
        out = BufferDecl.read_write("out", len(decls), self.output)
        i = Var("i")
        body = Store("out", i, self.value([decl[i] for decl in decls]))
        return Program([*decls, out], (WORKGROUP,), [Let("i", InvocationId(0)), If(i < out.length, (body,))])


@cache
def probe_ops() -> tuple[ProbeOp, ...]:
    """Every basic float operation in every format, and the pair that a compiler may fuse."""
    found = [op for of in _FORMATS for op in _of(of)]
    return (*found, *(_cast(source, target) for source, target in _CASTS))


def _of(of: DataType) -> list[ProbeOp]:
    fmt = floats.FORMATS[of]
    found: list[ProbeOp] = []
    found += [_binary(op, of, fmt) for op in BinaryOp if op in FLOAT_BINARY_OPS - FUNCTION_BINARY_OPS]
    name = f"FMulAdd {of.value}"
    found.append(_probe(name, (of,) * 3, of, lambda x: FMulAdd(*x), lambda a: floats.fma(fmt, *a)))
    basic = FLOAT_UNARY_OPS - FUNCTION_UNARY_OPS - _SIGN_OPS
    found += [_unary(op, of, fmt) for op in UnaryOp if op in basic]
    found.append(_unfused(of, fmt))
    for integer in (DataType.I32, DataType.U32):
        found += [_to_integer(of, integer, mode, fmt) for mode in RoundMode]
        found.append(_from_integer(of, integer, fmt))
    return found


def _probe(
    name: str,
    inputs: tuple[DataType, ...],
    output: DataType,
    value: Callable[[Sequence[Expr]], Expr],
    truth: Callable[[Sequence[int]], int],
) -> ProbeOp:
    key = key_of(value([Var(f"v{k}") for k in range(len(inputs))]), inputs)
    assert key is not None, name
    return ProbeOp(name, (key,), inputs, output, value, truth)


def _binary(op: BinaryOp, of: DataType, fmt: FloatFormat) -> ProbeOp:
    output = DataType.U32 if op in FLOAT_COMPARE_OPS else of
    return _probe(
        f"{op.value} {of.value}",
        (of, of),
        output,
        lambda x: BinOp(op, *x),
        lambda a: floats.binary(op, fmt, *a),
    )


def _unary(op: UnaryOp, of: DataType, fmt: FloatFormat) -> ProbeOp:
    output = DataType.U32 if op in FLOAT_CLASS_OPS else of
    name = f"{op.value} {of.value}"
    return _probe(name, (of,), output, lambda x: UnOp(op, x[0]), lambda a: floats.unary(op, fmt, a[0]))


def _unfused(of: DataType, fmt: FloatFormat) -> ProbeOp:
    """A product and a sum round twice, however much a compiler would like one fma."""
    name = of.value.lower()

    def value(x: Sequence[Expr]) -> Expr:
        return BinOp(BinaryOp.FAdd, BinOp(BinaryOp.FMul, x[0], x[1]), x[2])

    def truth(a: Sequence[int]) -> int:
        product = floats.binary(BinaryOp.FMul, fmt, a[0], a[1])
        return floats.binary(BinaryOp.FAdd, fmt, product, a[2])

    keys = (f"{name}.add", f"{name}.mul")
    return ProbeOp(f"FMul then FAdd {of.value}", keys, (of,) * 3, of, value, truth)


def _to_integer(of: DataType, integer: DataType, mode: RoundMode, fmt: FloatFormat) -> ProbeOp:
    name = f"Convert {of.value} to {integer.value} {mode.value}"
    return _probe(
        name,
        (of,),
        integer,
        lambda x: Convert(integer, mode, x[0]),
        lambda a: floats.to_integer(fmt, a[0], mode, integer),
    )


def _from_integer(of: DataType, integer: DataType, fmt: FloatFormat) -> ProbeOp:
    return _probe(
        f"Convert {integer.value} to {of.value}",
        (integer,),
        of,
        lambda x: Convert(of, RoundMode.Nearest, x[0]),
        lambda a: floats.from_integer(fmt, integer, a[0]),
    )


def _cast(source: DataType, target: DataType) -> ProbeOp:
    return _probe(
        f"Cast {source.value} to {target.value}",
        (source,),
        target,
        lambda x: Cast(target, x[0]),
        lambda a: floats.change_format(floats.FORMATS[source], floats.FORMATS[target], a[0]),
    )


def specials(of: DataType) -> list[int]:
    """Zeros, the ends of every range, infinities, NaNs with payloads, small numbers, and their negatives."""
    if not of.is_float:
        edges = (0, 1, 2, 3, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, (1 << 24) + 3, (1 << 31) - 64)
        return [x & 0xFFFFFFFF for k in edges for x in (k, -k)] + [0x7FFFFFFF, 0x80000000, 0xFFFFFF7F]
    fmt = floats.FORMATS[of]
    hidden, infinity = 1 << fmt.fraction_bits, fmt.infinity
    one = fmt.bias << fmt.fraction_bits
    half = one - hidden
    positive = [0, 1, hidden - 1, hidden, hidden + 1, half, half + 1, one - 1, one, one + 1]
    positive += [one + hidden // 2, one + hidden, infinity - 1, infinity - hidden]
    positive += [infinity, infinity + 1, infinity + hidden // 2, infinity + hidden - 1]
    sign = 1 << (of.bits - 1)
    return [*positive, *(x | sign for x in positive)]


def cases(op: ProbeOp, count: int) -> list[tuple[int, ...]]:
    """All specials crossed (every other one for three operands), then numbers that were made to be hard."""
    lists = [specials(t)[:: 2 if len(op.inputs) > 2 else 1] for t in op.inputs]
    found = list(itertools.product(*lists))
    rng = Random(f"{op.name} of the probe")
    found += [_hard(op, rng) for _ in range(max(0, count - len(found)))]
    return found


def _hard(op: ProbeOp, rng: Random) -> tuple[int, ...]:
    first = rng.getrandbits(op.inputs[0].bits)
    values = [first]
    for t in op.inputs[1:]:
        bits = rng.getrandbits(t.bits)
        how = rng.randrange(5)
        if how == 1:  # nearly the same number: sums cancel, quotients are close to 1
            bits = first ^ rng.getrandbits(3) ^ (rng.getrandbits(1) << (t.bits - 1))
        elif how > 1:  # an exponent that brings the result near to one end of the range
            fmt = floats.FORMATS[t]
            field = (1 << (t.bits - 1 - fmt.fraction_bits)) - 1
            own = first >> fmt.fraction_bits & field
            wanted = {2: own + rng.randrange(-3, 4), 3: fmt.bias + 1 - own, 4: 3 * fmt.bias - own}[how]
            wanted = min(max(wanted + rng.randrange(-1, 2), 0), field - 1)
            bits = bits & ~(field << fmt.fraction_bits) | wanted << fmt.fraction_bits
        values.append(bits)
    return tuple(values)
