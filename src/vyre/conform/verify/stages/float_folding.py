"""Float operations a compiler can see through: literals, the same operand twice, one operation in another.

What holds of real numbers is false here (x + 0 is not x, x - x is not 0, a product and a sum round twice),
and a compiler that believes it is right wherever an operation stands alone. Every term is one expression of
the operands `a`, `b` and `c`; what is expected comes from the oracle, one operation at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.oracle.floats.layout import LAYOUTS, doubles, nearest
from vyre.conform.oracle.floats.operands import specials
from vyre.conform.oracle.floats.operations import operations
from vyre.conform.verify.stage import Trial, TrialStage, random_u32
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, Expr, InvocationId, Literal, LitU32, Select, UnOp, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.operators import UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.conform.oracle.floats.operations import Operation
    from vyre.conform.records.results import RunPlan

    Words = NDArray[np.uint32]

U32 = DataType.U32
FORMATS = (DataType.F32, DataType.F16, DataType.BF16)
SIZE, RANDOM = 64, 512
OUT = "out"
NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 0.1, math.inf, math.nan)
"""Literal operands; the smallest and the largest value of a format come on top."""
ARITHMETIC = ("FAdd", "FSub", "FMul", "FDiv", "FMin", "FMax")
COMPARISONS = ("FEq", "FNe", "FLt", "FGt", "FLe", "FGe")


@dataclass(frozen=True, slots=True)
class FloatTerm:
    """An expression of the operands, its type, and its value on whole arrays."""

    text: str
    expr: Expr
    type: DataType
    value: Words


@cache
def _operations() -> Mapping[str, Operation]:
    return {o.name: o for o in operations()}


def apply(op: str, *args: FloatTerm) -> FloatTerm:
    """An operation by its name without the format, which is that of its operands."""
    head, _, more = op.partition(" ")
    name = f"{head} {args[0].type.value}{' ' if more else ''}{more}"
    found = _operations()[name]
    value = found.expected(*np.broadcast_arrays(*(t.value for t in args)))
    text = f"{op}({', '.join(t.text for t in args)})"
    return FloatTerm(text, found.build(*(t.expr for t in args)), found.result, value)


def _not(x: FloatTerm) -> FloatTerm:
    return FloatTerm(f"not {x.text}", UnOp(UnaryOp.LogicalNot, x.expr), U32, (x.value == 0).astype(np.uint32))


def _select(test: FloatTerm, a: FloatTerm, b: FloatTerm) -> FloatTerm:
    value = np.where(test.value != 0, a.value, b.value)
    return FloatTerm(f"{test.text} ? {a.text} : {b.text}", Select(test.expr, a.expr, b.expr), a.type, value)


class Terms:
    """The operands and literals of one format, and short ways to combine them."""

    def __init__(self, of: DataType, a: FloatTerm, b: FloatTerm, c: FloatTerm) -> None:
        self.of, self.a, self.b, self.c = of, a, b, c
        self.zero, self.minus_zero, self.one = (self.literal(x) for x in (0.0, -0.0, 1.0))

    def literal(self, number: float) -> FloatTerm:
        return self.word(int(nearest(LAYOUTS[self.of.value], np.array([number]))[0]))

    def word(self, bits: int) -> FloatTerm:
        return FloatTerm(f"0x{bits:X}", Literal(self.of, bits), self.of, np.full(1, bits, np.uint32))

    def add(self, a: FloatTerm, b: FloatTerm) -> FloatTerm:
        return apply("FAdd", a, b)

    def sub(self, a: FloatTerm, b: FloatTerm) -> FloatTerm:
        return apply("FSub", a, b)

    def mul(self, a: FloatTerm, b: FloatTerm) -> FloatTerm:
        return apply("FMul", a, b)

    def div(self, a: FloatTerm, b: FloatTerm) -> FloatTerm:
        return apply("FDiv", a, b)

    def neg(self, a: FloatTerm) -> FloatTerm:
        return apply("FNeg", a)


def literals(op: str, t: Terms) -> list[FloatTerm]:
    """The operation with a literal on its right, on its left, and with the same operand twice."""
    ends = (1, LAYOUTS[t.of.value].infinity - 1)
    words = [*(t.literal(x) for x in NUMBERS), *(t.word(bits) for bits in ends)]
    found = [apply(op, t.a, t.a), apply(op, t.a, t.neg(t.a)), apply(op, t.neg(t.a), t.a)]
    found += [apply(op, t.a, apply("FAbs", t.a)), *(apply(op, t.a, w) for w in words)]
    return found + [apply(op, w, t.a) for w in words]


def comparisons(t: Terms) -> list[FloatTerm]:
    a, b = t.a, t.b
    found = [
        apply(op, x, y) for op in COMPARISONS for x, y in ((a, a), (a, t.zero), (t.literal(math.nan), a))
    ]
    found += [_not(apply(op, a, b)) for op in COMPARISONS]
    found += [_select(apply(op, a, b), x, y) for op in COMPARISONS for x, y in ((a, b), (b, a))]
    found += [_select(apply("FEq", a, t.zero), t.zero, a), _select(apply("FIsNaN", a), b, a)]
    for bound in (t.zero, t.minus_zero, t.one):
        tests = [apply(op, *pair) for op in COMPARISONS[2:] for pair in ((a, bound), (bound, a))]
        found += [_select(test, x, y) for test in tests for x, y in ((a, bound), (bound, a))]
    made = [t.add(a, b), t.sub(a, a), t.mul(a, b), t.mul(a, t.zero), t.div(a, b), apply("FSqrt", a), t.neg(a)]
    return found + [apply(op, x) for op in ("FIsNaN", "FIsInf") for x in (a, *made)]


def sums(t: Terms) -> list[FloatTerm]:
    """Products and sums: fused, taken apart, in another order."""
    a, b, c = t.a, t.b, t.c
    ab = t.mul(a, b)
    found = [t.add(ab, c), t.add(c, ab), t.sub(ab, c), t.sub(c, ab), t.sub(ab, ab), t.add(ab, ab)]
    found += [t.add(t.add(a, b), c), t.add(a, t.add(b, c)), t.mul(ab, c), t.mul(a, t.mul(b, c))]
    found += [t.sub(t.add(a, b), c), t.add(t.sub(a, b), c), t.add(ab, t.mul(a, c)), t.mul(a, t.add(b, c))]
    fused = [(a, b, c), (a, b, t.zero), (a, b, t.minus_zero), (a, t.one, c), (t.one, b, c), (t.zero, b, c)]
    found += [apply("FMulAdd", *x) for x in (*fused, (t.neg(a), b, c), (a, b, t.neg(ab)))]
    return [*found, t.neg(apply("FMulAdd", a, b, c)), t.add(t.div(a, c), t.div(b, c)), t.div(t.add(a, b), c)]


def undone(t: Terms) -> list[FloatTerm]:
    """What would be an operand, were it not for the rounding."""
    a, b = t.a, t.b
    root = apply("FSqrt", a)
    found = [t.sub(t.add(a, b), a), t.sub(t.add(a, b), b), t.add(t.sub(a, b), b), t.sub(a, t.sub(a, b))]
    found += [
        t.div(t.mul(a, b), b),
        t.mul(t.div(a, b), b),
        t.div(a, t.div(a, b)),
        t.div(t.one, t.div(t.one, a)),
    ]
    found += [t.mul(root, root), apply("FSqrt", t.mul(a, a)), t.div(t.one, root), t.div(a, root)]
    found += [t.neg(t.sub(a, b)), t.neg(t.add(a, b)), t.neg(t.mul(a, b)), t.neg(t.neg(a))]
    found += [t.mul(t.neg(a), t.neg(b)), t.add(t.neg(a), b), t.sub(a, t.neg(b)), apply("FAbs", t.neg(a))]
    found += [apply("FAbs", t.mul(a, b)), t.mul(a, t.div(t.one, b)), t.div(t.mul(a, b), a)]
    least = apply("FMin", a, b)
    return [*found, apply("FMax", least, a), apply("FMin", least, b), apply("FMin", t.neg(a), t.neg(b))]


def converted(t: Terms) -> list[FloatTerm]:
    """Roundings of roundings, and ways through another type and back."""
    found = [apply(o, apply(i, t.a)) for o in ("FFloor", "FRound") for i in ("FFloor", "FCeil", "FTrunc")]
    found += [t.neg(apply("FCeil", t.neg(t.a))), apply("FFloor", t.add(t.a, t.literal(0.5)))]
    found += [t.sub(t.a, apply("FTrunc", t.a)), t.sub(t.a, apply("FFloor", t.a))]
    for whole in ("I32", "U32"):
        there = apply(f"Convert {whole} Truncate", t.a)
        back = _operations()[f"Convert {whole} {t.of.value}"]
        text = f"{t.of.value}({there.text})"
        found.append(FloatTerm(text, back.build(there.expr), t.of, back.expected(there.value)))
    others = ("F16", "BF16") if t.of is DataType.F32 else ("F32",)
    for other in others:
        there = apply(f"Cast {other}", t.a)
        found += [apply(f"Cast {t.of.value}", there)]
        wide = apply("FMul", there, apply(f"Cast {other}", t.b))
        found += [apply(f"Cast {t.of.value}", wide)]
    return found


def functions(t: Terms) -> list[FloatTerm]:
    """Functions that undo each other, or do not see a sign."""
    a, b = t.a, t.b
    exp, log = apply("FExp", a), apply("FLog", a)
    found = [apply("FLog", exp), apply("FExp", log), t.mul(exp, apply("FExp", b)), t.add(log, log)]
    found += [apply(op, t.neg(a)) for op in ("FSin", "FCos", "FExp")]
    return found + [apply(op, t.literal(w)) for op in ("FExp", "FLog", "FSin", "FCos") for w in (3.0, 0.1)]


@cache
def _inputs(t: DataType, seed: int) -> tuple[Words, Words, Words]:
    """Special values crossed, random bits and numbers; the third operand often cancels the product."""
    of = LAYOUTS[t.value]
    words = specials(of)
    mask = np.uint32(of.sign | of.magnitude)
    a, b = (m.reshape(-1) for m in np.meshgrid(words, words))
    rng = np.random.default_rng(seed)
    bits = [random_u32(seed + k, RANDOM) & mask for k in range(2)]
    numbers = [nearest(of, rng.standard_normal(3 * RANDOM) * 2.0 ** rng.integers(-4, 5)) for _ in range(2)]
    first, second = (np.concatenate(x) for x in ((a, bits[0], numbers[0]), (b, bits[1], numbers[1])))
    with np.errstate(all="ignore"):
        product = nearest(of, -doubles(of, first) * doubles(of, second))
    turn = rng.integers(0, 3, len(first))
    free = rng.permutation(first)
    return first, second, np.choose(turn, [product, product, free]).astype(np.uint32)


def _trial(
    of: DataType, make: Callable[[Terms], list[FloatTerm]], case: int, seed: int, plan: RunPlan
) -> Trial:
    """All terms of `make`, on all inputs, by one program."""
    columns = _inputs(of, seed)
    operands = [FloatTerm(n, Var(n), of, w) for n, w in zip("abc", columns, strict=True)]
    terms = make(Terms(of, operands[0], operands[1], operands[2]))
    count, width = len(columns[0]), len(terms)
    buffers = [BufferDecl.read(name, k, U32) for k, name in enumerate("xyz")]
    out = BufferDecl.read_write(OUT, 3, U32)
    i = Var("i")
    lets = [Let(n, Cast(of, b[i])) for n, b in zip("abc", buffers, strict=True)]
    words = [t.expr if t.type is U32 else Cast(U32, t.expr) for t in terms]
    stores = [Store(OUT, Var("at") + LitU32(k), word) for k, word in enumerate(words)]
    body = (*lets, Let("at", i * LitU32(width)), *stores)
    program = Program(
        (*buffers, out), (SIZE, 1, 1), (Let("i", InvocationId(0)), If(i < buffers[0].length, body))
    )
    table = np.stack([np.broadcast_to(t.value, (count,)) for t in terms], axis=1)

    def judge(found: Mapping[str, bytes]) -> tuple[tuple[str, ...], str, str] | None:
        got = np.frombuffer(found[OUT], np.uint32).reshape(count, width)
        if np.array_equal(got, table):
            return None
        row, k = (int(v) for v in np.argwhere(got != table)[0])
        given = (f"{n} = 0x{w[row]:X}" for n, w in zip("abc", columns, strict=True))
        return (terms[k].text, *given), f"0x{table[row, k]:X}", f"0x{got[row, k]:X}"

    given = {name: w.tobytes() for name, w in zip("xyz", columns, strict=True)}
    return Trial("", program, {**given, OUT: b"\xa5" * (4 * table.size)}, (-(-count // SIZE), 1, 1), judge)


def _subjects() -> dict[str, Callable[[int, int, RunPlan], Trial]]:
    found: dict[str, Callable[[int, int, RunPlan], Trial]] = {}
    rooms = {"comparisons": comparisons, "sums": sums, "undone": undone, "converted": converted}
    for of in FORMATS:
        for op in ARITHMETIC:
            found[f"literals in {op} {of.value}"] = partial(_trial, of, partial(literals, op))
        for name, make in rooms.items():
            found[f"{name} of {of.value}"] = partial(_trial, of, make)
    found["functions of F32"] = partial(_trial, DataType.F32, functions)
    return found


STAGE = TrialStage("float_folding", _subjects(), each=1)
