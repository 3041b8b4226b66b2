"""The programs behind the canaries: small, quick, and each wrong on some device that was seen or feared.

Operands come from buffers, so that no compiler folds what the device should compute. Expected words
are written down, not computed, and the tests hold them against the reference.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from vyre.backends.canaries.features import (
    has_bound_buffer,
    has_expression,
    has_operator,
    has_statement,
    has_stores_of,
    has_workgroup_memory,
)
from vyre.compose.inline import inline
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BinaryOp,
    BufferDecl,
    Call,
    DataType,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Node,
    Program,
    Var,
)
from vyre.ir.expr import BinOp, mul_hi
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.canaries.features import Uses
    from vyre.ir import Expr

_MAX = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Canary:
    """A program over u32 buffers with the words that must be in `out` after it.

    `uses` says whether a program needs the feature that the canary watches; None for a canary that is
    recorded only, because no lowering relies on it.
    """

    name: str
    feature: str
    written: Callable[[], Program]
    inputs: dict[str, tuple[int, ...]]
    workgroups: int
    expected: tuple[int, ...]
    uses: Uses | None

    @property
    def program(self) -> Program:
        """Without calls. It is built, and the ops that it calls are loaded, when it is run."""
        return inline(self.written())


def words(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


_OUT = BufferDecl.read_write("out", 0, DataType.U32)
_IN = BufferDecl.read("data", 1, DataType.U32)
_I = InvocationId(0)


def _mix(value: Expr, count: Expr) -> Expr:
    """A step that no compiler sums up in closed form."""
    return (value ^ (value >> 15)) * 0x2C1B3C6D + count


def _long_loops() -> Canary:
    def written() -> Program:
        entry = [
            Let("x", _IN[0]),
            Loop("i", LitU32(0), _IN[1], [Assign("x", _mix(Var("x"), Var("i")))]),
            _OUT.store(0, Var("x")),
            Loop(
                "i",
                LitU32(0),
                _IN[2],
                [Loop("j", LitU32(0), _IN[2], [Assign("x", _mix(Var("x"), Var("j")))])],
            ),
            _OUT.store(1, Var("x")),
        ]
        return Program([_OUT, _IN], (1,), entry)

    return Canary(
        "long loops",
        "loops",
        written,
        {"out": (0, 0), "data": (1, 70_000, 260)},
        1,
        (0x55F0A6EE, 0x9883C6F8),
        has_statement(Loop),
    )


def _storage_bounds() -> Canary:
    def written() -> Program:
        entry = [
            Let("at", _IN[_I]),
            _OUT.store(_I, Load("data", Var("at")) + 100),
            _OUT.store(Var("at") + 4, LitU32(7)),
            Let("old", Atomic(AtomicOp.Add, "out", Var("at") | 0x8000_0000, LitU32(1))),
            _OUT.store(_I + 4, Var("old") + 50),
        ]
        return Program([_OUT, _IN], (4,), entry)

    return Canary(
        "out-of-bounds storage",
        "storage and uniform buffers",
        written,
        {"out": (1,) * 8, "data": (4, _MAX - 4, 0x4000_0000, 0x8000_0000)},
        1,
        (100, 100, 100, 100, 50, 50, 50, 50),
        has_bound_buffer,
    )


def _workgroup_bounds() -> Canary:
    def written() -> Program:
        tile = BufferDecl.workgroup("tile", DataType.U32, 3)
        bins = BufferDecl.workgroup("bins", DataType.U32, 3, atomic=True)
        lane = LocalId(0)
        entry = [
            If(lane < 3, [tile.store(lane, lane + 1)]),
            Barrier(),
            tile.store(_IN[lane], LitU32(9)),
            Let("old", Atomic(AtomicOp.Exchange, "bins", _IN[lane], LitU32(9))),
            Barrier(),
            _OUT.store(lane, Load("tile", _IN[lane]) + Var("old")),
            _OUT.store(lane + 4, Load("tile", lane % 3) * 10 + Load("bins", lane % 3)),
        ]
        return Program([_OUT, _IN, tile, bins], (4,), entry)

    return Canary(
        "out-of-bounds workgroup memory",
        "workgroup memory",
        written,
        {"out": (5,) * 8, "data": (3, 4, 0x8000_0000, _MAX)},
        1,
        (0, 0, 0, 0, 10, 20, 30, 10),
        has_workgroup_memory,
    )


def _zeroed_workgroup_memory() -> Canary:
    def written() -> Program:
        tile = BufferDecl.workgroup("tile", DataType.U32, 70)
        lane = LocalId(0)
        entry = [
            Let("seen", LitU32(0)),
            Loop("k", LitU32(0), LitU32(70), [Assign("seen", Var("seen") | Load("tile", Var("k")))]),
            _OUT.store(_I, Var("seen")),
            Barrier(),
            tile.store(lane, LitU32(0xDEADBEEF)),
            tile.store(lane + 64, LitU32(0xDEADBEEF)),
            Barrier(),
            If(Load("tile", lane).ne(0xDEADBEEF), [_OUT.store(_I, LitU32(1))]),
        ]
        return Program([_OUT, tile], (64,), entry)

    return Canary(
        "zeroed workgroup memory",
        "workgroup memory",
        written,
        {"out": (3,) * 512},
        8,
        (0,) * 512,
        has_workgroup_memory,
    )


def _barriers() -> Canary:
    def written() -> Program:
        tile = BufferDecl.workgroup("tile", DataType.U32, 64)
        lane = LocalId(0)
        neighbour = Load("tile", (lane + Var("step")) % 64)
        entry = [
            tile.store(lane, _IN[0] + lane),
            Loop(
                "k",
                LitU32(0),
                LitU32(6),
                [
                    Let("step", LitU32(1) << Var("k")),
                    Barrier(),
                    Let("sum", Load("tile", lane) + neighbour),
                    Barrier(),
                    tile.store(lane, Var("sum")),
                ],
            ),
            Barrier(),
            _OUT.store(_I, Load("tile", 63 - lane)),
        ]
        return Program([_OUT, _IN, tile], (64,), entry)

    return Canary(
        "barriers",
        "barriers",
        written,
        {"out": (0,) * 128, "data": (5,)},
        2,
        (64 * 5 + 2016,) * 128,
        has_statement(Barrier),
    )


def _atomics() -> Canary:
    def written() -> Program:
        def update(op: AtomicOp, index: int, value: Expr, *expected: Expr) -> Node:
            return Let(f"old{index}", Atomic(op, "out", LitU32(index), value, *expected))

        entry = [
            update(AtomicOp.Add, 0, _I),
            update(AtomicOp.Or, 1, LitU32(1) << _I),
            update(AtomicOp.And, 2, ~(LitU32(1) << _I)),
            update(AtomicOp.Xor, 3, _I * 3),
            update(AtomicOp.Min, 4, _I ^ 0x8000_0000),
            update(AtomicOp.Max, 5, _I ^ 0x8000_0000),
            If(_I.eq(7), [update(AtomicOp.Exchange, 6, LitU32(77))]),
            update(AtomicOp.CompareExchange, 7, LitU32(1000), LitU32(5)),
            If(Var("old7").eq(5), [Let("won", Atomic(AtomicOp.Add, "out", LitU32(8), LitU32(1)))]),
            Let("before", Atomic(AtomicOp.Or, "out", LitU32(9), LitU32(1) << (_I % 32))),
        ]
        return Program([_OUT], (32,), entry)

    return Canary(
        "atomics",
        "atomics",
        written,
        {"out": (10, 0, _MAX, 1, _MAX, 0, 3, 5, 0, 0)},
        2,
        (10 + 2016, _MAX, 0, 0xC1, 0x8000_0000, 0x8000_003F, 77, 1000, 1, _MAX),
        has_expression(Atomic),
    )


def _half_stores() -> Canary:
    def written() -> Program:
        halves = BufferDecl.read_write("out", 0, DataType.F16)
        entry = [
            Loop("k", LitU32(0), LitU32(20), [halves.store(_I, (_I * 257 + Var("k")).cast(DataType.F16))]),
        ]
        return Program([halves], (64,), entry)

    return Canary(
        "neighbouring 16-bit stores",
        "stores of 16-bit elements",
        written,
        {"out": (0,) * 32},
        1,
        tuple((2 * i * 257 + 19) | ((2 * i + 1) * 257 + 19) << 16 for i in range(32)),
        has_stores_of(2),
    )


def _byte_stores() -> Canary:
    def written() -> Program:
        out = BufferDecl.read_write("out", 0, DataType.U8)
        entry = [Loop("k", LitU32(0), LitU32(20), [out.store(_I, _I * 259 + Var("k"))])]
        return Program([out], (64,), entry)

    return Canary(
        "neighbouring 8-bit stores",
        "stores of 8-bit elements",
        written,
        {"out": (0,) * 16},
        1,
        tuple(sum((((4 * i + j) * 259 + 19) & 0xFF) << 8 * j for j in range(4)) for i in range(16)),
        has_stores_of(1),
    )


def elementwise(
    name: str,
    feature: str,
    result: Callable[[Expr, Expr], Expr],
    rows: Sequence[tuple[int, int, int]],
    uses: Uses | None,
) -> Canary:
    """One operation on pairs of operands; a row is both operands and the result."""
    left, right, expected = zip(*rows, strict=True)

    def written() -> Program:
        a, b = BufferDecl.read("a", 1, DataType.U32), BufferDecl.read("b", 2, DataType.U32)
        return Program([_OUT, a, b], (1,), [_OUT.store(_I, result(a[_I], b[_I]))])

    inputs = {"out": (0x5A5A5A5A,) * len(rows), "a": left, "b": right}
    return Canary(name, feature, written, inputs, len(rows), expected, uses)


def binary(op: BinaryOp) -> Callable[[Expr, Expr], BinOp]:
    return lambda a, b: BinOp(op, a, b)


def _operator(
    name: str,
    feature: str,
    operation: Callable[[Expr, Expr], BinOp],
    rows: Sequence[tuple[int, int, int]],
) -> Canary:
    """One operator of words, watched wherever it occurs."""
    return elementwise(name, feature, operation, rows, has_operator(operation(_I, _I).op))


def _signed_mod(a: Expr, b: Expr) -> Expr:
    i32 = DataType.I32
    return Call("signed.mod", (a.cast(i32), b.cast(i32))).cast(DataType.U32)


_ODD = 0x8000_0001

INTEGER_CANARIES: tuple[Canary, ...] = (
    _long_loops(),
    _storage_bounds(),
    _workgroup_bounds(),
    _zeroed_workgroup_memory(),
    _barriers(),
    _atomics(),
    _half_stores(),
    _byte_stores(),
    _operator(
        "shifts left",
        "shifts",
        binary(BinaryOp.Shl),
        [(_ODD, 0, _ODD), (_ODD, 31, 0x8000_0000), (_ODD, 32, _ODD), (_ODD, 33, 2), (3, _MAX, 0x8000_0000)],
    ),
    _operator(
        "shifts right",
        "shifts",
        binary(BinaryOp.Shr),
        [(_ODD, 0, _ODD), (_ODD, 31, 1), (_ODD, 32, _ODD), (_ODD, 33, 0x4000_0000), (_MAX, _MAX, 1)],
    ),
    _operator(
        "division",
        "division",
        binary(BinaryOp.Div),
        [(7, 0, 0), (_MAX, 0, 0), (_MAX, 1, _MAX), (_MAX, _MAX, 1), (0x8000_0000, _MAX, 0), (100, 7, 14)],
    ),
    _operator(
        "remainder",
        "division",
        binary(BinaryOp.Mod),
        [(7, 0, 0), (_MAX, 0, 0), (_MAX, 10, 5), (0x8000_0000, _MAX, 0x8000_0000), (100, 7, 2)],
    ),
    _operator(
        "high product",
        "MulHi",
        mul_hi,
        [(_MAX, _MAX, 0xFFFF_FFFE), (0x1_0000, 0x1_0000, 1), (0xFFFF, 0x1_0001, 0), (_ODD, 2, 1)],
    ),
    # Composed of unsigned operators, so that a device whose signed remainder is wrong still gets it right.
    elementwise(
        "signed remainder",
        "signed.mod",
        _signed_mod,
        [(0xFFFF_FFF9, 3, _MAX), (7, 0xFFFF_FFFD, 1), (0x8000_0000, _MAX, 0), (0xFFFF_FFF9, 0, 0)],
        None,
    ),
)
