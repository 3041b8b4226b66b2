"""`Cast` on bits: what each rule of the cast table does. Lane 0 of a wide value is its low 32 bits.

Only the pairs of `CAST_TABLE` have a meaning; any other pair is refused, never guessed at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import InterpreterError
from vyre.ir.limits import U32_MAX
from vyre.ir.typing import CAST_TABLE, CastRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.types import DataType

_SIGN = 1 << 31


def cast(source: DataType, target: DataType, bits: int) -> int:
    """The bits of a `source` value after a cast to `target`."""
    return caster(source, target)(bits)


def caster(source: DataType, target: DataType) -> Callable[[int], int]:
    """The cast of one pair of types, as a function on bits."""
    rule = CAST_TABLE.get((source, target))
    match rule:
        case None:
            raise InterpreterError(
                f"there is no cast from {source.value} to {target.value}.",
                fix="use a pair of the cast table, or Convert between integers and floats.",
            )
        case CastRule.Identity | CastRule.Bitcast | CastRule.FromBool:
            return lambda bits: bits
        case CastRule.ZeroExtend | CastRule.ZeroExtendHalf:
            return lambda bits: bits
        case CastRule.ToBool:
            return lambda bits: 1 if bits else 0
        case CastRule.SignExtend:
            high = (1 << target.bits) - 1 - U32_MAX
            return lambda bits: bits | high if bits & _SIGN else bits
        case CastRule.Splat:
            ones = sum(1 << 32 * lane for lane in range(target.lanes))
            return lambda bits: bits * ones
        case CastRule.LowLanes | CastRule.LowHalf:
            kept = (1 << target.bits) - 1
            return lambda bits: bits & kept
        case CastRule.Widen | CastRule.Round:
            from vyre.reference import floats

            old, new = floats.FORMATS[source], floats.FORMATS[target]
            return lambda bits: floats.change_format(old, new, bits)
