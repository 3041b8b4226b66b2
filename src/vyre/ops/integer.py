"""`integer.*`: everyday functions of U32."""

from __future__ import annotations

from vyre.ir.expr import LitU32, Select, UnOp, Var
from vyre.ir.limits import U32_MAX
from vyre.ir.node import Assign, If, Let, Loop
from vyre.ir.op import Op, Param
from vyre.ir.operators import UnaryOp
from vyre.ops.build import U32, A, B, binary, shift, unary


def _clamp() -> Op:
    x, low, high, raised = Var("x"), Var("low"), Var("high"), Var("raised")
    return Op(
        "integer.clamp",
        (Param("x", U32), Param("low", U32), Param("high", U32)),
        U32,
        Select(raised > high, high, raised),
        (Let("raised", Select(x < low, low, x)),),
        doc="`x` raised to `low`, then lowered to `high`.",
    )


def _isqrt() -> Op:
    """Bit by bit from the top: 16 steps, because the root of a u32 has 16 bits."""
    root, tried, i = Var("root"), Var("tried"), Var("i")
    step = (
        Let("tried", root | LitU32(0x8000) >> i),
        If(tried * tried <= A, (Assign("root", tried),)),
    )
    body = (Let("root", LitU32(0)), Loop("i", LitU32(0), LitU32(16), step))
    return Op("integer.isqrt", (Param("a", U32),), U32, root, body, doc="Square root, rounded down.")


_OFFSET, _COUNT = Var("offset"), Var("count")
_FIELD = (
    Let("start", Select(_OFFSET > 32, LitU32(32), _OFFSET)),
    Let("size", Select(32 - Var("start") < _COUNT, 32 - Var("start"), _COUNT)),
    # A shift by 32 is a shift by nothing, so a field of no bits is asked for by name.
    Let("mask", Select(Var("size"), LitU32(U32_MAX) >> (32 - Var("size")), LitU32(0))),
)
"""Where a field begins, how many bits it has, and as many ones; what lies past bit 31 is cut off."""


def _extract() -> Op:
    return Op(
        "integer.extract_bits",
        (Param("a", U32), Param("offset", U32), Param("count", U32)),
        U32,
        A >> Var("start") & Var("mask"),
        _FIELD,
        doc="`count` bits of `a` from bit `offset` on; those past bit 31 are 0.",
    )


def _insert() -> Op:
    place = Var("mask") << Var("start")
    return Op(
        "integer.insert_bits",
        (Param("a", U32), Param("bits", U32), Param("offset", U32), Param("count", U32)),
        U32,
        (A & ~place) | (Var("bits") << Var("start") & place),
        _FIELD,
        doc="`a` with `count` bits from bit `offset` on replaced by the low ones of `bits`.",
    )


def ops() -> list[Op]:
    amount = Var("amount")
    bits = Var("bits")
    return [
        binary("integer.min", Select(A < B, A, B), "The lesser."),
        binary("integer.max", Select(A > B, A, B), "The greater."),
        _clamp(),
        binary("integer.abs_diff", Select(A < B, B - A, A - B), "The distance between the two."),
        shift(
            "integer.rotl",
            A << amount | A >> -amount,
            "`a` rotated left by the low 5 bits of `amount`.",
            of=U32,
        ),
        shift(
            "integer.rotr",
            A >> amount | A << -amount,
            "`a` rotated right by the low 5 bits of `amount`.",
            of=U32,
        ),
        unary("integer.is_power_of_two", UnOp(UnaryOp.Popcount, A).eq(1), "1 on a power of two, else 0."),
        Op(
            "integer.next_power_of_two",
            (Param("a", U32),),
            U32,
            # A shift by 32 is a shift by nothing, so the overflow is asked for by name.
            Select(A <= 1, LitU32(1), Select(bits >> 5, LitU32(0), LitU32(1) << bits)),
            (Let("bits", 32 - UnOp(UnaryOp.Clz, A - 1)),),
            doc="The least power of two at or above `a`; 0 above 2^31.",
        ),
        _isqrt(),
        binary("integer.add_sat", Select(A + B < A, LitU32(U32_MAX), A + B), "Sum, at most 2^32 - 1."),
        binary("integer.sub_sat", Select(A < B, LitU32(0), A - B), "Difference, at least 0."),
        _extract(),
        _insert(),
    ]
