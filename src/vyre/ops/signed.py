"""`signed.*`: what depends on the sign of an I32, composed from U32 operators (decision 2)."""

from __future__ import annotations

from vyre.ir.expr import Cast, Expr, LitU32, Select, Var
from vyre.ir.node import Let
from vyre.ir.op import Op, Param
from vyre.ops.build import I32, U32, A, B, binary, shift, unary

_A = Cast(U32, A)
_B = Cast(U32, B)
_SIGN_BIT = LitU32(0x8000_0000)


def _mask(bits: Expr) -> Expr:
    """All ones for a negative number, else zero."""
    return -(bits >> 31)


def _ordered(value: Expr) -> Expr:
    """Flipping the sign bit maps signed order onto unsigned order."""
    return Cast(U32, value) ^ _SIGN_BIT


def _negate_where(mask: Expr, bits: Expr) -> Expr:
    return (bits ^ mask) - mask


def _compare(name: str, result: Expr, doc: str) -> Op:
    return binary(f"signed.{name}", result, doc, of=I32, gives=U32)


def _divide(name: str, magnitude: Expr, negative: Expr, doc: str) -> Op:
    """Divides magnitudes, then gives the result its sign; -2^31 is its own magnitude, 2^31."""
    body = (
        Let("mask_a", _mask(_A)),
        Let("mask_b", _mask(_B)),
        Let("size_a", _negate_where(Var("mask_a"), _A)),
        Let("size_b", _negate_where(Var("mask_b"), _B)),
        Let("sign", negative),
    )
    result = Cast(I32, _negate_where(Var("sign"), magnitude))
    return binary(f"signed.{name}", result, doc, of=I32, body=body)


def _saturating(name: str, plain: Expr, one: Expr, other: Expr, doc: str) -> Op:
    """Past the range where both have their top bit set; the limit on the side of `a` then."""
    limit = (_A >> 31) + LitU32(0x7FFF_FFFF)
    result = Cast(I32, Select((one & other) >> 31, limit, Var("plain")))
    doc = f"{doc}, at least -2^31 and at most 2^31 - 1."
    return binary(f"signed.{name}", result, doc, of=I32, body=(Let("plain", plain),))


def _clamp() -> Op:
    x, low, high, raised = Var("x"), Var("low"), Var("high"), Var("raised")
    return Op(
        "signed.clamp",
        (Param("x", I32), Param("low", I32), Param("high", I32)),
        I32,
        Select(_ordered(raised) > _ordered(high), high, raised),
        (Let("raised", Select(_ordered(x) < _ordered(low), low, x)),),
        doc="`x` raised to `low`, then lowered to `high`.",
    )


def ops() -> list[Op]:
    a, b = _ordered(A), _ordered(B)
    size_a, size_b = Var("size_a"), Var("size_b")
    mask = Var("mask")
    amount = Var("amount")
    return [
        _divide(
            "div",
            size_a // size_b,
            Var("mask_a") ^ Var("mask_b"),
            "Quotient, rounded toward zero; 0 when `b` is 0; -2^31 / -1 wraps to -2^31.",
        ),
        _divide("mod", size_a % size_b, Var("mask_a"), "Remainder with the sign of `a`; 0 when `b` is 0."),
        shift(
            "signed.shl", Cast(I32, _A << amount), "`a` shifted left by the low 5 bits of `amount`.", of=I32
        ),
        shift(
            "signed.shr",
            Cast(I32, ((_A ^ mask) >> amount) ^ mask),
            "`a` shifted right by the low 5 bits of `amount`, the sign bit moving in.",
            of=I32,
            body=(Let("mask", _mask(_A)),),
        ),
        _compare("lt", a < b, "1 when `a` is below `b`, else 0."),
        _compare("gt", a > b, "1 when `a` is above `b`, else 0."),
        _compare("le", a <= b, "1 when `a` is at most `b`, else 0."),
        _compare("ge", a >= b, "1 when `a` is at least `b`, else 0."),
        binary("signed.min", Select(a < b, A, B), "The lesser.", of=I32),
        binary("signed.max", Select(a > b, A, B), "The greater.", of=I32),
        unary(
            "signed.abs",
            Cast(I32, _negate_where(_mask(_A), _A)),
            "The magnitude; -2^31 wraps to itself.",
            of=I32,
        ),
        unary(
            "signed.sign",
            Cast(I32, _mask(_A) | (_A.eq(0) ^ 1)),
            "-1 below zero, 0 on it and 1 above it.",
            of=I32,
        ),
        _clamp(),
        _saturating("add_sat", _A + _B, _A ^ Var("plain"), _B ^ Var("plain"), "Sum"),
        _saturating("sub_sat", _A - _B, _A ^ _B, _A ^ Var("plain"), "Difference"),
    ]
