"""What is asked of a device before guarded operations are used on it.

    edges(bounds)           both ends of a range and what lies beside them, every special value, both signs
    inside(op, count)       numbers within the range that are hard: ties, cancellation, all exponents
    TOGETHER, FUSED         several operations in one expression, where a compiler could fuse, fold a zero,
                            cancel or factor
    CHAINED                 sums in a loop, which run natively as a whole

What several results have in common is one word: each is multiplied by an odd number of its own and added.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from vyre.backends.probe.cases import WORKGROUP, ProbeOp, probe_ops
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Cast, Expr, FMulAdd, InvocationId, Literal, LitU32, Select, Var
from vyre.ir.float_formats import F32
from vyre.ir.node import Assign, If, Let, Loop, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.native import CHAIN_KEY, GUARDED_RANGES
from vyre.reference import floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.ir.node import Node

    Words = NDArray[np.uint32]

_ONE = F32.one
_T = TypeVar("_T")


def guarded_probe(key: str) -> ProbeOp:
    """The operation of that key alone."""
    return next(op for op in probe_ops() if op.keys == (key,))


def _power(exponent: int) -> int:
    """The bits of 2^exponent."""
    return (F32.bias + exponent) << F32.fraction_bits


def edges(bounds: tuple[int, int]) -> list[int]:
    low, high = map(_power, bounds)
    positive = [0, 1, F32.hidden - 1, F32.hidden, F32.hidden + 1]
    positive += [low - 1, low, low + 1, low + F32.fraction, high - 1, high, high + 1]
    positive += [_ONE - 1, _ONE, _ONE + 1, _ONE + F32.hidden // 2, _power(-24), _power(-24) + 1]
    positive += [F32.infinity - 1, F32.infinity, F32.infinity + 1, F32.nan]
    return [*positive, *(x | F32.sign for x in positive)]


def bounds_of(op: ProbeOp) -> tuple[tuple[int, int], ...]:
    """The range of each operand; of several operations together, the narrowest."""
    return GUARDED_RANGES.get(op.keys[0] if len(op.keys) == 1 else "", GUARDED_RANGES["f32.fma"])


def edge_cases(op: ProbeOp) -> list[tuple[int, ...]]:
    """All edges crossed; those of three operands are fewer."""
    bounds = bounds_of(op)
    return list(itertools.product(*map(_few_edges if len(bounds) > 2 else edges, bounds)))


def _few_edges(bounds: tuple[int, int]) -> list[int]:
    low, high = map(_power, bounds)
    minus = F32.sign
    ends = [0, minus, 1, low - 1, low, minus | low, high - 1, minus | high]
    return [*ends, _ONE, minus | _ONE + 1, _power(-24), F32.infinity, F32.nan]


def inside(op: ProbeOp, count: int) -> list[Words]:
    """Columns of operands that are zero or within the bounds, the same for the same count."""
    rng = np.random.default_rng(count)
    columns: list[Words] = []
    for low, high in bounds_of(op):
        exponents = rng.integers(low, high, count)
        if columns:  # half of them near the other operand's, or near the product's, so that sums cancel
            others = [(x.astype(np.int64) >> 23 & 0xFF) - F32.bias for x in columns]
            near = sum(others) + rng.integers(-26, 27, count)
            exponents = np.where(rng.integers(0, 2, count) == 0, near, exponents)
        fields = np.clip(exponents, low, high - 1) + F32.bias
        bits = (fields << 23 | _significands(rng, count)).astype(np.uint32)
        bits = np.where(rng.integers(0, 32, count) == 0, np.uint32(0), bits)
        columns.append(bits | rng.integers(0, 2, count, np.uint32) << np.uint32(31))
    return columns


def _significands(rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Any bits; or a few leading ones, which make ties; or all ones but a few at the end."""
    anything = rng.integers(0, 1 << 23, count)
    end = (1 << rng.integers(0, 24, count)) - 1
    kind = rng.integers(0, 4, count)
    return np.where(kind < 2, anything, np.where(kind == 2, anything & ~end, anything | (~end & 0x7FFFFF)))


class _Arithmetic(Protocol[_T]):
    """The operations over one kind of value: expressions, or bits."""

    def add(self, a: _T, b: _T) -> _T: ...
    def sub(self, a: _T, b: _T) -> _T: ...
    def mul(self, a: _T, b: _T) -> _T: ...
    def fma(self, a: _T, b: _T, c: _T) -> _T: ...
    def lit(self, bits: int) -> _T: ...
    def unless_same(self, x: _T, y: _T, z: _T) -> _T:
        """`z`, and zero where `x` and `y` have the same bits."""
        ...


class _Expressions:
    def add(self, a: Expr, b: Expr) -> Expr:
        return BinOp(BinaryOp.FAdd, a, b)

    def sub(self, a: Expr, b: Expr) -> Expr:
        return BinOp(BinaryOp.FSub, a, b)

    def mul(self, a: Expr, b: Expr) -> Expr:
        return BinOp(BinaryOp.FMul, a, b)

    def fma(self, a: Expr, b: Expr, c: Expr) -> Expr:
        return FMulAdd(a, b, c)

    def lit(self, bits: int) -> Expr:
        return Literal(DataType.F32, bits)

    def unless_same(self, x: Expr, y: Expr, z: Expr) -> Expr:
        return Select(Cast(DataType.U32, x).eq(Cast(DataType.U32, y)), self.lit(0), z)


class _Exact:
    def add(self, a: int, b: int) -> int:
        return floats.binary(BinaryOp.FAdd, F32, a, b)

    def sub(self, a: int, b: int) -> int:
        return floats.binary(BinaryOp.FSub, F32, a, b)

    def mul(self, a: int, b: int) -> int:
        return floats.binary(BinaryOp.FMul, F32, a, b)

    def fma(self, a: int, b: int, c: int) -> int:
        return floats.fma(F32, a, b, c)

    def lit(self, bits: int) -> int:
        return bits

    def unless_same(self, x: int, y: int, z: int) -> int:
        return 0 if x == y else z


def _unfused(f: _Arithmetic[_T], x: _T, y: _T, z: _T) -> list[_T]:
    zero, minus = f.lit(0), f.lit(F32.sign)
    xy, xz = f.mul(x, y), f.mul(x, z)
    return [
        f.add(xy, z),
        f.sub(z, xy),
        f.add(xy, xz),
        f.sub(f.add(x, y), y),
        f.add(f.add(x, y), z),
        f.add(f.add(zero, xy), f.add(x, zero)),
        f.sub(zero, x),
        f.mul(f.add(y, minus), zero),
        f.mul(f.mul(x, f.lit(_power(-30))), f.lit(_power(30))),
        f.add(f.unless_same(x, y, z), y),
        f.sub(f.mul(x, x), xy),
    ]


def _fused(f: _Arithmetic[_T], x: _T, y: _T, z: _T) -> list[_T]:
    zero, xy = f.lit(0), f.mul(x, y)
    return [
        f.fma(x, y, z),
        f.fma(x, y, f.sub(zero, xy)),
        f.fma(x, zero, z),
        f.fma(x, y, f.lit(F32.sign)),
        f.add(f.fma(x, y, z), z),
        f.fma(x, f.lit(_ONE), f.mul(y, z)),
    ]


def _mixed_expressions(values: Sequence[Expr]) -> Expr:
    total: Expr | None = None
    for place, value in enumerate(values):
        word = Cast(DataType.U32, value) * (2 * place + 1)
        total = word if total is None else total + word
    assert total is not None
    return total


def _mixed(values: Sequence[int]) -> int:
    return sum(value * (2 * place + 1) for place, value in enumerate(values)) & 0xFFFFFFFF


_THREE = (DataType.F32,) * 3

TOGETHER = ProbeOp(
    "FAdd, FSub and FMul F32 together",
    ("f32.add", "f32.sub", "f32.mul"),
    _THREE,
    DataType.U32,
    lambda x: _mixed_expressions(_unfused(_Expressions(), *x)),
    lambda a: _mixed(_unfused(_Exact(), *a)),
)

FUSED = ProbeOp(
    "FMulAdd F32 with other operations",
    ("f32.fma", "f32.add", "f32.sub", "f32.mul"),
    _THREE,
    DataType.U32,
    lambda x: _mixed_expressions(_fused(_Expressions(), *x)),
    lambda a: _mixed(_fused(_Exact(), *a)),
)


class _ChainOp(ProbeOp):
    """Chains in a loop of three turns; what is mixed are their totals."""

    __slots__ = ()

    def program(self) -> Program:
        decls = [BufferDecl.read(f"in{k}", k, DataType.F32) for k in range(3)]
        out = BufferDecl.read_write("out", 3, DataType.U32)
        i, k = Var("i"), Var("k")
        x, y, z, f, g = map(Var, "xyzfg")
        ops = _Expressions()
        first = {"fused": ops.lit(0), "twice": ops.lit(F32.sign), "plain": z}
        step = {
            "fused": ops.fma(f, g, Var("fused")),
            "twice": ops.add(Var("twice"), ops.mul(f, g)),
            "plain": ops.add(Var("plain"), f),
        }
        turn: list[Node] = [Let("f", Select(k.eq(0), x, y)), Let("g", Select(k.eq(2), x, z))]
        turn += [Assign(name, value) for name, value in step.items()]
        body: list[Node] = [Let(v.name, decl[i]) for v, decl in zip((x, y, z), decls, strict=True)]
        body += [Let(name, value) for name, value in first.items()]
        body.append(Loop("k", LitU32(0), LitU32(3), turn))
        body.append(Store("out", i, self.value([Var(name) for name in first])))
        return Program([*decls, out], (WORKGROUP,), [Let("i", InvocationId(0)), If(i < out.length, body)])


def _totals(row: Sequence[int]) -> int:
    x, y, z = row
    exact = _Exact()
    fused, twice, plain = 0, F32.sign, z
    for f, g in ((x, z), (y, z), (y, x)):
        fused = exact.fma(f, g, fused)
        twice = exact.add(twice, exact.mul(f, g))
        plain = exact.add(plain, f)
    return _mixed((fused, twice, plain))


CHAINED = _ChainOp("sums in a loop of F32", (CHAIN_KEY,), _THREE, DataType.U32, _mixed_expressions, _totals)
