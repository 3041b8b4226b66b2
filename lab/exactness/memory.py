"""Memory: bounds, atomics, order of effects, lengths, workgroup memory, barriers, halves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.exactness.build import I, L, case, words
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import (
    Atomic,
    BinOp,
    BufLen,
    Cast,
    Expr,
    Lane,
    Literal,
    LitU32,
    Load,
    MakeVec,
    Select,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.ir.node import Barrier, Block, If, Let, Loop, Node, Return, Store
from vyre.ir.operators import AtomicOp, BinaryOp, UnaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from lab.exactness.build import Builder
    from vyre.conform.generate.programs import GeneratedProgram

_OUTSIDE = (5, 6, 0x0FFFFFFF, 0x10000000, 0x20000000, 0x40000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
"""Indices past 5 elements; several become small again when an address is computed in 32 bits."""


def outside(t: DataType) -> Builder:
    """Loads and stores out of bounds, for storage, workgroup and uniform memory of one element type."""

    def build() -> GeneratedProgram:
        buffers = [
            BufferDecl.read("a", 0, t),
            BufferDecl.uniform("u", 1, t, count=5),
            BufferDecl.read_write("out", 2, t),
            BufferDecl.read_write("seen", 3, t, count=3 * len(_OUTSIDE)),
            BufferDecl.read("at", 4, DataType.U32),
            BufferDecl.workgroup("tile", t, 5),
        ]
        i = Var("i")
        entry: list[Node] = [
            Let("i", Load("at", I)),
            If(L < 5, (Store("tile", L, Load("a", L)),)),
            Barrier(),
            Store("tile", i, Load("a", LitU32(0))),
            Store("out", i, Load("a", LitU32(1))),
            Store("out", i + I, Load("a", LitU32(1))),
            Barrier(),
        ]
        entry += [Store("seen", I * 3 + k, Load(b, i)) for k, b in enumerate(["a", "u", "tile"])]
        entry.append(If(L < 5, (Store("out", L, Load("tile", L)),)))
        data = bytes((31 * n + 7) % 256 for n in range(5 * t.stride))
        return case(
        buffers, (len(_OUTSIDE),), entry, a=data, u=data, out=bytes(5 * t.stride),
            at=words(*_OUTSIDE), seen=bytes([0xEE]) * (3 * len(_OUTSIDE) * t.stride),
        )  # fmt: skip

    return build


def _atomic_value(op: AtomicOp, buffer: str, index: Expr, value: Expr) -> Atomic:
    if op is AtomicOp.CompareExchange:
        return Atomic(op, buffer, index, value, LitU32(7))
    return Atomic(op, buffer, index, value)


def atomics() -> GeneratedProgram:
    """All eight in storage and in workgroup memory: own slots, contended slots, and out of bounds."""
    ops, n = list(AtomicOp), 8
    buffers = [
        BufferDecl.read_write("own", 0, DataType.U32, count=n * len(ops)),
        BufferDecl.read_write("seen", 1, DataType.U32, count=3 * n * len(ops)),
        BufferDecl.read_write("common", 2, DataType.U32, count=6),
        BufferDecl.read_write("copy", 3, DataType.U32, count=n * len(ops) + 6),
        BufferDecl.workgroup("tile", DataType.U32, n * len(ops), atomic=True),
        BufferDecl.workgroup("shared", DataType.U32, 6, atomic=True),
    ]
    value = L * 0x2468ACE1 + 5
    entry: list[Node] = [Let("v", value)]
    for k, op in enumerate(ops):
        slot = L * len(ops) + k
        for place, buffer in enumerate(("own", "tile")):
            entry.append(Store("seen", slot * 3 + place, _atomic_value(op, buffer, slot, Var("v"))))
        far = _atomic_value(op, "own", LitU32(0x40000000) + slot, Var("v"))
        near = _atomic_value(op, "tile", LitU32(n * len(ops)) + slot, Var("v"))
        entry.append(Store("seen", slot * 3 + 2, far | near))
    for k, op in enumerate(ops[:6]):  # these commute
        entry += [Let(f"c{k}_{b}", _atomic_value(op, b, LitU32(k), Var("v"))) for b in ("common", "shared")]
    entry.append(Barrier())
    entry += [Store("copy", L * len(ops) + k, Load("tile", L * len(ops) + k)) for k in range(len(ops))]
    entry.append(If(L < 6, (Store("copy", L + n * len(ops), Load("shared", L)),)))
    own = words(*((7, 0, 0xFFFFFFFF, 5, 0x80000000, 9, 7, 7)[k % 8] for k in range(n * len(ops))))
    common = words(0, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)
    return case(buffers, (n,), entry, own=own, common=common)


def order() -> GeneratedProgram:
    """Operands are evaluated once, left to right: loads and atomics of one statement see each other."""

    def bump(amount: int) -> Expr:
        return Atomic(AtomicOp.Add, "cell", I, LitU32(amount))

    cell = Load("cell", I)
    values = [
        (cell * 1000 + bump(1)) * 1000 + cell,
        bump(2) - bump(3),
        Select(bump(4), bump(5), cell),
        BinOp(BinaryOp.And, bump(0), bump(6)) + cell * 2,
        MakeVec(DataType.Vec2U32, (cell, bump(7))).lane(0) + cell,
        Select(cell > 1000, LitU32(1), bump(8)),
        bump(1) + bump(1) * 16 + cell * 256,
    ]
    entry: list[Node] = [Store("out", I * len(values) + k, value) for k, value in enumerate(values)]
    entry += [
        Store("marks", bump(1) % 64, bump(1)),
        If(bump(1) % 2, (Store("cell", I, cell + 100),), (Store("cell", I, cell + 200),)),
        Loop("k", bump(1) % 4, cell % 4 + 3, (Let("ignored", bump(1)),)),
    ]
    buffers = [
        BufferDecl.read_write("cell", 0, DataType.U32, count=1),
        BufferDecl.read_write("out", 1, DataType.U32, count=len(values)),
        BufferDecl.read_write("marks", 2, DataType.U32, count=64),
    ]
    return case(buffers, (1,), entry, cell=words(3))


def lengths() -> GeneratedProgram:
    """`BufLen` of every kind: words of Bytes, odd counts of halves, no elements at all."""
    decls = [
        BufferDecl.read("text", 0, DataType.Bytes),
        BufferDecl.read("halves", 1, DataType.F16),
        BufferDecl.read("none", 2, DataType.U32),
        BufferDecl.uniform("wide", 3, DataType.U128),
        BufferDecl.read_write("empty", 4, DataType.Vec4U32),
        BufferDecl.workgroup("tile", DataType.BF16, 9),
    ]
    out = BufferDecl.read_write("out", 5, DataType.U32, count=11)
    values: list[Expr] = [BufLen(b.name) for b in decls]
    values += [Load("text", LitU32(1)), Load("none", LitU32(0)), Lane(Load("empty", LitU32(0)), 3)]
    values.append(
        Cast(DataType.U32, Load("halves", LitU32(6))) + Cast(DataType.U32, Load("halves", LitU32(7)))
    )
    entry: list[Node] = [Store("empty", LitU32(0), MakeVec(DataType.Vec4U32, [LitU32(1)] * 4))]
    entry += [Store("out", LitU32(k), value) for k, value in enumerate(values)]
    return case(
        [*decls, out], (1,), entry, text=bytes(range(12)), halves=bytes(range(14)), none=b"",
        wide=bytes(48), empty=b"",
    )  # fmt: skip


def zeroed() -> GeneratedProgram:
    """Workgroup memory starts as zeros in every workgroup, after others have filled it."""
    types = [DataType.U32, DataType.F16, DataType.Vec4U32, DataType.F64]
    buffers = [BufferDecl.workgroup(f"t{k}", t, 37) for k, t in enumerate(types)]
    buffers.append(BufferDecl.workgroup("tally", DataType.U32, 3, atomic=True))
    buffers.append(BufferDecl.read_write("out", 0, DataType.U32, count=6 * 8 * 4))
    slot = WorkgroupId(0) * 8 + L
    words: list[Expr] = [Load("t0", L * 4 + 1), Cast(DataType.U32, Load("t1", L * 3)), Lane(Load("t2", L), 3)]
    words.append(Atomic(AtomicOp.Add, "tally", LitU32(2), LitU32(1)) * 0 + Load("tally", LitU32(0)))
    entry: list[Node] = [Store("out", slot * 4 + k, word) for k, word in enumerate(words)]
    entry.append(Barrier())
    full = [LitU32(0xFFFFFFFF), Literal(DataType.F16, 0xFFFF), MakeVec(DataType.Vec4U32, [LitU32(9)] * 4)]
    full.append(Literal(DataType.F64, (1 << 64) - 1))
    fill: list[Node] = [Store(f"t{k}", Var("k"), value) for k, value in enumerate(full)]
    entry.append(If(L.eq(0), (Loop("k", LitU32(0), LitU32(37), fill),)))
    return case(buffers, (8,), entry, (6, 1, 1), out=bytes([0xEE]) * (6 * 8 * 4 * 4))


def barriers() -> GeneratedProgram:
    """Barriers in loops and branches that the whole workgroup takes: a scan, a turn at a time."""
    buffers = [
        BufferDecl.read("a", 0, DataType.U32, count=48),
        BufferDecl.uniform("rounds", 1, DataType.U32, count=1),
        BufferDecl.read_write("out", 2, DataType.U32, count=48),
        BufferDecl.workgroup("tile", DataType.U32, 16),
    ]
    step = LitU32(1) << Var("k")
    scan: list[Node] = [
        Let("left", Select(step <= L, Load("tile", L - step), LitU32(0))),
        Barrier(),
        Store("tile", L, Load("tile", L) + Var("left")),
        Barrier(),
    ]
    entry: list[Node] = [
        Store("tile", L, Load("a", I)),
        Barrier(),
        Loop("k", LitU32(0), Load("rounds", LitU32(0)), scan),
        If(
            WorkgroupId(0) % 2,
            (Let("x", Load("tile", LitU32(15) - L)), Barrier(), Store("tile", L, Var("x")), Barrier()),
            (Barrier(), Block((Barrier(),))),
        ),
        If(WorkgroupId(0).eq(2), (Return(),)),
        Barrier(),
        Store("out", I, Load("tile", L ^ 5)),
    ]
    data = words(*(k * k * 77 + 1 for k in range(48)))
    return case(buffers, (16,), entry, (3, 1, 1), a=data, rounds=words(4))


def halves() -> GeneratedProgram:
    """Invocations store adjacent halves at once, in storage and workgroup memory; odd counts."""
    buffers = [
        BufferDecl.read("a", 0, DataType.F16, count=65),
        BufferDecl.read_write("f", 1, DataType.F16, count=65),
        BufferDecl.read_write("b", 2, DataType.BF16),
        BufferDecl.workgroup("tile", DataType.BF16, 65),
    ]
    entry: list[Node] = [
        Let("bits", Cast(DataType.U32, Load("a", I))),
        Store("tile", L, Cast(DataType.BF16, Var("bits") * 3)),
        Store("f", I, UnOp(UnaryOp.FNeg, Load("a", LitU32(64) - I))),
        Barrier(),
        If(I.ne(13), (Store("b", I, Load("tile", LitU32(64) - L)),)),
    ]
    data = b"".join((0x7C01 + 997 * k & 0xFFFF).to_bytes(2, "little") for k in range(65))
    return case(buffers, (65,), entry, a=data, b=bytes([0xAB]) * 130)
