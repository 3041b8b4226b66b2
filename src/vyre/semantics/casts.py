"""What each cast of the table means on words: every rule but the two that round or widen floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.typing import CastRule
from vyre.semantics.words import word_count

if TYPE_CHECKING:
    from vyre.ir.types import DataType
    from vyre.semantics.domain import Domain, V

FLOAT_RULES = frozenset({CastRule.Widen, CastRule.Round})
"""These compute; they have no definition here."""


def cast(d: Domain[V], rule: CastRule, target: DataType, words: tuple[V, ...]) -> tuple[V, ...]:
    """The words of the target, by a rule that moves bits."""
    wanted = word_count(target)
    match rule:
        case CastRule.ToBool:
            every = words[0]
            for word in words[1:]:
                every = d.or_(every, word)
            return (d.ne(every, d.const(0)),)
        case CastRule.ZeroExtend:
            return (*words, *(d.const(0),) * (wanted - len(words)))
        case CastRule.SignExtend:
            sign = d.sub(d.const(0), d.shr(words[0], d.const(31)))
            return (*words, *(sign,) * (wanted - len(words)))
        case CastRule.Splat:
            return words * wanted
        case CastRule.LowLanes:
            return words[:wanted]
        case CastRule.LowHalf:
            return (d.and_(words[0], d.const(0xFFFF)),)
        case _:
            return words
