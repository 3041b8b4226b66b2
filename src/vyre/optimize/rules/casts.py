"""Casts of casts, and casts that are questions.

A cast in between that keeps every bit the second one asks for may be left out. Which chains those are is
written down pair by pair, because width alone does not tell: U32 to I32 to U64 extends a sign that U32 to
U64 does not, and U64 to U32 to Bool forgets the high lane.
"""

from vyre.ir.expr import Cast
from vyre.ir.types import DataType
from vyre.optimize.rule import VALUES
from vyre.optimize.rules.build import BOOL, I32, U32, c, logical_not, rule, word, x

_CHAINS = {
    ("I32", "U32"): "U32 Bool U64 Vec2U32 Vec4U32 U128",
    ("I32", "U64"): "Bool",
    ("I32", "Vec2U32"): "U32 Bool",
    ("I32", "Vec4U32"): "U32 Bool",
    ("I32", "Bool"): "U32 Bool",
    ("I32", "U128"): "Bool",
    ("U64", "I32"): "U32 I32 Bool Vec2U32 Vec4U32 U128",
    ("U64", "Vec2U32"): "Vec2U32 Vec4U32 U128",
    ("U64", "Bool"): "U32 I32 Bool Vec2U32",
    ("U64", "U128"): "U32 Bool Vec2U32",
    ("Vec2U32", "I32"): "U32 I32 Bool U64 Vec4U32 U128",
    ("Vec2U32", "U64"): "U64 Vec4U32 U128",
    ("Vec2U32", "Bool"): "U32 I32 Bool U64",
    ("Vec2U32", "U128"): "U64",
    ("Vec4U32", "I32"): "U32 I32 Bool U128",
    ("Vec4U32", "U64"): "U128",
    ("Vec4U32", "Vec2U32"): "U32 I32 Bool U128",
    ("Vec4U32", "Bool"): "U32 I32 Bool U128",
    ("Vec4U32", "U128"): "U128",
    ("U32", "I32"): "I32 Bool U64 Vec2U32 Vec4U32 U128",
    ("U32", "U64"): "Bool",
    ("U32", "Vec2U32"): "I32 Bool",
    ("U32", "Vec4U32"): "I32 Bool",
    ("U32", "Bool"): "I32 Bool",
    ("U32", "U128"): "Bool",
    ("U32", "F32"): "F32",
    ("U32", "F16"): "F16",
    ("U32", "BF16"): "BF16",
    ("U128", "I32"): "U32 I32 U64 Vec2U32 Vec4U32 Bool",
    ("U128", "U64"): "U32 I32 U64 Vec2U32 Vec4U32 Bool",
    ("U128", "Vec2U32"): "U64 Vec2U32 Vec4U32",
    ("U128", "Vec4U32"): "Vec4U32",
    ("U128", "Bool"): "U32 I32 U64 Vec2U32 Vec4U32 Bool",
    ("F32", "U32"): "U32",
}
"""(in between, at the end): where the value may come from. Wide to U32 is lane 0, which has its own rules."""


def _types(names: str) -> tuple[DataType, ...]:
    return tuple(DataType(name) for name in names.split())


RULES = (
    *(rule(f"cast-same-{t.value.lower()}", Cast(t, x), x, x=t) for t in VALUES),
    *(
        rule(
            f"cast-{via.lower()}-{end.lower()}",
            Cast(DataType(end), Cast(DataType(via), x)),
            Cast(DataType(end), x),
            x=_types(sources),
        )
        for (via, end), sources in _CHAINS.items()
    ),
    rule("not-cast-bool", logical_not(Cast(BOOL, x)), logical_not(x)),
    rule("not-cast-word", logical_not(Cast(U32, x)), logical_not(x), x=BOOL),
    rule("cast-word-not-zero", Cast(U32, x).ne(0), Cast(U32, x), x=BOOL),
    rule("cast-word-is-zero", Cast(U32, x).eq(0), logical_not(x), x=BOOL),
    rule("cast-truth", Cast(BOOL, x.ne(0)), Cast(BOOL, x)),
    rule("cast-truth.i32", Cast(BOOL, x.ne(word(I32, 0))), Cast(BOOL, x), x=I32),
    rule("truth-of-cast", Cast(U32, Cast(BOOL, x)), x.ne(0)),
    rule("truth-of-cast.i32", Cast(U32, Cast(BOOL, x)), x.ne(word(I32, 0)), x=I32),
    rule("cast-sign-eq", Cast(I32, x).eq(c), x.eq(Cast(U32, c)), c=I32),
    rule("cast-sign-ne", Cast(I32, x).ne(c), x.ne(Cast(U32, c)), c=I32),
    rule("cast-unsign-eq", Cast(U32, x).eq(c), x.eq(Cast(I32, c)), x=I32),
    rule("cast-unsign-ne", Cast(U32, x).ne(c), x.ne(Cast(I32, c)), x=I32),
)
