"""`integer.gcd`, `integer.mul_mod`, `integer.pow_mod`: common divisors, arithmetic with any modulus."""

from __future__ import annotations

from vyre.ir.expr import Call, LitU32, Select, Var, mul_hi
from vyre.ir.node import Assign, Break, If, Let, Loop
from vyre.ir.op import Op, Param
from vyre.ops.build import U32, A, B, binary

_MODULUS = Var("modulus")

GCD_TURNS = 47
"""Of Euclid's algorithm on words: one to order them and 46 more, as the 48th Fibonacci number has 33 bits."""


def _gcd() -> Op:
    """Euclid's algorithm; it ends by itself where a remainder is 0."""
    x, y = Var("x"), Var("y")
    turn = (
        If(y.eq(0), (Break(),)),
        Let("left", x % y),
        Assign("x", y),
        Assign("y", Var("left")),
    )
    body = (Let("x", A), Let("y", B), Loop("i", LitU32(0), LitU32(GCD_TURNS), turn))
    return binary("integer.gcd", x, "Greatest common divisor; the other one where one is 0.", body=body)


def _mul_mod() -> Op:
    """The high word of the product by one instruction, the low one a bit at a turn."""
    rest, digits, moved, fits = Var("rest"), Var("digits"), Var("moved"), Var("fits")
    turn = (
        Let("moved", rest << 1 | digits >> 31),
        Let("fits", rest >> 31 | (moved >= _MODULUS)),
        Assign("rest", Select(fits, moved - _MODULUS, moved)),
        Assign("digits", digits << 1),
    )
    body = (
        Let("rest", mul_hi(A, B) % _MODULUS),
        Let("digits", A * B),
        Loop("i", LitU32(0), LitU32(32), turn),
    )
    return Op(
        "integer.mul_mod",
        (Param("a", U32), Param("b", U32), Param("modulus", U32)),
        U32,
        Select(_MODULUS, rest, LitU32(0)),
        body,
        doc="`a` * `b` of 64 bits, modulo `modulus`; 0 when `modulus` is 0.",
    )


def _pow_mod() -> Op:
    """A square for each bit of the exponent, up to its highest."""
    power, base, bits = Var("power"), Var("base"), Var("bits")
    turn = (
        If(bits.eq(0), (Break(),)),
        If(bits & 1, (Assign("power", Call("integer.mul_mod", (power, base, _MODULUS))),)),
        Assign("base", Call("integer.mul_mod", (base, base, _MODULUS))),
        Assign("bits", bits >> 1),
    )
    body = (
        Let("power", LitU32(1) % _MODULUS),
        Let("base", A % _MODULUS),
        Let("bits", Var("exponent")),
        Loop("i", LitU32(0), LitU32(32), turn),
    )
    return Op(
        "integer.pow_mod",
        (Param("a", U32), Param("exponent", U32), Param("modulus", U32)),
        U32,
        power,
        body,
        doc="`a` to the power `exponent`, modulo `modulus`; 0 when `modulus` is 0, and `a`^0 is 1 modulo it.",
    )


def ops() -> list[Op]:
    return [_gcd(), _mul_mod(), _pow_mod()]
