"""Choices whose outcome, condition or arms are known. `Select` moves the bits of any type."""

from vyre.ir.expr import Cast, Select, Var
from vyre.optimize.rule import CONDITIONS, VALUES
from vyre.optimize.rules.build import BOOL, U32, c, logical_not, rule, word, x, y, z

w = Var("w")
_TRUE, _FALSE = word(BOOL, 1), word(BOOL, 0)

RULES = (
    rule("select-true", Select(c, x, y), x, when=c, x=VALUES, y=VALUES),
    rule("select-false", Select(c, x, y), y, when=logical_not(c), x=VALUES, y=VALUES),
    rule("select-true.bool", Select(_TRUE, x, y), x, x=VALUES, y=VALUES),
    rule("select-false.bool", Select(_FALSE, x, y), y, x=VALUES, y=VALUES),
    rule("select-same", Select(x, y, y), y, x=CONDITIONS, y=VALUES),
    rule("select-not", Select(logical_not(x), y, z), Select(x, z, y), x=CONDITIONS, y=VALUES, z=VALUES),
    rule("select-truth", Select(x.ne(0), y, z), Select(x, y, z), y=VALUES, z=VALUES),
    rule("select-is-zero", Select(x.eq(0), y, z), Select(x, z, y), y=VALUES, z=VALUES),
    rule("select-cast-bool", Select(Cast(BOOL, x), y, z), Select(x, y, z), y=VALUES, z=VALUES),
    rule("select-cast-word", Select(Cast(U32, x), y, z), Select(x, y, z), x=BOOL, y=VALUES, z=VALUES),
    rule("select-one-zero", Select(x, word(U32, 1), word(U32, 0)), x.ne(0)),
    rule("select-zero-one", Select(x, word(U32, 0), word(U32, 1)), logical_not(x), x=CONDITIONS),
    rule("select-one-zero.bool", Select(x, word(U32, 1), word(U32, 0)), Cast(U32, x), x=BOOL),
    rule("select-true-false", Select(x, _TRUE, _FALSE), Cast(BOOL, x)),
    rule("select-true-false.bool", Select(x, _TRUE, _FALSE), x, x=BOOL),
    rule("select-equal", Select(x.eq(y), x, y), y),
    rule("select-unequal", Select(x.ne(y), x, y), x),
    rule("select-equal-swapped", Select(x.eq(y), y, x), x),
    rule("select-unequal-swapped", Select(x.ne(y), y, x), y),
    rule(
        "select-again-true",
        Select(x, Select(x, y, z), w),
        Select(x, y, w),
        x=CONDITIONS, y=VALUES, z=VALUES, w=VALUES,
    ),
    rule(
        "select-again-false",
        Select(x, y, Select(x, z, w)),
        Select(x, y, w),
        x=CONDITIONS, y=VALUES, z=VALUES, w=VALUES,
    ),
    rule("select-value-or-zero", Select(x, x, word(U32, 0)), x),
    rule("select-zero-or-value", Select(x, word(U32, 0), x), 0),
)  # fmt: skip
"""Arms are evaluated whatever the condition says, so a choice may swap or drop them when they are pure."""
