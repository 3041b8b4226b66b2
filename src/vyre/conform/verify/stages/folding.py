"""Operations a compiler can see through: literal operands, the same operand twice, one operation in another.

The ops themselves are tried with every operand from a buffer, so that they are really executed. A compiler
that knows `x / x = 1`, divides by 7 with the wrong multiplier, or takes `a * b / b` for `a` is right there
and wrong here. What is expected comes from the definitions, one operation at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.registry import primitives, spec
from vyre.conform.spec.edges import EDGES
from vyre.conform.spec.op import ExpressionForm
from vyre.conform.spec.program import OUT
from vyre.conform.verify.stage import Trial, TrialStage, random_u32
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Cast, Expr, InvocationId, LitU32, MakeVec, UnOp, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.typing import binary_type, unary_type
from vyre.semantics.arrays import NUMPY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.conform.records.results import RunPlan

    Words = NDArray[np.uint32]

U32 = DataType.U32
SIZE = 64
TYPED = (DataType.I32, DataType.Bool)
DIVISORS = (5, 6, 9, 10, 11, 12, 13, 14, 25, 60, 100, 125, 641, 1000, 10_000, 1_000_003, 0x7FFF_FFFE)
LITERALS = tuple(sorted({*EDGES, *DIVISORS}))
CHAINED = (1, 3, 8, 31, 255, 0x8000_0000)


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of the operands `a` and `b`, with its value on whole arrays."""

    text: str
    expr: Expr
    value: Words


def _binary_ids() -> list[str]:
    return [s.id for s in primitives() if s.arity == 2]


def _unary_ids() -> list[str]:
    return [s.id for s in primitives() if s.arity == 1]


def apply(op: str, *args: Term) -> Term:
    """An op on terms: one expression, and the definition on their values."""
    found = spec(op)
    assert isinstance(found.form, ExpressionForm)
    ((value,),) = found.apply(NUMPY, *(t.value for t in args))
    text = f"{op.rpartition('.')[2]}({', '.join(t.text for t in args)})"
    return Term(text, found.form.build(tuple(t.expr for t in args)), value)


def literal(bits: int) -> Term:
    return Term(f"0x{bits:X}", LitU32(bits), np.full(1, bits, np.uint32))


@cache
def _inputs(seed: int) -> tuple[Words, Words]:
    """Pairs of boundary values, and as many random, equal and near ones."""
    edges = np.array(EDGES, np.uint32)
    a, b = (m.reshape(-1) for m in np.meshgrid(edges, edges))
    r, s = random_u32(seed, 256), random_u32(seed + 1, 256)
    small = s >> (r & np.uint32(31))
    return np.concatenate([a, r, r, small]), np.concatenate([b, s, r, s & np.uint32(63)])


def _trial(make: Callable[[Term, Term], Sequence[Term]], seed: int) -> Trial:
    """All terms of `make`, on all inputs, by one program."""
    first, second = _inputs(seed)
    terms = make(Term("a", Var("a"), first), Term("b", Var("b"), second))
    count, width = len(first), -(-len(terms) // 4) * 4
    x, y = BufferDecl.read("x", 0, U32), BufferDecl.read("y", 1, U32)
    out = BufferDecl.read_write(OUT, 2, DataType.Vec4U32)
    i = Var("i")
    fours = [[terms[min(k + j, len(terms) - 1)] for j in range(4)] for k in range(0, width, 4)]
    vectors = [MakeVec(DataType.Vec4U32, (t.expr for t in four)) for four in fours]
    stores = [Store(OUT, Var("at") + LitU32(k), v) for k, v in enumerate(vectors)]
    body = (Let("a", x[i]), Let("b", y[i]), Let("at", i * LitU32(width // 4)), *stores)
    program = Program((x, y, out), (SIZE, 1, 1), (Let("i", InvocationId(0)), If(i < x.length, body)))
    table = np.empty((count, width), np.uint32)
    for k in range(width):
        table[:, k] = terms[min(k, len(terms) - 1)].value

    def judge(found: Mapping[str, bytes]) -> tuple[tuple[str, ...], str, str] | None:
        got = np.frombuffer(found[OUT], np.uint32).reshape(count, width)
        if np.array_equal(got, table):
            return None
        row, k = (int(v) for v in np.argwhere(got != table)[0])
        place = (terms[min(k, len(terms) - 1)].text, f"a = 0x{first[row]:X}", f"b = 0x{second[row]:X}")
        return place, f"0x{table[row, k]:X}", f"0x{got[row, k]:X}"

    buffers = {"x": first.tobytes(), "y": second.tobytes(), OUT: b"\xa5" * table.nbytes}
    return Trial("", program, buffers, (-(-count // SIZE), 1, 1), judge)


def literals(op: str, case: int, seed: int, plan: RunPlan) -> Trial:
    """The op with a literal on its right, on its left, and with the same operand twice."""
    drawn = tuple(int(v) for v in random_u32(seed, 16))
    right, left = (drawn[:10], drawn[10:]) if case else (LITERALS, LITERALS[::3])

    def make(a: Term, b: Term) -> list[Term]:
        found = [apply(op, a, a), apply(op, b, b), *(apply(op, a, literal(v)) for v in right)]
        return found + [apply(op, literal(v), a) for v in left]

    return _trial(make, seed)


def constants(case: int, seed: int, plan: RunPlan) -> Trial:
    """Operations on literals alone, which every compiler works out itself."""

    def make(a: Term, b: Term) -> list[Term]:
        chosen = LITERALS[case::8]
        found = [apply(op, literal(v)) for op in _unary_ids() for v in chosen]
        pairs = [(v, w) for v in chosen for w in (0, 32, LITERALS[-1 - case], v)]
        return found + [apply(op, literal(v), literal(w)) for op in _binary_ids() for v, w in pairs[:12]]

    return _trial(make, seed)


def nested(op: str, case: int, seed: int, plan: RunPlan) -> Trial:
    """Every operation inside this one: with the same operands, and with literals."""

    def make(a: Term, b: Term) -> list[Term]:
        found: list[Term] = []
        for inner in _binary_ids():
            if case:
                v, w = (literal(CHAINED[(case + len(found) * k) % len(CHAINED)]) for k in (1, 2))
                found += [apply(op, apply(inner, a, v), v), apply(op, apply(inner, a, v), w)]
            else:
                g = apply(inner, a, b)
                found += [apply(op, g, b), apply(op, a, g), apply(op, g, apply(inner, b, a))]
        for inner in _unary_ids():
            found += [apply(op, apply(inner, a), b), apply(op, apply(inner, a), a)]
        return found

    return _trial(make, seed)


def unary(op: str, case: int, seed: int, plan: RunPlan) -> Trial:
    """A unary operation on the results of every other."""

    def make(a: Term, b: Term) -> list[Term]:
        second = literal(CHAINED[seed % len(CHAINED)]) if case else b
        found = [apply(op, apply(inner, a, second)) for inner in _binary_ids()]
        return found + [apply(op, apply(inner, a)) for inner in _unary_ids()]

    return _trial(make, seed)


def typed(case: int, seed: int, plan: RunPlan) -> Trial:
    """The operators that also take I32 or Bool (decision 2): the same bits as on words."""

    def make(a: Term, b: Term) -> list[Term]:
        found = [_typed(op, t, a, b) for op in _binary_ids() for t in TYPED]
        found += [_typed(op, t, a) for op in _unary_ids() for t in TYPED]
        return [t for t in found if t is not None]

    return _trial(make, seed)


def _typed(op: str, of: DataType, *args: Term) -> Term | None:
    """The op on operands of a type, as a word; None where it does not take them."""
    form = spec(op).form
    assert isinstance(form, ExpressionForm)
    whole = form.build(tuple(Cast(of, t.expr) for t in args))
    if isinstance(whole, BinOp):
        result = binary_type(whole.op, of, of)
    else:
        result = unary_type(whole.op, of) if isinstance(whole, UnOp) else None
    if result is None:
        return None
    words = (t.value if of is DataType.I32 else (t.value != 0).astype(np.uint32) for t in args)
    ((value,),) = spec(op).apply(NUMPY, *words)
    text = f"{op.rpartition('.')[2]} of {of.value}"
    return Term(text, whole if result is U32 else Cast(U32, whole), value)


def _subjects() -> dict[str, Callable[[int, int, RunPlan], Trial]]:
    found: dict[str, Callable[[int, int, RunPlan], Trial]] = {"literals alone": constants, "types": typed}
    for op in _binary_ids():
        found[f"literals in {op}"] = partial(literals, op)
        found[f"operations in {op}"] = partial(nested, op)
    for op in _unary_ids():
        found[f"operations in {op}"] = partial(unary, op)
    return found


STAGE = TrialStage("folding", _subjects(), each=2)
