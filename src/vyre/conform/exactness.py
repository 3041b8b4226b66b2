"""Programs at the edges of the language, one per promise, with inputs: what every backend must get right.

`compare` runs one on a backend against the reference. Each is small, valid and free of races.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from vyre.conform.generate.inputs import SPECIALS
from vyre.conform.generate.programs import GeneratedProgram
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import (
    Atomic,
    BinOp,
    BufLen,
    Cast,
    Expr,
    InvocationId,
    Lane,
    LitBool,
    Literal,
    LitI32,
    LitU32,
    Load,
    LocalId,
    MakeVec,
    Select,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.ir.node import Assign, Barrier, Block, If, Let, Loop, Node, Return, Store
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS, AtomicOp, BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import FLOAT_TYPES, LANE_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, CastRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_T = DataType
_I = InvocationId(0)
_L = LocalId(0)
Grid = tuple[int, int, int]

_OUTSIDE = (5, 6, 0x0FFFFFFF, 0x10000000, 0x20000000, 0x40000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
"""Indices past 5 elements; several become small again when an address is computed in 32 bits."""

NAMES = (
    "target", "kernel", "global", "local", "void", "u32", "vec2", "uint", "int", "float", "half", "define",
    "switch", "fn", "var", "let", "return", "main", "vyre_main", "hidden", "threadIdx", "asm", "ptr",
    "barrier", "restrict", "sampler", "texture", "enable", "alias", "true", "len_a", "stop_k", "base_x",
)  # fmt: skip
"""Names that mean something in one of the languages, or to one of our emitters."""


def exactness_programs() -> dict[str, GeneratedProgram]:
    """Every program by the promise it keeps."""
    return {name: build(name) for name, build in _BUILDERS.items()}


def _case(
    name: str, buffers: Iterable[BufferDecl], size: Iterable[int], entry: Iterable[Node], grid: Grid = (1, 1, 1),
    **inputs: bytes,
) -> GeneratedProgram:  # fmt: skip
    del name
    return GeneratedProgram(0, Program(buffers, size, entry), inputs, grid)


def _words(*values: int) -> bytes:
    return b"".join(v.to_bytes(4, "little") for v in values)


def _words_of(value: Expr, t: DataType) -> list[Expr]:
    if t in LANE_TYPES:
        return [Lane(value, k) for k in range(t.lanes)]
    return [value if t is _T.U32 else Cast(_T.U32, value)]


def _operators(name: str) -> GeneratedProgram:
    """Wrapping, x/0, x%0, masked shifts, clz and ctz of 0, the high product: all pairs of special values."""
    pairs = list(product(SPECIALS[_T.U32][::2] + (32, 0xFFFFFFFF), repeat=2))
    a, b = Var("a"), Var("b")
    values: list[Expr] = [BinOp(op, a, b) for op in (*INTEGER_BINARY_OPS, BinaryOp.MulHi)]
    values += [UnOp(op, a) for op in INTEGER_UNARY_OPS]
    entry = [Let("a", Load("left", _I)), Let("b", Load("right", _I)), Let("at", _I * len(values))]
    entry += [Store("out", Var("at") + k, value) for k, value in enumerate(values)]
    buffers = [
        BufferDecl.read("left", 0, _T.U32),
        BufferDecl.read("right", 1, _T.U32),
        BufferDecl.read_write("out", 2, _T.U32, count=len(pairs) * len(values)),
    ]
    left, right = (_words(*(pair[k] for pair in pairs)) for k in range(2))
    return _case(name, buffers, (64,), entry, (-(-len(pairs) // 64), 1, 1), left=left, right=right)


def _literal_operands(name: str) -> GeneratedProgram:
    """The same operators over literals, which compilers fold, refuse or warn about."""
    pairs = [(0, 0), (7, 0), (1, 32), (1, 33), (0x80000000, 31), (0xFFFFFFFF, 0xFFFFFFFF), (5, 3)]
    values: list[Expr] = []
    for x, y in pairs:
        values += [BinOp(op, LitU32(x), LitU32(y)) for op in (*INTEGER_BINARY_OPS, BinaryOp.MulHi)]
        values += [UnOp(op, LitU32(x)) for op in INTEGER_UNARY_OPS]
    low = LitI32(-(1 << 31))
    values += [Cast(_T.U32, low), Cast(_T.U32, low * LitI32(-1)), Cast(_T.U32, -low), Cast(_T.U32, ~low)]
    values += [Select(LitBool(True), LitU32(1), LitU32(2)), Select(LitU32(0), LitU32(1), LitU32(2))]
    values += _words_of(Literal(_T.U128, 0x0123456789ABCDEFFEDCBA9876543210), _T.U128)
    entry = [Store("out", LitU32(k), value) for k, value in enumerate(values)]
    return _case(name, [BufferDecl.read_write("out", 0, _T.U32, count=len(values))], (1,), entry)


def _casts(source: DataType) -> Callable[[str], GeneratedProgram]:
    """Every cast of one type that does not round."""

    def build(name: str) -> GeneratedProgram:
        exact = [t for s, t in CAST_TABLE if s is source and t is not _T.Bytes and _exact(s, t)]
        words: list[Expr] = []
        for t in exact:
            if t is not _T.F64:
                words += _words_of(Cast(t, Var("x")), t)
        entry = [Let("x", Load("a", _I)), Let("at", _I * len(words))]
        entry += [Store("out", Var("at") + k, word) for k, word in enumerate(words)]
        lanes = source.lanes
        values = SPECIALS.get(source, SPECIALS[_T.U32])
        values = SPECIALS[_T.U32] if source is _T.Bool else values
        data = b"".join(
            values[(k + 7 * lane) % len(values)].to_bytes(source.stride // lanes, "little")
            for k in range(len(values))
            for lane in range(lanes)
        )
        out = BufferDecl.read_write("out", 1, _T.U32, count=len(values) * len(words))
        return _case(name, [BufferDecl.read("a", 0, source), out], (len(values),), entry, a=data)

    return build


def _exact(source: DataType, target: DataType) -> bool:
    return CAST_TABLE[source, target] not in (CastRule.Widen, CastRule.Round)


def _lanes(name: str) -> GeneratedProgram:
    """Lanes taken apart, mixed and put together; vectors through variables, selects and buffers."""
    wide = [_T.U64, _T.Vec2U32, _T.U128, _T.Vec4U32]
    buffers = [BufferDecl.read_write(f"b{k}", k, t, count=4) for k, t in enumerate(wide)]
    entry: list[Node] = []
    for k, t in enumerate(wide):
        swapped = MakeVec(t, [Lane(Var(f"x{k}"), t.lanes - 1 - lane) + lane for lane in range(t.lanes)])
        entry += [
            Let(f"x{k}", Load(f"b{k}", _I)),
            Assign(f"x{k}", Select(_I % 2, swapped, Var(f"x{k}"))),
            Store(f"b{k}", LitU32(3) - _I, Var(f"x{k}")),
        ]
    entry.insert(0, Let("unused", LitU32(0)))
    barrier = [node for node in entry if not isinstance(node, Store)] + [Barrier()]
    entry = barrier + [node for node in entry if isinstance(node, Store)]
    data = {f"b{k}": bytes((17 * k + 3 * n) % 256 for n in range(4 * t.stride)) for k, t in enumerate(wide)}
    return _case(name, buffers, (4,), entry, (1, 1, 1), **data)


def _bools(name: str) -> GeneratedProgram:
    """Any non-zero word loads as true, from every kind of buffer, and is stored as 1."""
    buffers = [
        BufferDecl.read("a", 0, _T.Bool, count=4),
        BufferDecl.uniform("u", 1, _T.Bool, count=4),
        BufferDecl.read_write("out", 2, _T.Bool, count=4),
        BufferDecl.read_write("words", 3, _T.U32, count=16),
        BufferDecl.workgroup("tile", _T.Bool, 4),
    ]
    entry = [
        Let("old", Load("out", _I)),
        Store("tile", _I, Load("a", _I)),
        Barrier(),
        Store("out", _I, Load("u", _I)),
        *[
            Store("words", _I * 4 + k, Cast(_T.U32, x))
            for k, x in enumerate([Load("a", _I), Load("u", _I), Var("old"), Load("tile", LitU32(3) - _I)])
        ],
    ]
    return _case(
        name, buffers, (4,), entry, a=_words(0, 2, 0x80000000, 1), u=_words(256, 0, 1, 0xFFFFFFFF),
        out=_words(1 << 31, 0, 7, 0),
    )  # fmt: skip


def _outside(t: DataType) -> Callable[[str], GeneratedProgram]:
    """Loads and stores out of bounds, for storage, workgroup and uniform memory of one element type."""

    def build(name: str) -> GeneratedProgram:
        buffers = [
            BufferDecl.read("a", 0, t),
            BufferDecl.uniform("u", 1, t, count=5),
            BufferDecl.read_write("out", 2, t),
            BufferDecl.read_write("seen", 3, t, count=3 * len(_OUTSIDE)),
            BufferDecl.read("at", 4, _T.U32),
            BufferDecl.workgroup("tile", t, 5),
        ]
        i = Var("i")
        entry: list[Node] = [
            Let("i", Load("at", _I)),
            If(_L < 5, (Store("tile", _L, Load("a", _L)),)),
            Barrier(),
            Store("tile", i, Load("a", LitU32(0))),
            Store("out", i, Load("a", LitU32(1))),
            Store("out", i + _I, Load("a", LitU32(1))),
            Barrier(),
        ]
        entry += [Store("seen", _I * 3 + k, Load(b, i)) for k, b in enumerate(["a", "u", "tile"])]
        entry.append(If(_L < 5, (Store("out", _L, Load("tile", _L)),)))
        data = bytes((31 * n + 7) % 256 for n in range(5 * t.stride))
        return _case(
            name, buffers, (len(_OUTSIDE),), entry, a=data, u=data, out=bytes(5 * t.stride),
            at=_words(*_OUTSIDE), seen=bytes([0xEE]) * (3 * len(_OUTSIDE) * t.stride),
        )  # fmt: skip

    return build


def _atomic_value(op: AtomicOp, buffer: str, index: Expr, value: Expr) -> Atomic:
    if op is AtomicOp.CompareExchange:
        return Atomic(op, buffer, index, value, LitU32(7))
    return Atomic(op, buffer, index, value)


def _atomics(name: str) -> GeneratedProgram:
    """All eight in storage and in workgroup memory: own slots, contended slots, and out of bounds."""
    ops, n = list(AtomicOp), 8
    buffers = [
        BufferDecl.read_write("own", 0, _T.U32, count=n * len(ops)),
        BufferDecl.read_write("seen", 1, _T.U32, count=3 * n * len(ops)),
        BufferDecl.read_write("common", 2, _T.U32, count=6),
        BufferDecl.read_write("copy", 3, _T.U32, count=n * len(ops) + 6),
        BufferDecl.workgroup("tile", _T.U32, n * len(ops), atomic=True),
        BufferDecl.workgroup("shared", _T.U32, 6, atomic=True),
    ]
    value = _L * 0x2468ACE1 + 5
    entry: list[Node] = [Let("v", value)]
    for k, op in enumerate(ops):
        slot = _L * len(ops) + k
        for place, buffer in enumerate(("own", "tile")):
            entry.append(Store("seen", slot * 3 + place, _atomic_value(op, buffer, slot, Var("v"))))
        far = _atomic_value(op, "own", LitU32(0x40000000) + slot, Var("v"))
        near = _atomic_value(op, "tile", LitU32(n * len(ops)) + slot, Var("v"))
        entry.append(Store("seen", slot * 3 + 2, far | near))
    for k, op in enumerate(ops[:6]):  # these commute
        entry += [Let(f"c{k}_{b}", _atomic_value(op, b, LitU32(k), Var("v"))) for b in ("common", "shared")]
    entry.append(Barrier())
    entry += [Store("copy", _L * len(ops) + k, Load("tile", _L * len(ops) + k)) for k in range(len(ops))]
    entry.append(If(_L < 6, (Store("copy", _L + n * len(ops), Load("shared", _L)),)))
    own = _words(*((7, 0, 0xFFFFFFFF, 5, 0x80000000, 9, 7, 7)[k % 8] for k in range(n * len(ops))))
    common = _words(0, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)
    return _case(name, buffers, (n,), entry, own=own, common=common)


def _order(name: str) -> GeneratedProgram:
    """Operands are evaluated once, left to right: loads and atomics of one statement see each other."""

    def bump(amount: int) -> Expr:
        return Atomic(AtomicOp.Add, "cell", _I, LitU32(amount))

    cell = Load("cell", _I)
    values = [
        (cell * 1000 + bump(1)) * 1000 + cell,
        bump(2) - bump(3),
        Select(bump(4), bump(5), cell),
        BinOp(BinaryOp.And, bump(0), bump(6)) + cell * 2,
        MakeVec(_T.Vec2U32, (cell, bump(7))).lane(0) + cell,
        Select(cell > 1000, LitU32(1), bump(8)),
        bump(1) + bump(1) * 16 + cell * 256,
    ]
    entry: list[Node] = [Store("out", _I * len(values) + k, value) for k, value in enumerate(values)]
    entry += [
        Store("marks", bump(1) % 64, bump(1)),
        If(bump(1) % 2, (Store("cell", _I, cell + 100),), (Store("cell", _I, cell + 200),)),
        Loop("k", bump(1) % 4, cell % 4 + 3, (Let("ignored", bump(1)),)),
    ]
    buffers = [
        BufferDecl.read_write("cell", 0, _T.U32, count=1),
        BufferDecl.read_write("out", 1, _T.U32, count=len(values)),
        BufferDecl.read_write("marks", 2, _T.U32, count=64),
    ]
    return _case(name, buffers, (1,), entry, cell=_words(3))


def _lengths(name: str) -> GeneratedProgram:
    """`BufLen` of every kind: words of Bytes, odd counts of halves, no elements at all."""
    decls = [
        BufferDecl.read("text", 0, _T.Bytes),
        BufferDecl.read("halves", 1, _T.F16),
        BufferDecl.read("none", 2, _T.U32),
        BufferDecl.uniform("wide", 3, _T.U128),
        BufferDecl.read_write("empty", 4, _T.Vec4U32),
        BufferDecl.workgroup("tile", _T.BF16, 9),
    ]
    out = BufferDecl.read_write("out", 5, _T.U32, count=10)
    values: list[Expr] = [BufLen(b.name) for b in decls]
    values += [Load("text", LitU32(1)), Load("none", LitU32(0)), Lane(Load("empty", LitU32(0)), 3)]
    values.append(Cast(_T.U32, Load("halves", LitU32(6))) + Cast(_T.U32, Load("halves", LitU32(7))))
    entry: list[Node] = [Store("empty", LitU32(0), MakeVec(_T.Vec4U32, [LitU32(1)] * 4))]
    entry += [Store("out", LitU32(k), value) for k, value in enumerate(values)]
    return _case(
        name, [*decls, out], (1,), entry, text=bytes(range(12)), halves=bytes(range(14)), none=b"",
        wide=bytes(48), empty=b"",
    )  # fmt: skip


def _zeroed(name: str) -> GeneratedProgram:
    """Workgroup memory starts as zeros in every workgroup, after others have filled it."""
    types = [_T.U32, _T.F16, _T.Vec4U32, _T.F64]
    buffers = [BufferDecl.workgroup(f"t{k}", t, 37) for k, t in enumerate(types)]
    buffers.append(BufferDecl.workgroup("tally", _T.U32, 3, atomic=True))
    buffers.append(BufferDecl.read_write("out", 0, _T.U32, count=6 * 8 * 4))
    slot = WorkgroupId(0) * 8 + _L
    words: list[Expr] = [Load("t0", _L * 4 + 1), Cast(_T.U32, Load("t1", _L * 3)), Lane(Load("t2", _L), 3)]
    words.append(Atomic(AtomicOp.Add, "tally", LitU32(2), LitU32(1)) * 0 + Load("tally", LitU32(0)))
    entry: list[Node] = [Store("out", slot * 4 + k, word) for k, word in enumerate(words)]
    entry.append(Barrier())
    full = [LitU32(0xFFFFFFFF), Literal(_T.F16, 0xFFFF), MakeVec(_T.Vec4U32, [LitU32(9)] * 4)]
    full.append(Literal(_T.F64, (1 << 64) - 1))
    fill: list[Node] = [Store(f"t{k}", Var("k"), value) for k, value in enumerate(full)]
    entry.append(If(_L.eq(0), (Loop("k", LitU32(0), LitU32(37), fill),)))
    return _case(name, buffers, (8,), entry, (6, 1, 1), out=bytes([0xEE]) * (6 * 8 * 4 * 4))


def _barriers(name: str) -> GeneratedProgram:
    """Barriers in loops and branches that the whole workgroup takes: a scan, a turn at a time."""
    buffers = [
        BufferDecl.read("a", 0, _T.U32, count=48),
        BufferDecl.uniform("rounds", 1, _T.U32, count=1),
        BufferDecl.read_write("out", 2, _T.U32, count=48),
        BufferDecl.workgroup("tile", _T.U32, 16),
    ]
    step = LitU32(1) << Var("k")
    scan: list[Node] = [
        Let("left", Select(_L >= step, Load("tile", _L - step), LitU32(0))),
        Barrier(),
        Store("tile", _L, Load("tile", _L) + Var("left")),
        Barrier(),
    ]
    entry: list[Node] = [
        Store("tile", _L, Load("a", _I)),
        Barrier(),
        Loop("k", LitU32(0), Load("rounds", LitU32(0)), scan),
        If(
            WorkgroupId(0) % 2,
            (Let("x", Load("tile", LitU32(15) - _L)), Barrier(), Store("tile", _L, Var("x")), Barrier()),
            (Barrier(), Block((Barrier(),))),
        ),
        If(WorkgroupId(0).eq(2), (Return(),)),
        Barrier(),
        Store("out", _I, Load("tile", _L ^ 5)),
    ]
    data = _words(*(k * k * 77 + 1 for k in range(48)))
    return _case(name, buffers, (16,), entry, (3, 1, 1), a=data, rounds=_words(4))


def _halves(name: str) -> GeneratedProgram:
    """Invocations store adjacent halves at once, in storage and workgroup memory; odd counts."""
    buffers = [
        BufferDecl.read("a", 0, _T.F16, count=65),
        BufferDecl.read_write("f", 1, _T.F16, count=65),
        BufferDecl.read_write("b", 2, _T.BF16),
        BufferDecl.workgroup("tile", _T.BF16, 65),
    ]
    entry: list[Node] = [
        Let("bits", Cast(_T.U32, Load("a", _I))),
        Store("tile", _L, Cast(_T.BF16, Var("bits") * 3)),
        Store("f", _I, UnOp(UnaryOp.FNeg, Load("a", LitU32(64) - _I))),
        Barrier(),
        If(_I.ne(13), (Store("b", _I, Load("tile", LitU32(64) - _L)),)),
    ]
    data = b"".join((0x7C01 + 997 * k & 0xFFFF).to_bytes(2, "little") for k in range(65))
    return _case(name, buffers, (65,), entry, a=data, b=bytes([0xAB]) * 130)


def _moves(t: DataType) -> Callable[[str], GeneratedProgram]:
    """Float values move bit by bit: NaN payloads, subnormals and signs survive every detour."""

    def build(name: str) -> GeneratedProgram:
        values = SPECIALS[t]
        buffers = [
            BufferDecl.read("a", 0, t),
            BufferDecl.read_write("out", 1, t, count=6 * len(values)),
            BufferDecl.workgroup("tile", t, len(values)),
        ]
        x = Var("x")
        moved: list[Expr] = [x, Select(_I % 2, x, Load("a", LitU32(0))), UnOp(UnaryOp.FNeg, x)]
        moved += [UnOp(UnaryOp.FAbs, x), Load("tile", LitU32(len(values) - 1) - _L)]
        moved.append(x if t is _T.F64 else Cast(t, Cast(_T.U32, x)))
        entry: list[Node] = [Let("x", Load("a", _I)), Store("tile", _L, x), Barrier()]
        entry += [Store("out", _I * 6 + k, value) for k, value in enumerate(moved)]
        data = b"".join(v.to_bytes(t.stride, "little") for v in values)
        return _case(name, buffers, (len(values),), entry, a=data)

    return build


def _returns(name: str) -> GeneratedProgram:
    """Invocations that return early, from branches and loops, write nothing more."""
    buffers = [BufferDecl.read_write("out", 0, _T.U32, count=32)]
    turn: list[Node] = [
        Store("out", _I, Load("out", _I) + Var("k") + 1),
        If(Var("k").eq(_I % 5), (If(_I % 3, (Return(),)),)),
    ]
    entry: list[Node] = [
        If((_I & 8).ne(0), (Store("out", _I, LitU32(77)), Return())),
        Loop("k", LitU32(0), LitU32(4), turn),
        Store("out", _I, Load("out", _I) + 1000),
    ]
    return _case(name, buffers, (8,), entry, (4, 1, 1))


def _nested(name: str) -> GeneratedProgram:
    """64 Ifs inside each other, the limit of V018."""
    body: tuple[Node, ...] = (Assign("x", Var("x") + 1000),)
    for level in range(64, 0, -1):
        step: Node = Assign("x", Var("x") * 3 + level)
        body = (If(Load("a", _I) >= level, (step, *body), (Assign("x", Var("x") ^ level),)),)
    # The innermost statement stands inside 64 Ifs; `body` is the outermost one.
    entry: list[Node] = [Let("x", _I), *body, Store("out", _I, Var("x"))]
    depths = (0, 1, 31, 32, 62, 63, 64, 65)
    buffers = [BufferDecl.read("a", 0, _T.U32), BufferDecl.read_write("out", 1, _T.U32, count=8)]
    return _case(name, buffers, (8,), entry, a=_words(*depths))


def _deep(name: str) -> GeneratedProgram:
    """Expressions of 1,024 levels, leaning to the left and to the right; deep conditions, bounds, indices."""
    ops = (BinaryOp.Add, BinaryOp.BitXor, BinaryOp.Mul, BinaryOp.MulHi, BinaryOp.Sub)

    def chain(levels: int, *, left: bool) -> Expr:
        x: Expr = Var("x")
        while x.depth < levels:
            operands = (x, LitU32(x.depth | 1))
            x = BinOp(ops[x.depth % 5], *(operands if left else operands[::-1]))
        return x

    entry: list[Node] = [
        Let("x", Load("out", _I)),
        Assign("x", chain(1_024, left=True)),
        Store("out", _I, chain(1_024, left=False)),
        If(chain(70, left=True) > 0x80000000, (Store("out", _I + 4, Var("x")),)),
        Loop("k", chain(40, left=False) % 3, chain(70, left=False) % 3 + 2, (Assign("x", Var("x") + 1),)),
        Store("out", chain(70, left=False) % 1 + _I + 8, Var("x")),
    ]
    return _case(
        name, [BufferDecl.read_write("out", 0, _T.U32, count=12)], (4,), entry,
        out=_words(*range(100, 112)),
    )  # fmt: skip


def _loops(name: str) -> GeneratedProgram:
    """Bounds at the end of u32, empty and reversed ranges, bounds that change inside, 70,000 turns."""
    count: Node = Assign("n", Var("n") * 31 + 1)
    last = LitU32(0xFFFFFFFF)
    ranges = [(last - 5, last), (last, last), (last, LitU32(0)), (LitU32(3), LitU32(2)), (LitU32(0), LitU32(3))]
    entry: list[Node] = [Let("n", LitU32(1))]
    for number, (start, stop) in enumerate(ranges):
        body = (count, Assign("n", Var("n") ^ Var(f"k{number}")))
        entry += [Loop(f"k{number}", start, stop, body), Store("out", LitU32(number), Var("n"))]
    entry += [
        Let("end", LitU32(4)),
        Loop("j", LitU32(0), Var("end"), (Assign("end", Var("end") + 5), count)),
        Store("out", LitU32(5), Var("n") + Var("end")),
        Loop("m", LitU32(0), LitU32(70_000), (count,)),
        Store("out", LitU32(6), Var("n")),
    ]
    return _case(name, [BufferDecl.read_write("out", 0, _T.U32, count=7)], (1,), entry)


def _ids(name: str) -> GeneratedProgram:
    """Ids along three axes, and InvocationId = WorkgroupId * size + LocalId."""
    size, grid = (2, 3, 2), (3, 2, 2)
    x, y = size[0] * grid[0], size[1] * grid[1]
    linear = InvocationId(0) + InvocationId(1) * x + InvocationId(2) * (x * y)
    ids = [kind(axis) for kind in (InvocationId, WorkgroupId, LocalId) for axis in range(3)]
    packed: Expr = LitU32(0)
    for part in ids:
        packed = packed * 7 + part
    buffers = [BufferDecl.read_write("out", 0, _T.U32, count=x * y * size[2] * grid[2])]
    return _case(name, buffers, size, [Store("out", linear, packed)], grid)


def _long_grid(axis: int) -> Callable[[str], GeneratedProgram]:
    """More than 65,535 workgroups along one axis."""

    def build(name: str) -> GeneratedProgram:
        grid = (1, 1, 1)[:axis] + (65_539,) + (1, 1, 1)[axis + 1 :]
        at = WorkgroupId(axis)
        buffers = [BufferDecl.read_write("out", 0, _T.U32, count=65_539)]
        return _case(name, buffers, (1,), [Store("out", at, InvocationId(axis) ^ at << 3)], grid)

    return build


def _keywords(name: str) -> GeneratedProgram:
    """Buffers and variables whose names mean something elsewhere; a name used again in a later scope."""
    buffers = [BufferDecl.read_write(n, k, _T.U32, count=1) for k, n in enumerate(NAMES[:6])]
    total: Expr = LitU32(0)
    entry: list[Node] = []
    for k, n in enumerate(NAMES[6:]):
        entry.append(Let(n, Load(NAMES[k % 6], LitU32(0)) + k))
        total = total * 3 + Var(n)
    entry += [Block((Let("again", total), Store(NAMES[0], LitU32(0), Var("again"))))]
    entry += [Block((Let("again", LitU32(5)), Store(NAMES[1], LitU32(0), Var("again"))))]
    entry += [Loop("again", LitU32(0), LitU32(3), (Store(NAMES[2], LitU32(0), Var("again") + total),))]
    return _case(name, buffers, (1,), entry, **{n: _words(k + 1) for k, n in enumerate(NAMES[:6])})


_BUILDERS: dict[str, Callable[[str], GeneratedProgram]] = {
    "operators": _operators,
    "literal operands": _literal_operands,
    **{f"casts of {t.value}": _casts(t) for t in _T if t not in (_T.Bytes, _T.F64)},
    "lanes": _lanes,
    "bools": _bools,
    **{f"out of bounds {t.value}": _outside(t) for t in (_T.U32, _T.F16, _T.U64, _T.Vec4U32, _T.Bool)},
    "atomics": _atomics,
    "order of effects": _order,
    "lengths": _lengths,
    "zeroed workgroup memory": _zeroed,
    "barriers": _barriers,
    "halves": _halves,
    **{f"moves of {t.value}": _moves(t) for t in sorted(FLOAT_TYPES, key=lambda t: t.value)},
    "early returns": _returns,
    "64 nested ifs": _nested,
    "deep expressions": _deep,
    "loops": _loops,
    "ids": _ids,
    **{f"long grid along {'xyz'[axis]}": _long_grid(axis) for axis in range(3)},
    "keywords": _keywords,
}
