"""Lanes of what was just made of lanes, and wide values made of their own lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Cast, Lane, LitU32, MakeVec, Var
from vyre.ir.types import LANE_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, CastRule
from vyre.optimize.rules.build import U32, rule, x

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.optimize.rule import Rule

_WIDE = tuple(t for t in DataType if t in LANE_TYPES)
_NAMES = ("x", "y", "z", "w")


def _made(t: DataType) -> list[Rule]:
    lanes = tuple(Var(name) for name in _NAMES[: t.lanes])
    name = t.value.lower()
    taken = [rule(f"lane-{i}-of-made-{name}", Lane(MakeVec(t, lanes), i), lanes[i]) for i in range(t.lanes)]
    own = MakeVec(t, tuple(Lane(x, i) for i in range(t.lanes)))
    whole = [
        rule(f"made-{name}-of-{s.value.lower()}", own, x if s is t else Cast(t, x), x=s)
        for s in _WIDE
        if s.lanes == t.lanes
    ]
    return taken + whole


def _cast_lanes(source: DataType, target: DataType, how: CastRule) -> list[Rule]:
    """A lane of a cast is a lane of its operand, the operand itself, its sign, or zero."""
    rules: list[Rule] = []
    for i in range(target.lanes):
        found: Expr
        if how in (CastRule.Bitcast, CastRule.LowLanes) or (how is CastRule.ZeroExtend and i < source.lanes):
            found = Lane(x, i) if source.lanes > 1 else _word(source)
        elif how is CastRule.ZeroExtend:
            found = LitU32(0)
        elif how is CastRule.Splat or (how is CastRule.SignExtend and i == 0):
            found = _word(source)
        else:
            continue
        name = f"lane-{i}-of-{target.value.lower()}-from-{source.value.lower()}"
        rules.append(rule(name, Lane(Cast(target, x), i), found, x=source))
    return rules


def _word(source: DataType) -> Expr:
    return x if source is U32 else Cast(U32, x)


def _cast_made(source: DataType, target: DataType) -> Rule:
    """A cast of what was made of lanes takes the lanes it needs."""
    lanes = tuple(Var(name) for name in _NAMES[: source.lanes])
    kept = (*lanes[: target.lanes], *(LitU32(0),) * (target.lanes - source.lanes))
    name = f"made-{source.value.lower()}-to-{target.value.lower()}"
    return rule(name, Cast(target, MakeVec(source, lanes)), MakeVec(target, kept))


_CASTS = [(s, t, how) for (s, t), how in CAST_TABLE.items() if t in LANE_TYPES and s is not t]

RULES = (
    *(r for t in _WIDE for r in _made(t)),
    *(r for s, t, how in _CASTS for r in _cast_lanes(s, t, how)),
    *(_cast_made(s, t) for s, t, _ in _CASTS if s in LANE_TYPES and s.lanes >= t.lanes),
    *(rule(f"low-lane-of-{t.value.lower()}", Cast(U32, x), Lane(x, 0), x=t) for t in _WIDE),
)
