"""Python's operators on typed values: which operation each one is.

U32 and I32 use the integer operators, floats the float operators. What depends on the sign, and all of
U64 and U128, are calls of the standard library (decision 2). A Python number takes the type of the other
operand; a Bool counts as U32 0 or 1. Nothing else is converted silently.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from enum import Enum

from vyre.frontend.constants import fold, fold_unary
from vyre.frontend.elsewhere import product
from vyre.frontend.literals import literal
from vyre.frontend.retyping import WHOLE, conversion, retype
from vyre.frontend.values import (
    OPERAND,
    Buffer,
    Const,
    Operand,
    PyObject,
    Refused,
    Several,
    Value,
    describe,
)
from vyre.ir.expr import BinOp, Call, Cast, Expr, LitBool, Select, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import (
    CAST_TABLE,
    CONVERT_INTEGERS,
    FLOAT_TYPES,
    CastRule,
    binary_type,
    is_condition,
    unary_type,
)

_T = DataType
U32 = DataType.U32

_FAMILIES = {_T.I32: "signed", _T.U64: "wide.u64", _T.U128: "wide.u128"}
"""Prefixes of the standard library for what `BinOp` does not do on these types."""

_UNSIGNED = (_T.U32, _T.U64, _T.U128)

_BINARY: dict[type[ast.operator], tuple[str, str, BinaryOp | None, BinaryOp | None]] = {
    ast.Add: ("+", "add", BinaryOp.Add, BinaryOp.FAdd),
    ast.Sub: ("-", "sub", BinaryOp.Sub, BinaryOp.FSub),
    ast.Mult: ("*", "mul", BinaryOp.Mul, BinaryOp.FMul),
    ast.Div: ("/", "", None, BinaryOp.FDiv),
    ast.FloorDiv: ("//", "div", BinaryOp.Div, None),
    ast.Mod: ("%", "mod", BinaryOp.Mod, None),
    ast.Pow: ("**", "", None, BinaryOp.FPow),
    ast.BitAnd: ("&", "and", BinaryOp.BitAnd, None),
    ast.BitOr: ("|", "or", BinaryOp.BitOr, None),
    ast.BitXor: ("^", "xor", BinaryOp.BitXor, None),
    ast.LShift: ("<<", "shl", BinaryOp.Shl, None),
    ast.RShift: (">>", "shr", BinaryOp.Shr, None),
}
_COMPARE: dict[type[ast.cmpop], tuple[str, str, BinaryOp, BinaryOp]] = {
    ast.Eq: ("==", "eq", BinaryOp.Eq, BinaryOp.FEq),
    ast.NotEq: ("!=", "ne", BinaryOp.Ne, BinaryOp.FNe),
    ast.Lt: ("<", "lt", BinaryOp.Lt, BinaryOp.FLt),
    ast.LtE: ("<=", "le", BinaryOp.Le, BinaryOp.FLe),
    ast.Gt: (">", "gt", BinaryOp.Gt, BinaryOp.FGt),
    ast.GtE: (">=", "ge", BinaryOp.Ge, BinaryOp.FGe),
}
_FLOAT_HINTS = {
    "//": "write vyre.floor(x / y).",
    "%": "write x - vyre.floor(x / y) * y, which is the same up to rounding.",
}
_DENIED: dict[type[ast.cmpop], str] = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}


def binary(op: ast.operator, left: Operand, right: Operand, *, changed: bool = False) -> Operand:
    """The value of `left op right`; `changed` says that it is `left op= right`, which keeps its type."""
    entry = _BINARY.get(type(op))
    if entry is None:
        raise Refused("`@` has no meaning in a kernel.", "write the loop over the elements.")
    symbol, name, integer, floating = entry
    if isinstance(left, Const) and isinstance(right, Const):
        return fold(op, symbol, left.value, right.value)
    if isinstance(op, (ast.LShift, ast.RShift)):
        return _shift(symbol, name, integer, left, right)
    a, b = unify(symbol, left, right, changed=changed)
    if a.type in FLOAT_TYPES:
        if floating is None:
            bits = f"take its bits before `{symbol}`: vyre.bitcast({OPERAND}, u32)."
            raise Refused(f"`{symbol}` has no meaning on {a.type.value}.", _FLOAT_HINTS.get(symbol, bits), a)
        return _operate(symbol, floating, a, b)
    if integer is None:
        both = f"write `//`, or convert both sides: vyre.convert({OPERAND}, f32)."
        hint = both if symbol == "/" else product(right.value if isinstance(right, Const) else 0)
        raise Refused(f"`{symbol}` has no meaning on {a.type.value}.", hint, a)
    if binary_type(integer, a.type, b.type) is not None:
        both = a.logical and b.logical and symbol in ("&", "|", "^")
        return replace(_operate(symbol, integer, a, b), logical=both)
    return library(symbol, name, a.type, a, b)


def compare(op: ast.cmpop, left: Operand, right: Operand) -> Operand:
    """The value of a comparison: U32 0 or 1."""
    entry = _COMPARE.get(type(op))
    if entry is None:
        denied = _DENIED[type(op)]
        each = "ask for each: x == 1 or x == 2; `not in` is x != 1 and x != 2."
        fix = each if "in" in denied else "compare numbers with == != < <= > >=."
        raise Refused(f"`{denied}` has no meaning in a kernel.", fix)
    symbol, name, integer, floating = entry
    if isinstance(left, Const) and isinstance(right, Const):
        return fold(op, symbol, left.value, right.value)
    _refuse_certain(op, symbol, left, right)
    a, b = unify(symbol, left, right)
    chosen = floating if a.type in FLOAT_TYPES else integer
    if binary_type(chosen, a.type, b.type) is not None:
        result = _operate(symbol, chosen, a, b)
    else:
        result = library(symbol, name, a.type, a, b)
    return Value(result.expr, result.type, logical=True)


def _refuse_certain(op: ast.cmpop, symbol: str, left: Operand, right: Operand) -> None:
    """Refuses what no unsigned number can change: `x >= 0`, `x < 0`, and both the other way round."""
    backwards = isinstance(left, Const)
    value, bound = (right, left) if backwards else (left, right)
    if not isinstance(value, Value) or value.type not in _UNSIGNED or value.logical:
        return
    if not isinstance(bound, Const) or isinstance(bound.value, float) or bound.value != 0:
        return
    always, never = (ast.LtE, ast.Gt) if backwards else (ast.GtE, ast.Lt)
    if isinstance(op, (always, never)):
        held = "always" if isinstance(op, always) else "never"
        shown = f"0 {symbol} x" if backwards else f"x {symbol} 0"
        raise Refused(
            f"`{shown}` {held} holds: {value.type.value} has no negative numbers.",
            "compare before you subtract: a >= b instead of a - b >= 0; or compute in i32.",
        )


def unary(op: ast.unaryop, operand: Operand) -> Operand:
    """The value of `-x`, `~x`, `+x` or `not x`."""
    if isinstance(operand, Const):
        return fold_unary(op, operand.value)
    if isinstance(op, ast.Not):
        condition_value = truth(operand)
        return Value(UnOp(UnaryOp.LogicalNot, condition_value.expr), U32, logical=True)
    value = number(operand)
    if isinstance(op, ast.UAdd):
        return value
    if isinstance(op, ast.Invert) and (value.logical or value.type is _T.Bool):
        both = "`~` of a truth value is not its opposite: the bits of 0 and of 1 both turn into true."
        raise Refused(both, f"write not {OPERAND}.", value)
    if isinstance(op, ast.USub):
        chosen = UnaryOp.FNeg if value.type in FLOAT_TYPES else UnaryOp.Negate
    else:
        chosen = UnaryOp.BitNot
    symbol = "-" if isinstance(op, ast.USub) else "~"
    if unary_type(chosen, value.type) is None:
        if symbol == "~" and value.type not in FLOAT_TYPES:
            return library(symbol, "not", value.type, value)
        bits = f"take its bits first: vyre.bitcast({OPERAND}, u32)."
        hint = "write 0 - x." if symbol == "-" else bits
        raise Refused(f"`{symbol}` has no meaning on {value.type.value}.", hint, value)
    return Value(UnOp(chosen, value.expr), value.type)


def logical(op: ast.boolop, values: list[Operand]) -> Operand:
    """`and` or `or` of all values, every one evaluated; U32 0 or 1."""
    join = any if isinstance(op, ast.Or) else all
    chosen = BinaryOp.Or if isinstance(op, ast.Or) else BinaryOp.And
    constants = [v.value for v in values if isinstance(v, Const)]
    if len(constants) == len(values):
        return Const(join(constants))
    total, *rest = [truth(v) for v in values]
    for value in rest:
        a, b = (total, value) if total.type is value.type else (as_u32(total), as_u32(value))
        total = Value(BinOp(chosen, a.expr, b.expr), U32, logical=True)
    return total


def choose(condition: Operand, if_true: Operand, if_false: Operand) -> Operand:
    """`if_true if condition else if_false` as a Select: both arms are evaluated."""
    if isinstance(if_true, Const) and isinstance(if_false, Const):
        if isinstance(condition, Const):
            return if_true if condition.value else if_false
        kind = _constant_type(if_true.value, if_false.value)
        return _choice(truth(condition).expr, (if_true, if_false), kind)
    a, b = unify("if … else", if_true, if_false, keep_bool=True)
    return Value(Select(truth(condition).expr, a.expr, b.expr), a.type, logical=a.logical and b.logical)


def _choice(condition: Expr, arms: tuple[Const, Const], kind: DataType) -> Value:
    a, b = (coerce(arm, kind, "an arm of `if … else`").expr for arm in arms)
    return Value(Select(condition, a, b), kind, arms=arms)


def truth(operand: Operand) -> Value:
    """The operand as a condition: U32 or Bool."""
    if isinstance(operand, Const):
        return Value(LitBool(bool(operand.value)), _T.Bool)
    value = number(operand)
    if not is_condition(value.type):
        zero = "0.0" if value.type in FLOAT_TYPES else "0"
        raise Refused(f"{value.type.value} is not a condition.", f"compare it: {OPERAND} != {zero}.", value)
    return value


def number(operand: Operand) -> Value:
    """The operand as a value; a Python number on its own is U32, F32 or Bool."""
    match operand:
        case Value():
            return operand
        case Const():
            return constant(operand, _constant_type(operand.value))
        case Buffer(decl=decl):
            raise Refused(f"{describe(operand)} is not a value.", f"index it: {decl.name}[i].")
        case PyObject(value=str() | bytes() as text) if len(text) == 1:
            raise Refused(f"{text!r} is text and not a number.", f"write ord({text!r}), which is its number.")
        case PyObject(value=str()):
            raise Refused("a str has no meaning in a kernel.", "use numbers.")
        case PyObject(value=Enum() as member):
            raise Refused(f"{member} is a member of an Enum and not a number.", f"write {member}.value.")
        case Several():
            raise Refused(
                f"{describe(operand)} is not a value.",
                "use one number at a time; for several results of a function pass it a vyre.private array.",
            )
        case _:
            raise Refused(f"{describe(operand)} is not a value.", "use numbers, buffers and vyre functions.")


def constant(operand: Const, target: DataType) -> Value:
    return Value(literal(operand.value, target), target)


def coerce(operand: Operand, target: DataType, what: str, variable: Value | None = None) -> Value:
    """The operand as a value of `target`; only numbers and Bool/U32 logic change their type.

    `variable` is the one that it is assigned to, which may have its type from a plain number.
    """
    if isinstance(operand, Const):
        if target is U32 and isinstance(operand.value, bool):
            operand = Const(int(operand.value))
        return constant(operand, target)
    value = _retyped(number(operand), target)
    if value.type is target:
        return value
    if target is U32 and value.type is _T.Bool:
        return as_u32(value)
    if target is _T.Bool and value.logical:
        return Value(Cast(_T.Bool, value.expr), _T.Bool)
    message = f"{what} is {target.value} and got {value.type.value}."
    fix = retype(variable, value.type)
    raise Refused(message, fix) if fix else unconverted(message, value, target)


def _retyped(value: Value, target: DataType) -> Value:
    """A choice between plain numbers in the type that is wanted; anything else as it is."""
    chosen = value.expr
    if value.type is target or value.arms is None or not isinstance(chosen, Select):
        return value
    fits = target in FLOAT_TYPES or (target in WHOLE and value.type not in FLOAT_TYPES)
    return _choice(chosen.condition, value.arms, target) if fits else value


def place(operand: Operand, what: str) -> Value:
    """The operand as an index. A negative one is out of bounds, as the u32 of its bits is."""
    if isinstance(operand, Value) and operand.type is _T.I32:
        return Value(Cast(U32, operand.expr), U32)
    return coerce(operand, U32, what)


def unconverted(message: str, value: Value, target: DataType) -> Refused:
    """The refusal of a value that is of another type than `target`."""
    return Refused(message, conversion(value.type, target), value)


def as_u32(value: Value) -> Value:
    return Value(Cast(U32, value.expr), U32, logical=True) if value.type is _T.Bool else value


def unify(
    symbol: str, left: Operand, right: Operand, *, keep_bool: bool = False, changed: bool = False
) -> tuple[Value, Value]:
    """Both operands in one type, which is that of the left one where it is `changed` in place."""
    if isinstance(left, Const) and not isinstance(right, Const):
        b = number(right) if keep_bool and isinstance(left.value, bool) else as_u32(number(right))
        return coerce(left, b.type, f"the other side of `{symbol}`"), b
    if isinstance(right, Const) and not isinstance(left, Const):
        a = number(left) if keep_bool and isinstance(right.value, bool) else as_u32(number(left))
        return a, coerce(right, a.type, f"the other side of `{symbol}`")
    a, b = number(left), number(right)
    a, b = _retyped(a, b.type), _retyped(b, a.type)
    if not (keep_bool and a.type is b.type):
        a, b = as_u32(a), as_u32(b)
    if a.type is not b.type:
        source, target = (a, b) if not changed and _goes_into(a.type, b.type) else (b, a)
        raise Refused(
            f"`{symbol}` takes two values of one type and got {a.type.value} and {b.type.value}.",
            retype(a, b.type) or retype(b, a.type) or conversion(source.type, target.type),
            source,
        )
    return a, b


def _goes_into(source: DataType, target: DataType) -> bool:
    """Whether the one is converted where both meet: integers become floats, and narrow ones wide."""
    if target in FLOAT_TYPES and source in CONVERT_INTEGERS:
        return True
    return CAST_TABLE.get((source, target)) in (CastRule.ZeroExtend, CastRule.SignExtend, CastRule.Widen)


def library(symbol: str, name: str, family: DataType, *args: Value) -> Value:
    """A call of the standard library's op for this type."""
    from vyre.compose.registry import own_registry

    prefix = _FAMILIES.get(family)
    op = own_registry().get(f"{prefix}.{name}") if prefix else None
    if op is None:
        hint = "take its u32 lanes: x[0], x[1], …." if family.lanes > 1 else "convert it first."
        raise Refused(f"`{symbol}` has no meaning on {family.value}.", hint)
    return Value(Call(op.id, tuple(a.expr for a in args)), op.output)


def _shift(symbol: str, name: str, op: BinaryOp | None, left: Operand, right: Operand) -> Value:
    if isinstance(left, Const):
        amount = as_u32(number(right))
        value = coerce(left, amount.type, f"the other side of `{symbol}`")
    else:
        value = as_u32(number(left))
        amount = coerce(right, U32, "a shift amount") if isinstance(right, Const) else as_u32(number(right))
    if value.type in FLOAT_TYPES:
        raise Refused(
            f"`{symbol}` has no meaning on {value.type.value}.",
            f"take its bits first: vyre.bitcast({OPERAND}, u32).",
            value,
        )
    if amount.type is _T.I32:
        amount = Value(Cast(U32, amount.expr), U32)
    if amount.type is not U32:
        raise unconverted(f"a shift amount is U32 and got {amount.type.value}.", amount, U32)
    if value.type is U32 and op is not None:
        return _operate(symbol, op, value, amount)
    return library(symbol, name, value.type, value, amount)


def _operate(symbol: str, op: BinaryOp, a: Value, b: Value) -> Value:
    result = binary_type(op, a.type, b.type)
    if result is None:
        raise unconverted(f"`{symbol}` has no meaning on {a.type.value}.", a, _T.F32)
    return Value(BinOp(op, a.expr, b.expr), result)


def _constant_type(*values: bool | int | float) -> DataType:
    if any(isinstance(v, float) for v in values):
        return _T.F32
    if all(isinstance(v, bool) for v in values):
        return _T.Bool
    return _T.I32 if any(v < 0 for v in values) else U32
