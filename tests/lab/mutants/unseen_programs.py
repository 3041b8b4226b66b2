"""Small programs that have between them whatever a fault of the second set needs to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import (
    Atomic,
    BinOp,
    BufLen,
    Cast,
    Expr,
    FMulAdd,
    FReduce,
    InvocationId,
    LitU32,
    Load,
    LocalId,
    UnOp,
    Var,
    WorkgroupId,
    f32,
    fadd,
    fmul,
)
from vyre.ir.node import Assign, Barrier, Block, Break, If, Let, Loop, Return, Store
from vyre.ir.operators import AtomicOp, BinaryOp, ReduceOp, ReduceOrder, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.ir.node import Node

    Grid = tuple[int, int, int]

_T = DataType
HERE = InvocationId(0)
SPECIAL = np.array([0, 1, 2, 31, 0x8000_0000, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x0100_0003, 7, 14, 33, 5], np.uint32)
FLOATS = np.array([0.0, -0.0, 1.1, 2.5, -2.5, 3.7, -3.2, 5.6, 1e-3, 1.1, 0.1, np.inf], np.float32)
FINITE = FLOATS[:-1]


@dataclass(frozen=True, slots=True)
class Run:
    """A program with the elements of its buffers and its grid."""

    program: Program
    lengths: Mapping[str, int]
    grid: Grid = (1, 1, 1)
    finite: bool = False

    def data(self, number: int) -> dict[str, bytes]:
        """Inputs of a run: special values again and again, turned by its number; outputs of one byte."""
        found: dict[str, bytes] = {}
        for b in self.program.buffers:
            if not b.access.bound:
                continue
            nbytes = self.lengths[b.name] * b.element.stride
            values = SPECIAL if b.element is not _T.F32 else FINITE if self.finite else FLOATS
            words = np.resize(np.roll(values, number + (b.binding or 0)), nbytes // 4 + 1)
            if b.access is BufferAccess.ReadWrite:
                words = np.full(nbytes // 4 + 1, 0x0101_0101 * number, np.uint32)
            found[b.name] = words.tobytes()[:nbytes]
        return found


def program(
    body: Sequence[Node], *more: BufferDecl, size: Grid = (4, 1, 1), out: DataType = _T.U32
) -> Program:
    return Program((BufferDecl.read_write("out", 0, out), *more), size, body)


def read(name: str, binding: int, kind: DataType = _T.U32) -> BufferDecl:
    return BufferDecl.read(name, binding, kind)


def loop(turns: int, start: int = 0, depth: int = 1) -> list[Node]:
    """A sum over the variables of nested loops."""
    total: Expr = Var("s") * 3 + Var("k0")
    body: list[Node] = [Assign("s", total)]
    for level in reversed(range(depth)):
        body = [Loop(f"k{level}", LitU32(start), LitU32(start + turns), body)]
    return [Let("s", HERE), *body, Store("out", HERE, Var("s"))]


def nested(depth: int, kind: type[If | Block]) -> list[Node]:
    body: list[Node] = [Assign("s", Var("s") + 5)]
    for level in range(depth):
        body = [Block(body)] if kind is Block else [If(8 + level > HERE, body, [Assign("s", LitU32(level))])]
    return [Let("s", LitU32(1)), *body, Store("out", HERE, Var("s") + HERE)]


def ids(size: Grid, grid: Grid) -> Run:
    x, y, z = (InvocationId(axis) for axis in range(3))
    wide, high = size[0] * grid[0], size[1] * grid[1]
    place = x + (y + z * high) * wide
    words = WorkgroupId(0) + WorkgroupId(1) * 3 + WorkgroupId(2) * 5
    local = LocalId(0) + LocalId(1) * 64 + LocalId(2) * 4096
    n = wide * high * size[2] * grid[2]
    return Run(program([Store("out", place, words * 7 + local)], size=size), {"out": n}, grid)


def words(*values: Expr) -> Run:
    """Stores of values of `a` and `b`, words of every pair of special ones."""
    n = len(SPECIAL)
    body: list[Node] = [
        Let("a", Load("in1", HERE // n % n)),
        Let("b", Load("in1", HERE % n)),
        *(Store("out", HERE * len(values) + k, value) for k, value in enumerate(values)),
    ]
    return Run(
        program(body, read("in1", 1), size=(48, 1, 1)), {"out": len(values) * n * n, "in1": n}, (3, 1, 1)
    )


def floats(*values: Expr) -> Run:
    n = len(FLOATS)
    body: list[Node] = [
        Let("a", Load("in1", HERE // n % n)),
        Let("b", Load("in1", HERE % n)),
        *(Store("out", HERE * len(values) + k, Cast(_T.U32, value)) for k, value in enumerate(values)),
    ]
    made = program(body, read("in1", 1, _T.F32), size=(48, 1, 1))
    return Run(made, {"out": len(values) * n * n, "in1": n}, (3, 1, 1))


def _copy(kind: DataType) -> Run:
    made = program([Store("out", HERE, Load("in1", HERE))], read("in1", 1, kind), out=kind)
    return Run(made, {"out": 9, "in1": 9}, (3, 1, 1))


def _atomics(op: AtomicOp) -> Run:
    compares = op is AtomicOp.CompareExchange
    place, expected = (HERE, LitU32(0x0101_0101)) if compares else (HERE % 3, None)
    body = [Let("t", Atomic(op, "out", place, HERE * 2 + 5, expected))]
    return Run(program(body, size=(40, 2, 1)), {"out": 120 if compares else 3}, (3, 1, 1))


def _shared(count: int) -> Run:
    """What one invocation leaves, the one across reads."""
    place = LocalId(0) * (count // 32)
    across = LitU32(count - 1) - place
    body: list[Node] = [
        Let("left", Load("shared", LitU32(2))),
        Let("j", HERE),
        Barrier(),
        Store("shared", place, HERE * 3 + 1),
        Store("shared", across, HERE * 5 + 2),
        Barrier(),
        Let("found", Load("shared", place) + Load("shared", across) + Load("shared", LitU32(0))),
        Store("out", Var("j"), Var("found") + Var("left")),
    ]  # fmt: skip
    return Run(
        program(body, BufferDecl.workgroup("shared", _T.U32, count), size=(32, 1, 1)), {"out": 64}, (2, 1, 1)
    )


def _barriers_in_a_loop() -> Run:
    body: list[Node] = [
        Let("s", HERE),
        Loop("k", LitU32(0), LitU32(5), (
            Store("shared", LocalId(0), Var("s")),
            Barrier(),
            Assign("s", Load("shared", LocalId(0) ^ 1) + Var("k")),
            Barrier(),
        )),
        Store("out", HERE, Var("s")),
    ]  # fmt: skip
    return Run(program(body, BufferDecl.workgroup("shared", _T.U32, 8), size=(8, 1, 1)), {"out": 8})


def _exits() -> Run:
    body: list[Node] = [
        Let("s", LitU32(0)),
        If(HERE.eq(3), (Return(),)),
        Loop("k", LitU32(0), LitU32(20), (
            If(Var("k") > (HERE & 7), (Break(),)),
            If((Var("k") + HERE).eq(38), (Store("out", HERE, LitU32(99)), Return())),
            Assign("s", Var("s") + Var("k") + 1),
        )),
        Store("out", HERE, Var("s")),
    ]  # fmt: skip
    return Run(program(body, size=(48, 1, 1)), {"out": 48})


def _variables(count: int) -> Run:
    lets = [Let(f"v{k}", HERE * (2 * k + 1)) for k in range(count)]
    total: Expr = LitU32(0)
    for k in range(count):
        total = total ^ Var(f"v{k}")
    return Run(program([*lets, Store("out", HERE, total)]), {"out": 4})


def _stores(count: int) -> Run:
    body = [Store("out", HERE + 4 * k, Load("in1", LitU32(k)) + k) for k in range(count)]
    return Run(program(body, read("in1", 1)), {"out": 4 * count, "in1": count})


def _large(n: int) -> Run:
    body = [Store("out", HERE, Load("in1", HERE) + HERE * 3 + BufLen("in1"))]
    return Run(program(body, read("in1", 1), size=(64, 1, 1)), {"out": n, "in1": n}, (n // 64 + 1, 1, 1))


def _many(count: int) -> Run:
    total: Expr = HERE
    for k in range(1, count):
        total = total * 3 + Load(f"in{k}", HERE)
    more = [read(f"in{k}", k) for k in range(1, count)]
    return Run(
        program([Store("out", HERE, total)], *more),
        {"out": 4, **{b.name: 4 + k % 2 for k, b in enumerate(more)}},
    )


def _kinds(count: int) -> Run:
    """A uniform, private memory and a table of one size, and two outputs."""
    data = np.arange(count, dtype=np.uint32) * 7
    more = (
        BufferDecl.uniform("u", 1, _T.U32, count=count),
        BufferDecl.private("own", _T.U32, count),
        BufferDecl.constant("table", _T.U32, data.tobytes()),
        BufferDecl.read_write("out2", 2, _T.U32),
        read("in1", 3),
    )
    last = LitU32(count - 1)
    body: list[Node] = [
        Store("own", last, HERE + 9),
        Store("out", HERE, Load("u", last - HERE) + Load("own", last) * 3 + Load("table", last)),
        Store("out2", HERE, BufLen("in1") + Load("in1", HERE * 2) + Load("in1", LitU32(100))),
    ]
    return Run(program(body, *more), {"out": 4, "u": count, "out2": 4, "in1": 5})


def _float_loops() -> Run:
    body: list[Node] = [
        Let("s", f32(0.1)),
        Let("p", f32(1.1)),
        Loop("k", LitU32(0), LitU32(30), (
            Assign("s", fadd(Var("s"), fmul(Load("in1", Var("k") % 11), f32(1.37)))),
            Assign("p", fmul(Var("p"), f32(1.3))),
        )),
        Store("out", HERE, Cast(_T.U32, Var("s")) * 3 + Cast(_T.U32, Var("p"))),
    ]  # fmt: skip
    return Run(program(body, read("in1", 1, _T.F32)), {"out": 4, "in1": 12}, finite=True)


def _reduction(op: ReduceOp, n: int) -> Run:
    value = FReduce(ReduceOrder.Strict, op, "in1", LitU32(8), LitU32(8 + n))
    made = program([Store("out", HERE, Cast(_T.U32, value))], read("in1", 1, _T.F32))
    return Run(made, {"out": 4, "in1": n + 12}, finite=True)


def _deep(depth: int) -> Run:
    value: Expr = HERE
    for k in range(depth):
        value = value * 5 + k
    return Run(program([Store("out", HERE, value)]), {"out": 4})


A, B = Var("a"), Var("b")
_WORD_OPS = [op for op in BinaryOp if not op.row.is_float]
_FLOAT_OPS = [op for op in BinaryOp if op.row.is_float and not op.row.truth and op.row.kernel == ""]
_COMPARISONS = [op for op in BinaryOp if op.row.is_float and op.row.truth]
_LITERALS = (1, 2, 31, 32, 127, 128, 255, 256, 32_768, 65_535, 65_536, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)

PROGRAMS: Mapping[str, Run] = {
    "loop": Run(program(loop(10, 3)), {"out": 4}),
    "loop of 11 turns": Run(program(loop(11)), {"out": 4}),
    "loop of one turn": Run(program(loop(1)), {"out": 4}),
    "loop of no turns": Run(program(loop(0)), {"out": 4}),
    "long loop": Run(program(loop(70_000)), {"out": 4}),
    "nested loops": Run(program(loop(3, 1, 4)), {"out": 4}),
    "branches": Run(program(nested(8, If), size=(16, 1, 1)), {"out": 16}),
    "blocks": Run(program(nested(7, Block)), {"out": 4}),
    "barriers in a loop": _barriers_in_a_loop(),
    "exits": _exits(),
    "variables": _variables(130),
    "stores": _stores(20),
    "many stores": _stores(300),
    "ids": ids((5, 3, 3), (3, 3, 3)),
    "high workgroup": ids((2, 40, 1), (1, 2, 1)),
    "flat workgroup": ids((300, 1, 1), (2, 1, 1)),
    "thick workgroup": ids((1, 1, 40), (1, 1, 2)),
    "wide grid": ids((1, 1, 1), (40_000, 1, 1)),
    "high grid": ids((1, 1, 1), (1, 300, 1)),
    "thick grid": ids((1, 1, 1), (1, 1, 70)),
    "words": words(*(BinOp(op, A, B) for op in _WORD_OPS)),
    "bits": words(*(UnOp(op, B) for op in UnaryOp if not op.row.is_float)),
    "literals": words(*(A ^ value for value in _LITERALS)),
    "floats": floats(*(BinOp(op, A, B) for op in _FLOAT_OPS), FMulAdd(A, B, f32(0.7))),
    "chains": floats(fadd(fadd(A, B), f32(0.3)), fmul(fmul(A, A), B), fmul(fmul(A, B), f32(0.7))),
    "functions": floats(*(UnOp(op, B) for op in UnaryOp if op.row.is_float and not op.row.truth)),
    "comparisons": words(*(BinOp(op, Cast(_T.F32, A), Cast(_T.F32, B)) for op in _COMPARISONS)),
    "float loops": _float_loops(),
    "deep": _deep(70),
    "shared": _shared(32),
    "large shared": _shared(4096),
    "kinds": _kinds(5),
    "larger kinds": _kinds(401),
    "many buffers": _many(18),
    "two buffers": _many(5),
    "large": _large(70_000),
    "small": Run(program([Store("out", HERE, HERE + 7)]), {"out": 1}),
    **{f"copy of {kind.value}": _copy(kind) for kind in (*_T,)},
    **{f"atomic {op.value}": _atomics(op) for op in AtomicOp},
    **{f"reduction of {n}": _reduction(ReduceOp.Add, n) for n in (3, 40, 1_100)},
    "product": _reduction(ReduceOp.Mul, 3),
}  # fmt: skip
