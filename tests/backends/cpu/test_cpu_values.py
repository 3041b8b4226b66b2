"""Every integer operation, cast and lane, on the edges of the domain, against the reference."""

from __future__ import annotations

from itertools import product

import pytest

from tests.backends.cpu.cpu_programs import EDGES, U32, agree, each, kernel, numbers, words
from vyre.ir import (
    BinaryOp,
    BinOp,
    BufferDecl,
    Cast,
    DataType,
    Expr,
    InvocationId,
    Lane,
    Let,
    LitBool,
    Literal,
    LitI32,
    LitU32,
    Load,
    MakeVec,
    Select,
    Store,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.ir.operators import FLOAT_BINARY_OPS, FLOAT_UNARY_OPS
from vyre.ir.typing import CAST_TABLE, CastRule

T = DataType
I = InvocationId(0)  # noqa: E741 - short, because it stands in every line
BINARY = [op for op in BinaryOp if op not in FLOAT_BINARY_OPS]
UNARY = [op for op in UnaryOp if op not in FLOAT_UNARY_OPS]
LANE_TYPES = [T.U64, T.Vec2U32, T.U128, T.Vec4U32]
MOVED = [T.F32, T.F16, T.BF16, T.F64]


def samples(of: DataType) -> bytes:
    """Bit patterns of any type: edges of every lane, NaN payloads among them."""
    mask = (1 << of.bits) - 1
    values = [
        0,
        1,
        mask,
        mask >> 1,
        1 << (of.bits - 1),
        0x7FC00001 & mask,
        0xFFFFFFFF00000000 & mask,
        0x7E017C01,
    ]
    values += [(0x0123456789ABCDEF_0FEDCBA987654321 >> shift) & mask for shift in (0, 7, 32, 64)]
    return b"".join((v & mask).to_bytes(of.stride, "little") for v in values)


def test_binary_operations() -> None:
    pairs = list(product(EDGES, EDGES))
    reads = {"a": (U32, words(*(a for a, _ in pairs))), "b": (U32, words(*(b for _, b in pairs)))}
    results = each(reads, [(BinOp(op, Load("a", I), Load("b", I)), U32) for op in BINARY], len(pairs))
    by_op = dict(zip(BINARY, results, strict=True))
    at = pairs.index((5, 0))
    assert by_op[BinaryOp.Div][at] == by_op[BinaryOp.Mod][at] == 0
    assert by_op[BinaryOp.Shl][pairs.index((1, 33))] == 2
    assert by_op[BinaryOp.MulHi][pairs.index((0xFFFFFFFF, 0xFFFFFFFF))] == 0xFFFFFFFE


def test_unary_operations() -> None:
    results = each({"a": (U32, words(*EDGES))}, [(UnOp(op, Load("a", I)), U32) for op in UNARY], len(EDGES))
    by_op = dict(zip(UNARY, results, strict=True))
    assert by_op[UnaryOp.Clz][0] == by_op[UnaryOp.Ctz][0] == 32


def test_literal_operands() -> None:
    a = Load("a", I)
    values: list[Expr] = [
        a // 0,
        a % 0,
        a // 7,
        a % 7,
        a << 33,
        a >> 32,
        a >> 255,
        LitU32(0) // a,
        LitU32(9) % a,
    ]
    each({"a": (U32, words(*EDGES))}, [(v, U32) for v in values], len(EDGES))


def test_signed_and_boolean_operands() -> None:
    i32, boolean = Load("i", I), Load("c", I)
    values: list[tuple[Expr, DataType]] = [
        (i32 * LitI32(-3) - LitI32(-(1 << 31)), T.I32),
        (-i32, T.I32),
        (~i32, T.I32),
        (i32.eq(LitI32(-1)), U32),
        (boolean.and_(LitBool(True)), U32),
        (boolean.or_(LitBool(False)), U32),
        (UnOp(UnaryOp.LogicalNot, boolean), U32),
        (Select(boolean, i32, LitI32(7)), T.I32),
        (boolean, T.Bool),
    ]
    each({"i": (T.I32, words(*EDGES)), "c": (T.Bool, words(*EDGES))}, values, len(EDGES))


@pytest.mark.parametrize("source", [t for t in T if t is not T.Bytes], ids=lambda t: t.value)
def test_casts(source: DataType) -> None:
    skipped = (CastRule.Widen, CastRule.Round)
    targets = [
        t for (s, t), rule in CAST_TABLE.items() if s is source and rule not in skipped and t is not T.Bytes
    ]
    data = samples(source)
    count = len(data) // source.stride
    each({"a": (source, data)}, [(Cast(t, Load("a", I)), t) for t in targets], count)


@pytest.mark.parametrize("kind", LANE_TYPES, ids=lambda t: t.value)
def test_lanes(kind: DataType) -> None:
    a = Load("a", I)
    lanes = tuple(Lane(a, k) for k in range(kind.lanes))
    values: list[tuple[Expr, DataType]] = [(lane, U32) for lane in lanes]
    values.append((MakeVec(kind, tuple(reversed([lane + 1 for lane in lanes]))), kind))
    values.append((Select(Lane(a, 0) > 1, a, MakeVec(kind, lanes[:1] * kind.lanes)), kind))
    data = samples(kind)
    each({"a": (kind, data)}, values, len(data) // kind.stride)


@pytest.mark.parametrize("kind", MOVED, ids=lambda t: t.value)
def test_floats_are_moved_as_bits(kind: DataType) -> None:
    a = Load("a", I)
    values: list[Expr] = [a, UnOp(UnaryOp.FNeg, a), UnOp(UnaryOp.FAbs, a)]
    values.append(Select(I % 2, a, Literal(kind, (1 << kind.bits) - 2)))
    data = samples(kind)
    moved, negated, *_ = each({"a": (kind, data)}, [(v, kind) for v in values], len(data) // kind.stride)
    assert moved == numbers(data, kind.stride)
    assert negated == [v ^ 1 << (kind.bits - 1) for v in moved]


def test_wide_literals() -> None:
    bits = 0xFEDCBA98_76543210_89ABCDEF_01234567
    values: list[tuple[Expr, DataType]] = [
        (Literal(T.U128, bits), T.U128),
        (Literal(T.U64, bits >> 64), T.U64),
        (Literal(T.F64, 0x7FF0000000000001), T.F64),
        (Literal(T.F16, 0x7C01), T.F16),
        (LitI32(-1), T.I32),
    ]
    assert [r[0] for r in each({}, values, 3)][:2] == [bits, bits >> 64]


def test_a_deep_chain_and_a_shared_node() -> None:
    deep: Expr = Load("a", I)
    for k in range(150):
        deep = (deep ^ k) * 5 + Load("a", I)
    shared: Expr = Load("a", I)
    for _ in range(12):
        shared = shared * shared + 1
    each({"a": (U32, words(*EDGES))}, [(deep, U32), (shared, U32)], len(EDGES))
    program = kernel([Let("x", shared), Store("out", I, Var("x"))], BufferDecl.read("a", 1, U32))
    assert len(numbers(agree(program, {"a": words(*EDGES)})["out"])) == 8
