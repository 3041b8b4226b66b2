"""Logic on conditions: every number but 0 is true, and results are 0 or 1."""

from __future__ import annotations

from vyre.ir.expr import Cast
from vyre.optimize.rules.build import BOOL, U32, c, logical_not, rule, word, x, y

_TRUE, _FALSE = word(BOOL, 1), word(BOOL, 0)
_AND, _OR, _NOT = x.and_(y), x.or_(y), logical_not(x)

RULES = (
    rule("and-false", x.and_(0), 0),
    rule("and-true", x.and_(c), x.ne(0), when=c),
    rule("or-false", x.or_(0), x.ne(0)),
    rule("or-true", x.or_(c), 1, when=c),
    rule("logical-and-self", x.and_(x), x.ne(0)),
    rule("logical-or-self", x.or_(x), x.ne(0)),
    rule("and-false.bool", x.and_(_FALSE), 0, x=BOOL),
    rule("and-true.bool", x.and_(_TRUE), Cast(U32, x), x=BOOL),
    rule("or-false.bool", x.or_(_FALSE), Cast(U32, x), x=BOOL),
    rule("or-true.bool", x.or_(_TRUE), 1, x=BOOL),
    rule("logical-and-self.bool", x.and_(x), Cast(U32, x), x=BOOL),
    rule("logical-or-self.bool", x.or_(x), Cast(U32, x), x=BOOL),
    rule("not-twice", logical_not(logical_not(x)), x.ne(0)),
    rule("not-twice.bool", logical_not(logical_not(x)), Cast(U32, x), x=BOOL),
    rule("not-is-zero", _NOT.eq(0), x.ne(0)),
    rule("not-not-zero", _NOT.ne(0), _NOT, x=(U32, BOOL)),
    rule("not-flipped", _NOT ^ 1, x.ne(0)),
    rule("and-not-zero", _AND.ne(0), _AND, x=(U32, BOOL), y=(U32, BOOL)),
    rule("or-not-zero", _OR.ne(0), _OR, x=(U32, BOOL), y=(U32, BOOL)),
    rule("and-is-zero", _AND.eq(0), logical_not(_AND), x=(U32, BOOL), y=(U32, BOOL)),
    rule("or-is-zero", _OR.eq(0), logical_not(_OR), x=(U32, BOOL), y=(U32, BOOL)),
    rule("and-of-truth", x.ne(0).and_(y), _AND),
    rule("and-truth-of", x.and_(y.ne(0)), _AND),
    rule("or-of-truth", x.ne(0).or_(y), _OR),
    rule("or-truth-of", x.or_(y.ne(0)), _OR),
    rule("and-contradiction", x.and_(logical_not(x)), 0),
    rule("or-tautology", x.or_(logical_not(x)), 1),
    rule("logical-absorb-and", x.and_(x.or_(y)), x.ne(0)),
    rule("logical-absorb-or", x.or_(x.and_(y)), x.ne(0)),
    rule("logical-de-morgan-and", logical_not(x).and_(logical_not(y)), logical_not(_OR)),
    rule("logical-de-morgan-or", logical_not(x).or_(logical_not(y)), logical_not(_AND)),
)
