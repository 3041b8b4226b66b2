"""Values: operators, casts, lanes, Bools, and floats that only move."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from lab.exactness.build import I, L, case, words, words_of
from vyre.conform.generate.buffers import SPECIALS
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import (
    BinOp,
    Cast,
    Expr,
    Lane,
    LitBool,
    Literal,
    LitI32,
    LitU32,
    Load,
    MakeVec,
    Select,
    UnOp,
    Var,
)
from vyre.ir.node import Assign, Barrier, Let, Node, Store
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule

if TYPE_CHECKING:
    from lab.exactness.build import Builder
    from vyre.conform.generate.programs import GeneratedProgram


def operators() -> GeneratedProgram:
    """Wrapping, x/0, x%0, masked shifts, clz and ctz of 0, the high product: all pairs of special values."""
    pairs = list(product((*SPECIALS[DataType.U32][::2], 32, 0xFFFFFFFF), repeat=2))
    a, b = Var("a"), Var("b")
    values: list[Expr] = [BinOp(op, a, b) for op in INTEGER_BINARY_OPS]
    values += [UnOp(op, a) for op in INTEGER_UNARY_OPS]
    entry = [Let("a", Load("left", I)), Let("b", Load("right", I)), Let("at", I * len(values))]
    entry += [Store("out", Var("at") + k, value) for k, value in enumerate(values)]
    buffers = [
        BufferDecl.read("left", 0, DataType.U32),
        BufferDecl.read("right", 1, DataType.U32),
        BufferDecl.read_write("out", 2, DataType.U32, count=len(pairs) * len(values)),
    ]
    left, right = (words(*(pair[k] for pair in pairs)) for k in range(2))
    return case(buffers, (64,), entry, (-(-len(pairs) // 64), 1, 1), left=left, right=right)


def literal_operands() -> GeneratedProgram:
    """The same operators over literals, which compilers fold, refuse or warn about."""
    pairs = [(0, 0), (7, 0), (1, 32), (1, 33), (0x80000000, 31), (0xFFFFFFFF, 0xFFFFFFFF), (5, 3)]
    values: list[Expr] = []
    for x, y in pairs:
        values += [BinOp(op, LitU32(x), LitU32(y)) for op in INTEGER_BINARY_OPS]
        values += [UnOp(op, LitU32(x)) for op in INTEGER_UNARY_OPS]
    low = LitI32(-(1 << 31))
    values += [
        Cast(DataType.U32, low),
        Cast(DataType.U32, low * LitI32(-1)),
        Cast(DataType.U32, -low),
        Cast(DataType.U32, ~low),
    ]
    values += [Select(LitBool(True), LitU32(1), LitU32(2)), Select(LitU32(0), LitU32(1), LitU32(2))]
    values += words_of(Literal(DataType.U128, 0x0123456789ABCDEFFEDCBA9876543210), DataType.U128)
    entry = [Store("out", LitU32(k), value) for k, value in enumerate(values)]
    return case([BufferDecl.read_write("out", 0, DataType.U32, count=len(values))], (1,), entry)


def casts(source: DataType) -> Builder:
    """Every cast of one type that does not round."""

    def build() -> GeneratedProgram:
        exact = [t for s, t in CAST_TABLE if s is source and t is not DataType.Bytes and _exact(s, t)]
        words: list[Expr] = []
        for t in exact:
            if t is not DataType.F64:
                words += words_of(Cast(t, Var("x")), t)
        entry = [Let("x", Load("a", I)), Let("at", I * len(words))]
        entry += [Store("out", Var("at") + k, word) for k, word in enumerate(words)]
        lanes = source.lanes
        values = SPECIALS.get(source, SPECIALS[DataType.U32])
        values = SPECIALS[DataType.U32] if source is DataType.Bool else values
        data = b"".join(
            values[(k + 7 * lane) % len(values)].to_bytes(source.stride // lanes, "little")
            for k in range(len(values))
            for lane in range(lanes)
        )
        out = BufferDecl.read_write("out", 1, DataType.U32, count=len(values) * len(words))
        return case([BufferDecl.read("a", 0, source), out], (len(values),), entry, a=data)

    return build


def _exact(source: DataType, target: DataType) -> bool:
    return CAST_TABLE[source, target] not in (CastRule.Widen, CastRule.Round)


def lanes() -> GeneratedProgram:
    """Lanes taken apart, mixed and put together; vectors through variables, selects and buffers."""
    wide = [DataType.U64, DataType.Vec2U32, DataType.U128, DataType.Vec4U32]
    buffers = [BufferDecl.read_write(f"b{k}", k, t, count=4) for k, t in enumerate(wide)]
    entry: list[Node] = []
    for k, t in enumerate(wide):
        swapped = MakeVec(t, [Lane(Var(f"x{k}"), t.lanes - 1 - lane) + lane for lane in range(t.lanes)])
        entry += [
            Let(f"x{k}", Load(f"b{k}", I)),
            Assign(f"x{k}", Select(I % 2, swapped, Var(f"x{k}"))),
            Store(f"b{k}", LitU32(3) - I, Var(f"x{k}")),
        ]
    entry.insert(0, Let("unused", LitU32(0)))
    barrier = [node for node in entry if not isinstance(node, Store)] + [Barrier()]
    entry = barrier + [node for node in entry if isinstance(node, Store)]
    data = {f"b{k}": bytes((17 * k + 3 * n) % 256 for n in range(4 * t.stride)) for k, t in enumerate(wide)}
    return case(buffers, (4,), entry, inputs=data)


def bools() -> GeneratedProgram:
    """Any non-zero word loads as true, from every kind of buffer, and is stored as 1."""
    buffers = [
        BufferDecl.read("a", 0, DataType.Bool, count=4),
        BufferDecl.uniform("u", 1, DataType.Bool, count=4),
        BufferDecl.read_write("out", 2, DataType.Bool, count=4),
        BufferDecl.read_write("words", 3, DataType.U32, count=16),
        BufferDecl.workgroup("tile", DataType.Bool, 4),
    ]
    entry = [
        Let("old", Load("out", I)),
        Store("tile", I, Load("a", I)),
        Barrier(),
        Store("out", I, Load("u", I)),
        *[
            Store("words", I * 4 + k, Cast(DataType.U32, x))
            for k, x in enumerate([Load("a", I), Load("u", I), Var("old"), Load("tile", LitU32(3) - I)])
        ],
    ]
    return case(
        buffers, (4,), entry, a=words(0, 2, 0x80000000, 1), u=words(256, 0, 1, 0xFFFFFFFF),
        out=words(1 << 31, 0, 7, 0),
    )  # fmt: skip


def moves(t: DataType) -> Builder:
    """Float values move bit by bit: NaN payloads, subnormals and signs survive every detour."""

    def build() -> GeneratedProgram:
        values = SPECIALS[t]
        buffers = [
            BufferDecl.read("a", 0, t),
            BufferDecl.read_write("out", 1, t, count=6 * len(values)),
            BufferDecl.workgroup("tile", t, len(values)),
        ]
        x = Var("x")
        moved: list[Expr] = [x, Select(I % 2, x, Load("a", LitU32(0))), UnOp(UnaryOp.FNeg, x)]
        moved += [UnOp(UnaryOp.FAbs, x), Load("tile", LitU32(len(values) - 1) - L)]
        moved.append(x if t is DataType.F64 else Cast(t, Cast(DataType.U32, x)))
        entry: list[Node] = [Let("x", Load("a", I)), Store("tile", L, x), Barrier()]
        entry += [Store("out", I * 6 + k, value) for k, value in enumerate(moved)]
        data = b"".join(v.to_bytes(t.stride, "little") for v in values)
        return case(buffers, (len(values),), entry, a=data)

    return build
