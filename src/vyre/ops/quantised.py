"""`fp8.*` and `nf4.*`: floats of 8 and 4 bits as codes in a U32, converted on integers alone (decision 31).

`fp8.e4m3fn` and `fp8.e5m2` are the OCP formats. Decoding is exact and looks at the low bits of its operand
alone. Encoding rounds to nearest even; what is too large, infinities included, becomes the largest number
where the op saturates, else NaN (E4M3FN, which has no infinity) or infinity (E5M2). Every NaN becomes one
code without a sign: 0x7F and 0x7E.

`nf4` has sixteen values from -1 to 1. Encoding takes the nearest, of two as near the lower code; NaN becomes
code 7, whose value is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from vyre.ir.expr import Cast, Expr, LitU32, Select, UnOp, Var
from vyre.ir.node import Let
from vyre.ir.op import Op, Param
from vyre.ir.operators import UnaryOp
from vyre.ir.types import DataType
from vyre.ops.build import U32, A, fold

_F32 = DataType.F32
_NAN, _INFINITY = 0x7FC0_0000, 0x7F80_0000


@dataclass(frozen=True, slots=True)
class Format:
    """A float of 8 bits. `largest` is the code of its greatest number, `over` what lies beyond it."""

    name: str
    fraction: int
    bias: int
    largest: int
    over: int
    nan: int

    @property
    def infinite(self) -> bool:
        """Whether the format has infinities."""
        return self.over != self.nan

    @property
    def beyond(self) -> str:
        return "infinity" if self.infinite else "NaN"

    @property
    def first_normal(self) -> int:
        """The code of the least number that is not subnormal."""
        return 1 << self.fraction

    @property
    def dropped(self) -> int:
        """Bits of the fraction of an F32 that the format has not."""
        return 23 - self.fraction

    @property
    def lifted(self) -> int:
        """The difference of the two biases, in place."""
        return (127 - self.bias) << 23


E4M3FN = Format("e4m3fn", 3, 7, 0x7E, 0x7F, 0x7F)
E5M2 = Format("e5m2", 2, 15, 0x7B, 0x7C, 0x7E)
FORMATS = (E4M3FN, E5M2)

NF4 = (
    0xBF80_0000,
    0xBF32_39B1,
    0xBF06_6B30,
    0xBECA_32A0,
    0xBE91_A24D,
    0xBE3D_353F,
    0xBDBA_7871,
    0x0000_0000,
    0x3DA2_FAFF,
    0x3E24_CAE3,
    0x3E7C_04DD,
    0x3EAD_033A,
    0x3EE1_A4B8,
    0x3F10_07AB,
    0x3F39_13B3,
    0x3F80_0000,
)
"""The F32 of each code."""

NF4_LIMITS = (
    0xBF59_1CD9,
    0xBF1C_5271,
    0xBEEB_8480,
    0xBEAD_EA77,
    0xBE70_3CED,
    0xBE0D_38BC,
    0xBD3A_7871,
    0x3D22_FAFF,
    0x3DF6_4862,
    0x3E50_67E0,
    0x3E95_82D4,
    0x3EC7_53F9,
    0x3F00_6D03,
    0x3F24_8DAF,
    0x3F5C_89D9,
)
"""The greatest F32 that is not above the middle between a code's value and the next one's."""

_SIGN, _ALL = 0x8000_0000, 0xFFFF_FFFF


def _decode(f: Format) -> Op:
    magnitude, zeros = Var("magnitude"), Var("zeros")
    normal = (magnitude << f.dropped) + f.lifted
    # A subnormal: its highest bit, at 31 - zeros, moves to 23, where it adds 1 to the exponent.
    exponent = LitU32(127 - f.bias - f.fraction + 31) - zeros
    small = Select(magnitude.eq(0), LitU32(0), (magnitude << (zeros - 8)) + (exponent << 23))
    number = Select(magnitude >= f.first_normal, normal, small)
    if f.infinite:
        number = Select(magnitude.eq(f.over), LitU32(_INFINITY), number)
    last = f.over if f.infinite else f.largest
    bits = Select(magnitude > last, LitU32(_NAN), number | (A & 0x80) << 24)
    return Op(
        f"fp8.{f.name}.decode",
        (Param("a", U32),),
        _F32,
        Cast(_F32, bits),
        (Let("magnitude", A & 0x7F), Let("zeros", UnOp(UnaryOp.Clz, magnitude))),
        doc=f"The {f.name.upper()} whose code is the low 8 bits of `a`, exactly.",
    )


def _to_even(value: Expr, by: Expr | int) -> Expr:
    """`value` shifted right by 1 or more, rounded to nearest, ties to even."""
    return (value + (((LitU32(1) << by) >> 1) - 1) + (value >> by & 1)) >> by


def _encode(f: Format, name: str, over: int, doc: str) -> Op:
    word, magnitude, shift, code = Var("word"), Var("magnitude"), Var("shift"), Var("code")
    least = (128 - f.bias) << 23
    # Beyond 25 bits a significand of 24 is less than a half, whatever it is.
    needed = LitU32(151 - f.bias - f.fraction) - (magnitude >> 23)
    significand = (magnitude & 0x7F_FFFF) | 0x80_0000
    small = _to_even(significand, shift)
    normal = _to_even(magnitude, f.dropped) - (f.lifted >> f.dropped)
    sign = word >> 24 & 0x80
    beyond = LitU32(over) if over == f.nan else LitU32(over) | sign
    return Op(
        f"fp8.{f.name}.{name}",
        (Param("a", _F32),),
        U32,
        Select(magnitude > _INFINITY, LitU32(f.nan), Select(code > f.largest, beyond, code | sign)),
        (
            Let("word", Cast(U32, A)),
            Let("magnitude", word & ~LitU32(_SIGN)),
            Let("shift", Select(needed > 25, LitU32(25), needed)),
            Let("code", Select(magnitude >= least, normal, small)),
        ),
        doc=f"The code of the nearest {f.name.upper()}, ties to even; {doc}.",
    )


def _order(word: Expr) -> Expr:
    """A U32 that is ordered as the F32 of these bits; -0 is below +0."""
    return word ^ Select(word >> 31, LitU32(_ALL), LitU32(_SIGN))


def _ordered(bits: int) -> int:
    return bits ^ (_ALL if bits >> 31 else _SIGN)


def _nf4_decode() -> Op:
    found: list[Expr] = [LitU32(bits) for bits in NF4]
    for bit in range(4):
        odd = A >> bit & 1
        found = [Select(odd, found[k + 1], found[k]) for k in range(0, len(found), 2)]
    doc = "The value of the NF4 code in the low 4 bits of `a`."
    return Op("nf4.decode", (Param("a", U32),), _F32, Cast(_F32, found[0]), doc=doc)


def _nf4_encode() -> Op:
    word, order = Var("word"), Var("order")
    passed = fold([order > _ordered(limit) for limit in NF4_LIMITS], lambda a, b: a + b)
    return Op(
        "nf4.encode",
        (Param("a", _F32),),
        U32,
        Select((word & ~LitU32(_SIGN)) > _INFINITY, LitU32(7), passed),
        (Let("word", Cast(U32, A)), Let("order", _order(word))),
        doc="The NF4 code whose value is nearest, the lower one of two; 7, which is 0, for NaN.",
    )


def ops() -> list[Op]:
    saturates = "too large a number becomes the largest"
    return [
        *(
            op
            for f in FORMATS
            for op in (
                _decode(f),
                _encode(f, "encode", f.largest, saturates),
                _encode(f, "encode_over", f.over, f"too large a number becomes {f.beyond}"),
            )
        ),
        _nf4_decode(),
        _nf4_encode(),
    ]
