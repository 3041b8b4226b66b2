"""What to write where a value has another type than the one that is wanted."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from vyre.frontend.values import OPERAND
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CONVERT_INTEGERS, FLOAT_TYPES, CastRule

if TYPE_CHECKING:
    from vyre.frontend.values import Value

_T = DataType
WHOLE = (_T.I32, _T.U32, _T.U64, _T.U128)

_CASTS = {
    CastRule.Identity: "changes nothing",
    CastRule.Bitcast: "keeps the bits: -1 and the greatest unsigned number are the same",
    CastRule.ToBool: "asks whether it is 0",
    CastRule.FromBool: "gives 0 or 1",
    CastRule.ZeroExtend: "keeps its value",
    CastRule.SignExtend: "extends the sign",
    CastRule.Splat: "puts it into every lane",
    CastRule.LowLanes: "keeps the low bits and drops the others",
    CastRule.Widen: "keeps its value",
    CastRule.Round: "rounds to nearest",
}
"""What each rule of the cast table does to a value."""


def retype(variable: Value | None, wanted: DataType) -> str | None:
    """What to write where a variable has its type only because it never got more than plain numbers."""
    if variable is None or not variable.untyped or not (wanted in FLOAT_TYPES or wanted in WHOLE):
        return None
    name, kind, plain = variable.untyped, variable.type.value, variable.plain
    target = type_name(wanted)
    if plain is None or not isfinite(plain):
        return f"write {target}(…) around the plain numbers that {name} is first assigned: they are {kind}."
    if isinstance(plain, bool) or (wanted in WHOLE and isinstance(plain, float)):
        if not float(plain).is_integer():
            return None
        plain = int(plain)
    if wanted in WHOLE[1:] and isinstance(plain, int) and plain < 0:
        plain &= (1 << wanted.bits) - 1
    exact = wanted is _T.F32 and isinstance(plain, int) and abs(plain) < 1 << 24
    number = f"{plain}.0" if exact else f"{target}({plain!r})"
    return f"write {name} = {number} where it is first assigned: a plain number there is {kind}."


def conversion(source: DataType, target: DataType) -> str:
    """What to write to get from one type to the other, and what becomes of the value."""
    name = type_name(target)
    rule = CAST_TABLE.get((source, target))
    if (source in FLOAT_TYPES) != (target in FLOAT_TYPES):
        bits = f"; vyre.bitcast({OPERAND}, {name}) gives its bits" if rule is not None else ""
        write = f"write vyre.convert({OPERAND}, {name}), which gives"
        if source in FLOAT_TYPES and target in CONVERT_INTEGERS:
            return f"{write} the nearest whole number, saturating{bits}."
        if source in CONVERT_INTEGERS:
            return f"{write} its value, rounded where {name} has no room{bits}."
        return f"compute it in {name} from the start."
    if target is _T.F64 and rule is None:
        return f"write f64({OPERAND}), which keeps its value."
    if target is _T.Bool:
        return f"compare it: {OPERAND} != 0."
    if rule is not None:
        plain = target in WHOLE
        call = f"{name}({OPERAND})" if plain else f"vyre.cast({OPERAND}, {name})"
        return f"write {call}, which {_CASTS[rule]}."
    return f"compute it in {name} from the start."


def type_name(t: DataType) -> str:
    names = {_T.Bool: "boolean", _T.Vec2U32: "vec2", _T.Vec4U32: "vec4", _T.Bytes: "packed_bytes"}
    return names.get(t, t.value.lower())
