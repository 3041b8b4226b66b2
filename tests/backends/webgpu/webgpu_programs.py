"""One small program for each thing that must be exact, with its inputs and its grid."""

from __future__ import annotations

import itertools
import struct
from typing import TYPE_CHECKING

from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BinOp,
    Block,
    BufferDecl,
    BufLen,
    DataType,
    If,
    InvocationId,
    Lane,
    Let,
    LitBool,
    Literal,
    LitI32,
    LitU32,
    Load,
    LocalId,
    Loop,
    MakeVec,
    Node,
    Program,
    Return,
    Select,
    UnaryOp,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS
from vyre.ir.types import FLOAT_TYPES
from vyre.ir.typing import CAST_TABLE, CastRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vyre.ir import Expr

Case = tuple[Program, dict[str, bytes], tuple[int, int, int]]

T = DataType
I = InvocationId(0)  # noqa: E741
EDGES = (0, 1, 2, 31, 32, 33, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)
BITS = bytes((37 * i * i + 11 * i + 129) & 0xFF for i in range(256))
"""Bytes without a pattern, of which some make NaNs with payloads."""


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def _out(element: DataType = T.U32, *, count: int = 0) -> BufferDecl:
    return BufferDecl.read_write("out", 0, element, count=count)


def binary_operators() -> Case:
    ops = INTEGER_BINARY_OPS
    pairs = list(itertools.product(EDGES, EDGES))
    a, b = BufferDecl.read("a", 1, T.U32), BufferDecl.read("b", 2, T.U32)
    out = _out()
    entry = [out.store(I * len(ops) + k, BinOp(op, a[I], b[I])) for k, op in enumerate(ops)]
    inputs = {"a": words(*(p[0] for p in pairs)), "b": words(*(p[1] for p in pairs))}
    inputs["out"] = bytes(4 * len(pairs) * len(ops))
    return Program([out, a, b], (16,), entry), inputs, (-(-len(pairs) // 16), 1, 1)


def unary_operators() -> Case:
    ops = INTEGER_UNARY_OPS
    a, out = BufferDecl.read("a", 1, T.U32), _out()
    entry = [out.store(I * len(ops) + k, UnOp(op, a[I])) for k, op in enumerate(ops)]
    values = (*EDGES, *(1 << k for k in range(32)))
    return (
        Program([out, a], (8,), entry),
        {"a": words(*values), "out": bytes(4 * len(values) * len(ops))},
        (-(-len(values) // 8), 1, 1),
    )


def operators_on_literals() -> Case:
    """Nothing but constants: what a compiler would fold, and might refuse to."""
    out = _out()
    values: list[Expr] = []
    few = (0, 1, 33, 0xFFFFFFFF)
    for op in INTEGER_BINARY_OPS:
        values += [BinOp(op, LitU32(a), LitU32(b)) for a, b in itertools.product(few, few)]
    for op in INTEGER_UNARY_OPS:
        values += [UnOp(op, LitU32(a)) for a in few]
    for a in few:
        pair = MakeVec(T.Vec2U32, (LitU32(a), LitU32(7)))
        values += [
            LitBool(True).cast(T.U32) + a,
            Lane(pair, 0) << 33,
            Select(LitU32(a), LitU32(a), LitU32(3)) * 0xFFFFFFFF,
            UnOp(UnaryOp.Negate, LitI32(-(2**31))).cast(T.U32),
            ((LitU32(a) << 31) + (LitU32(a) << 1)) << a,
            BufLen("fixed") - 100,
            -Literal(T.U64, a << 32 | 5).cast(T.U32),
        ]
    fixed = BufferDecl.read("fixed", 1, T.U32, count=3)
    entry: list[Node] = [out.store(k, value) for k, value in enumerate(values)]
    entry += [If(LitU32(1) << 32, [out.store(0, LitU32(9))]), Loop("k", LitU32(5) - 6, LitU32(3) * 7, [])]
    return Program([out, fixed], (1,), entry), {"out": bytes(4 * len(values)), "fixed": bytes(12)}, (1, 1, 1)


def casts(source: DataType, targets: Sequence[DataType]) -> Case:
    data = BufferDecl.read("data", 0, source)
    outs = [BufferDecl.read_write(f"out{k}", k + 1, t) for k, t in enumerate(targets)]
    count = len(BITS) // source.stride
    entry = [o.store(I, data[I].cast(o.element)) for o in outs]
    inputs = {o.name: bytes(count * o.element.stride) for o in outs} | {"data": BITS}
    return Program([data, *outs], (16,), entry), inputs, (-(-count // 16), 1, 1)


def cast_cases() -> Iterator[tuple[str, Case]]:
    """Every cast that moves bits, at most six to a program, for the sake of binding limits."""
    for source in DataType:
        targets = [
            t
            for (s, t), rule in CAST_TABLE.items()
            if s is source and T.Bytes not in (s, t) and rule not in (CastRule.Round, CastRule.Widen)
        ]
        for part in range(0, len(targets), 6):
            yield f"casts of {source.value} {part}", casts(source, targets[part : part + 6])


def lanes() -> Case:
    wide = (T.U64, T.U128, T.Vec2U32, T.Vec4U32)
    buffers = [BufferDecl.read_write(f"out_{t.value}", k, t) for k, t in enumerate(wide)]
    low = BufferDecl.read_write("low", 4, T.U32)
    entry: list[Node] = []
    for k, (t, b) in enumerate(zip(wide, buffers, strict=True)):
        reverse = [Lane(b[I], i) for i in reversed(range(t.lanes))]
        entry += [low.store(I * 4 + k, Lane(b[I], t.lanes - 1)), b.store(I, MakeVec(t, reverse))]
    inputs = {b.name: BITS[: 8 * b.element.stride] for b in buffers} | {"low": bytes(128)}
    return Program([*buffers, low], (4,), entry), inputs, (2, 1, 1)


def bools() -> Case:
    raw = BufferDecl.read("raw", 1, T.Bool)
    out, count = BufferDecl.read_write("out", 0, T.Bool), BufferDecl.read_write("count", 2, T.U32)
    tile = BufferDecl.workgroup("tile", T.Bool, 8)
    entry = [
        tile.store(I, raw[I]),
        Barrier(),
        count.store(I, raw[I].cast(T.U32) + Load("tile", 7 - I).cast(T.U32)),
        out.store(I, Select(raw[I], LitBool(False), LitBool(True))),
    ]
    inputs = {
        "raw": words(0, 1, 2, 255, 256, 0x80000000, 0xFFFFFFFF, 0),
        "out": bytes(32),
        "count": bytes(32),
    }
    return Program([out, raw, count, tile], (8,), entry), inputs, (1, 1, 1)


def bounds(element: DataType) -> Case:
    """Loads, stores and lengths at and far beyond the end, in every kind of memory."""
    out = _out(element)
    uniform = BufferDecl.uniform("uniform", 1, element, count=5)
    tile = BufferDecl.workgroup("tile", element, 3)
    at = BufferDecl.read("at", 2, T.U32)
    index = at[I]
    entry = [
        tile.store(index, Load("uniform", index)),
        Barrier(),
        out.store(index, Load("tile", index)),
        out.store(I, Load("uniform", index)),
        out.store(I + 8, Load("out", index + 0x7FFFFFF0)),
        out.store(I + BufLen("out"), Load("uniform", I % 5)),
        If(I.eq(0), [out.store(20, Load("tile", BufLen("tile") - 1))]),
    ]
    size = element.stride
    inputs = {"uniform": BITS[: 5 * size], "out": BITS[: 21 * size][::-1]}
    inputs["at"] = words(2, 3, 4, 5, 21, 22, 0x80000000, 0xFFFFFFFF)
    return Program([out, uniform, at, tile], (8,), entry), inputs, (1, 1, 1)


def lengths() -> Case:
    out = _out()
    half = BufferDecl.read("half", 1, T.F16)
    raw = BufferDecl.read("raw", 2, T.Bytes)
    empty = BufferDecl.read_write("empty", 3, T.Vec4U32)
    odd = BufferDecl.read("odd", 4, T.BF16, count=7)
    names = ("half", "raw", "empty", "odd", "out")
    entry: list[Node] = [out.store(k, BufLen(n)) for k, n in enumerate(names)]
    zero = MakeVec(T.Vec4U32, (LitU32(1),) * 4)
    entry += [empty.store(0, zero), out.store(5, Lane(empty[0], 0)), out.store(6, raw[2])]
    entry += [
        out.store(7, half[4].cast(T.U32)),
        out.store(8, half[5].cast(T.U32)),
        out.store(9, odd[6].cast(T.U32)),
    ]
    inputs = {"out": b"\7" * 40, "half": BITS[:10], "raw": BITS[:12], "empty": b"", "odd": BITS[40:54]}
    return Program([out, half, raw, empty, odd], (1,), entry), inputs, (1, 1, 1)


def half_stores(element: DataType) -> Case:
    """64 invocations write neighbouring halves again and again; the count is odd."""
    out = _out(element)
    keep = Let("old", out[I])
    body: list[Node] = [
        out.store(I, (Var("k") * 771 + I * 3).cast(element)),
        If((Var("k") % 3).eq(1), [out.store(I, Var("old"))]),
    ]
    entry = [keep, Loop("k", LitU32(0), LitU32(31), body)]
    return Program([out], (64,), entry), {"out": BITS[:250]}, (2, 1, 1)


def float_bits(element: DataType) -> Case:
    data, out = BufferDecl.read("data", 0, element), BufferDecl.read_write("out", 1, element)
    tile = BufferDecl.workgroup("tile", element, 8)
    entry = [
        Let("x", data[I]),
        tile.store(LocalId(0), UnOp(UnaryOp.FNeg, Var("x"))),
        Barrier(),
        out.store(I * 4, Var("x")),
        out.store(I * 4 + 1, Load("tile", LocalId(0))),
        out.store(I * 4 + 2, UnOp(UnaryOp.FAbs, Load("tile", 7 - LocalId(0)))),
        out.store(I * 4 + 3, Select(I % 2, Var("x"), Literal(element, (1 << element.bits) - 2))),
    ]
    count = 256 // element.stride // 8 * 8
    inputs = {"data": BITS, "out": bytes(4 * count * element.stride)}
    return Program([data, out, tile], (8,), entry), inputs, (count // 8, 1, 1)


def atomics() -> Case:
    out = _out()
    bins = BufferDecl.workgroup("bins", T.U32, 8, atomic=True)
    entry: list[Node] = []
    for k, op in enumerate(o for o in AtomicOp if o is not AtomicOp.CompareExchange):
        value = LitU32(77) if op is AtomicOp.Exchange else I * 0x01010101 ^ 0x80000000
        entry.append(Let(f"a{k}", Atomic(op, "out", LitU32(k), value)))
        local = LitU32(5) if op is AtomicOp.Exchange else LocalId(0) * 0x11
        entry.append(Let(f"b{k}", Atomic(op, "bins", LitU32(k), local)))
    entry += [
        Let("c", Atomic(AtomicOp.CompareExchange, "out", LitU32(7), LitU32(9), LitU32(5))),
        If(Var("c").eq(5), [Let("won", Atomic(AtomicOp.Add, "out", LitU32(8), LitU32(1)))]),
        Let("d", Atomic(AtomicOp.CompareExchange, "bins", LitU32(7), LitU32(9), LitU32(0))),
        If(Var("d").eq(0), [Let("w", Atomic(AtomicOp.Add, "out", LitU32(9), LitU32(1)))]),
        Barrier(),
        If(LocalId(0) < 8, [out.store(10 + WorkgroupId(0) * 8 + LocalId(0), Load("bins", LocalId(0)))]),
    ]
    start = words(1, 2, 0xFFFFFFFF, 4, 0xFFFFFFFF, 0, 7, 5, 0, 0) + bytes(64)
    return Program([out, bins], (32,), entry), {"out": start}, (2, 1, 1)


def order_of_effects() -> Case:
    out = _out()

    def bump(value: int) -> Expr:
        return Atomic(AtomicOp.Add, "out", LitU32(0), LitU32(value))

    entry = [
        out.store(bump(1) + 1, bump(10) * 1000 + Load("out", LitU32(0))),
        Let("x", Load("out", LitU32(0)) * 7 + bump(100)),
        out.store(2, Var("x")),
        out.store(3, Select(bump(3).eq(0), bump(5), Load("out", LitU32(0)))),
        If(bump(2) < 50, [out.store(4, LitU32(1))], [out.store(4, bump(50))]),
    ]
    return Program([out], (1,), entry), {"out": bytes(32)}, (1, 1, 1)


def loops() -> Case:
    out = _out()
    entry = [
        Let("n", LitU32(0)),
        Loop("k", LitU32(0xFFFFFFFA), LitU32(0xFFFFFFFF), [Assign("n", Var("n") * 3 + Var("k"))]),
        Loop("k", LitU32(5), LitU32(5), [Assign("n", LitU32(0))]),
        Loop("k", LitU32(0xFFFFFFFF), I, [Assign("n", LitU32(0))]),
        Let("stop", I + 2),
        Loop("k", I, Var("stop"), [Assign("stop", LitU32(0)), Assign("n", Var("n") + 100)]),
        out.store(I, Var("n")),
    ]
    return Program([out], (4,), entry), {"out": bytes(16)}, (1, 1, 1)


def early_returns() -> Case:
    out = _out()
    inner = [If(Var("k").eq(I), [out.store(I + 16, Var("k")), Return()]), out.store(I, Var("k") + 1)]
    entry = [
        If(I.eq(3), [Return()]),
        Block([If(I.eq(5), [out.store(5, LitU32(55)), Return(), out.store(5, LitU32(0))])]),
        Loop("k", LitU32(2), LitU32(9), inner),
        If(I > 9, [Return()], [out.store(I, LitU32(1000)), Return()]),
        out.store(0, LitU32(1)),
    ]
    return Program([out], (16,), entry), {"out": bytes(128)}, (1, 1, 1)


_WORDS = ("fn", "var", "let", "struct", "loop", "u32", "vec2", "main", "vyre_main", "select", "lit", "hidden")
_MORE_WORDS = ("lane", "group", "local_x", "array", "target", "atomic", "uint", "stop_k", "i", "v")


def keyword_names() -> Case:
    """Names that mean something in WGSL, C, or the emitted text itself."""
    out = _out()
    named = [BufferDecl.workgroup(w, T.U32, 2) for w in _WORDS[:6]]
    named += [BufferDecl.workgroup(w, T.U32, 2) for w in ("load_out", "out_1", "len_out", "base_x", "i", "v")]
    entry: list[Node] = [Let("sum", LitU32(1))]
    for word in (*_WORDS, *_MORE_WORDS):
        entry += [Let(word, Var("sum") + 3), Assign("sum", Var(word) * 5)]
    entry += [n for b in named for n in (b.store(0, Var("sum")), Assign("sum", b[0] + b[1] + BufLen(b.name)))]
    entry += [Loop("return", LitU32(0), LitU32(2), [Assign("sum", Var("sum") + Var("return"))])]
    return Program([out, *named], (1,), [*entry, out.store(0, Var("sum"))]), {"out": bytes(4)}, (1, 1, 1)


def ids(grid: tuple[int, int, int] = (2, 2, 2)) -> Case:
    out = _out()
    row, plane = 3 * grid[0], 6 * grid[0] * grid[1]
    linear = InvocationId(0) + InvocationId(1) * row + InvocationId(2) * plane
    kinds = (InvocationId, WorkgroupId, LocalId)
    entry = [
        out.store(linear * 9 + 3 * k + axis, kind(axis)) for k, kind in enumerate(kinds) for axis in range(3)
    ]
    return Program([out], (3, 2, 2), entry), {"out": bytes(4 * 9 * plane * 2 * grid[2])}, grid


def cases() -> dict[str, Case]:
    plain: tuple[Callable[[], Case], ...] = (
        binary_operators,
        unary_operators,
        operators_on_literals,
        lanes,
        bools,
        lengths,
        atomics,
        order_of_effects,
        loops,
        early_returns,
        keyword_names,
        ids,
    )
    found = {make.__name__.replace("_", " "): make() for make in plain}
    found |= dict(cast_cases())
    found |= {f"bounds of {t.value}": bounds(t) for t in DataType if t is not T.Bytes}
    found |= {f"stores of {t.value}": half_stores(t) for t in (T.F16, T.BF16)}
    found |= {f"bits of {t.value}": float_bits(t) for t in sorted(FLOAT_TYPES, key=lambda t: t.value)}
    return found
