"""`wide.i64.*`: what depends on the sign of 64 bits. There is no value of I64; its bits are a U64."""

from __future__ import annotations

from vyre.ir.expr import Expr, LitU32, MakeVec, Select, Var
from vyre.ir.node import Let
from vyre.ir.op import Op, Param
from vyre.ops.build import U32, U64, A, B, binary, lanes, shift, unary

_SIGN_BIT = 0x8000_0000


def _less(x: Expr, y: Expr) -> Expr:
    """The high lanes decide, with their signs; else the low ones, without."""
    (a0, a1), (b0, b1) = lanes(x, 2), lanes(y, 2)
    return ((a1 ^ _SIGN_BIT) < (b1 ^ _SIGN_BIT)) | (a1.eq(b1) & (a0 < b0))


def _compare(name: str, result: Expr, doc: str) -> Op:
    return binary(f"wide.i64.{name}", result, doc, of=U64, gives=U32)


def _shr() -> Op:
    """All bits are flipped below zero, shifted with zeros moving in, and flipped back."""
    low, high = lanes(A, 2)
    amount, mask, small, whole = Var("amount"), Var("mask"), Var("small"), Var("whole")
    first, second, kept = Var("first"), Var("second"), Var("kept")
    body = (
        Let("small", amount & 31),
        Let("whole", amount & 32),
        Let("mask", -(high >> 31)),
        Let("first", low ^ mask),
        Let("second", high ^ mask),
        Let("kept", second >> small),
        Let("mixed", first >> small | (second << 1) << (31 - small)),
    )
    made = (Select(whole, kept, Var("mixed")) ^ mask, Select(whole, LitU32(0), kept) ^ mask)
    doc = "`a` shifted right by the low 6 bits of `amount`, the sign bit moving in."
    return shift("wide.i64.shr", MakeVec(U64, made), doc, of=U64, body=body)


def _abs() -> Op:
    """The bits flipped below zero, plus 1, which is carried where the low lane was 0."""
    low, high = lanes(A, 2)
    mask, first = Var("mask"), Var("first")
    made = MakeVec(U64, (first, (high ^ mask) + (first.eq(0) & mask)))
    body = (Let("mask", -(high >> 31)), Let("first", (low ^ mask) - mask))
    return Op(
        "wide.i64.abs", (Param("a", U64),), U64, made, body, doc="The magnitude; -2^63 wraps to itself."
    )


def ops() -> list[Op]:
    less, greater = _less(A, B), _less(B, A)
    low, high = lanes(A, 2)
    negated = MakeVec(U64, (-low, ~high + low.eq(0)))
    return [
        _shr(),
        _compare("lt", less, "1 when `a` is below `b`, else 0."),
        _compare("gt", greater, "1 when `a` is above `b`, else 0."),
        _compare("le", greater ^ 1, "1 when `a` is at most `b`, else 0."),
        _compare("ge", less ^ 1, "1 when `a` is at least `b`, else 0."),
        binary("wide.i64.min", Select(less, A, B), "The lesser.", of=U64),
        binary("wide.i64.max", Select(greater, A, B), "The greater.", of=U64),
        unary("wide.i64.neg", negated, "0 - `a` modulo 2^64.", of=U64),
        _abs(),
    ]
