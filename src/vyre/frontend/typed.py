"""Types that are called: `u32(5)`, `i32(x)`, `f32(i)`, `vec2(x, y)`."""

from __future__ import annotations

from vyre.frontend.intrinsics import cast_to, convert_to, make
from vyre.frontend.operators import as_u32, constant, number
from vyre.frontend.retyping import conversion, type_name
from vyre.frontend.stored import require_value
from vyre.frontend.values import OPERAND, Const, Operand, Refused, Value, describe
from vyre.ir.types import FLOAT_TYPES, DataType
from vyre.ir.typing import CONVERT_INTEGERS


def typed(kind: DataType, args: list[Operand]) -> Operand:
    """The argument in that type. A float does not become an integer, which has more ways than one."""
    name = type_name(require_value(kind))
    if kind in (DataType.Vec2U32, DataType.Vec4U32):
        return make(kind, tuple(args))
    if len(args) > 1 or kind is DataType.Bytes:
        raise Refused(f"{name}() takes one number.", f"write {name}(1), or vyre.from_lanes({name}, …).")
    value = args[0] if args else Const(0)
    if isinstance(value, Const):
        return constant(Const(bool(value.value) if kind is DataType.Bool else value.value), kind)
    found = value.type if isinstance(value, Value) else None
    if found is kind:
        return value
    if found is None and kind in FLOAT_TYPES:
        raise Refused(
            f"{name}() takes a number, and {describe(value)} is not one.",
            f"pass a number: {name}(1), or math.inf and math.nan.",
        )
    if found in FLOAT_TYPES and kind not in FLOAT_TYPES:
        raise Refused(
            f"{name}() of {found.value} could mean its whole part, the nearest number or its bits.",
            f'write vyre.convert({OPERAND}, {name}, mode="truncate"), which drops the fraction; without mode='
            f" it is the nearest number, and vyre.bitcast({OPERAND}, {name}) gives the bits."
            if kind in CONVERT_INTEGERS
            else conversion(found, kind),
            value,
        )
    if kind in FLOAT_TYPES and found not in FLOAT_TYPES:
        return convert_to(kind, as_u32(number(value)))
    if kind is DataType.F64 and found in (DataType.F16, DataType.BF16):
        value = cast_to(DataType.F32, value)  # there is no cast of both steps, and each is exact
    return cast_to(kind, value)
