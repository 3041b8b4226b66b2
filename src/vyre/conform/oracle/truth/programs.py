"""The programs of an exhaustive check: one computes results, others mix and add them up.

    evaluation(function)    out[i] = the bits of f(base + i)
    mixing()                partial sums of the two digest words, 16 cases each
    folding()               partial sums of partial sums, 16 each

Results and digests are never computed in one kernel, so that a compiler sees nothing but the operation,
with an operand it knows nothing about. Every program is unrolled and free of barriers, loops and atomics:
all u32 steps that each device does exactly, with neighbouring invocations on neighbouring words.

The grid has a chunk per row, which every device has room for. Two folds leave 256 sums a chunk; the host
adds those.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.conform.oracle.digest import CHUNK, A, B, Mixer
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, Expr, InvocationId, LitU32, Load, Var, WorkgroupId
from vyre.ir.node import If, Let, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.conform.oracle.truth.functions import Function

U32 = DataType.U32
WORKGROUP = (256, 1, 1)
FAN = 16
"""Terms an invocation adds up."""

ROWS = (CHUNK // FAN, CHUNK // FAN**2, CHUNK // FAN**3)
"""Sums of each word and chunk after mixing, and after one and two folds."""

BASE, RESULTS, OUT = "base", "results", "out"
FIRST, SECOND, SUMS = "first", "second", "sums"


@cache
def evaluation(function: Function) -> Program:
    """`out` holds the bits of the results for the inputs `base[0]`, `base[0] + 1`, …"""
    i, x = Var("i"), Var("x")
    operand: Expr = x if function.source is U32 else Cast(function.source, x)
    value = function.build(operand)
    bits = value if function.result is U32 else Cast(U32, value)
    base = BufferDecl.read(BASE, 0, U32, count=1)
    out = BufferDecl.read_write(OUT, 1, U32)
    body = (Let("x", Load(BASE, LitU32(0)) + i), Store(OUT, i, bits))
    place = Let("i", WorkgroupId(1) * CHUNK + InvocationId(0))
    return Program((base, out), WORKGROUP, (place, If(i < out.length, body)))


@cache
def mixing() -> Program:
    """Row y of the grid is the chunk y: `first` and `second` get ROWS[0] sums each per chunk."""
    results = BufferDecl.read(RESULTS, 1, U32)
    sums = [BufferDecl.read_write(name, 2 + k, U32) for k, name in enumerate((FIRST, SECOND))]
    base = BufferDecl.read(BASE, 0, U32, count=1)
    entry: list[Node] = [
        Let("i", InvocationId(0)),
        Let("row", WorkgroupId(1) * CHUNK + Var("i")),
        Let("start", Load(BASE, LitU32(0))),
    ]
    totals: tuple[Expr, Expr] = (LitU32(0), LitU32(0))
    for k in range(FAN):
        place = _let(entry, f"place{k}", Var("row") + k * ROWS[0])
        x = _let(entry, f"x{k}", Var("start") + place)
        r = _let(entry, f"r{k}", Load(RESULTS, place))
        inner = [_mixed(entry, f"m{k}{by}", x, mixer) for by, mixer in (("a", A), ("b", B))]
        words = (
            _mixed(entry, f"w{k}a", _let(entry, f"u{k}a", r ^ inner[0]), A),
            _mixed(entry, f"w{k}b", _let(entry, f"u{k}b", r + inner[1]), B),
        )
        totals = (
            _let(entry, f"s{k}a", totals[0] + words[0]),
            _let(entry, f"s{k}b", totals[1] + words[1]),
        )
    at = WorkgroupId(1) * ROWS[0] + Var("i")
    entry += [Store(s.name, at, total) for s, total in zip(sums, totals, strict=True)]
    return Program((base, results, *sums), WORKGROUP, entry)


def _let(entry: list[Node], name: str, value: Expr) -> Expr:
    entry.append(Let(name, value))
    return Var(name)


def _mixed(entry: list[Node], name: str, word: Expr, by: Mixer) -> Expr:
    w = word
    for k, shift in enumerate(by.shifts):
        w = _let(entry, f"{name}x{k}", w ^ (w >> shift))
        if k < len(by.factors):
            w = _let(entry, f"{name}p{k}", w * by.factors[k])
    return w


@cache
def folding(row: int) -> Program:
    """Rows of `row` words in `sums` become rows of a sixteenth of it in `out`."""
    sums = BufferDecl.read(SUMS, 0, U32)
    out = BufferDecl.read_write(OUT, 1, U32)
    entry: list[Node] = [Let("i", InvocationId(0)), Let("row", WorkgroupId(1) * row + Var("i"))]
    total: Expr = LitU32(0)
    for k in range(FAN):
        total = _let(entry, f"s{k}", total + Load(SUMS, Var("row") + k * (row // FAN)))
    entry.append(Store(OUT, WorkgroupId(1) * (row // FAN) + Var("i"), total))
    return Program((sums, out), WORKGROUP, entry)
