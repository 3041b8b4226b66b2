"""Typing of expressions with a diagnostic for every operand that does not fit.

Each distinct node of a statement is typed once, operands first. A node whose type is unknown
because of an error below it makes no further errors above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir import expr as e
from vyre.ir.limits import MAX_EXPR_DEPTH
from vyre.ir.operators import RoundMode
from vyre.ir.types import FLOAT_TYPES, LANE_TYPES, DataType
from vyre.ir.typing import CAST_TABLE, binary_type, cast_source, convert_type, is_condition, unary_type
from vyre.validate.buffer_rules import atomic, length, load, reduction, scalar_only
from vyre.validate.call_rules import call
from vyre.validate.mismatch import binary_message, conversion_hint
from vyre.validate.oversized import too_deep_expression
from vyre.validate.sites import ExpressionSite

if TYPE_CHECKING:
    from collections.abc import Callable


_T = DataType
Types = list[DataType | None]


class ExpressionChecker(ExpressionSite):
    """Types the expressions of one statement after another and reports into `report`."""

    def type_of(self, root: e.Expr, label: str) -> DataType | None:
        """The type of `root`, the part `label` of the statement; None once an error was reported."""
        self._label = label
        self._root = root
        self._paths = None
        if root.depth > MAX_EXPR_DEPTH:
            self.fail(root, "V034", *too_deep_expression(root.depth))
            return None
        types = self._types
        rules = _RULES
        if not root.children and root not in types:
            types[root] = rules[type(root)](self, root, [])
            return types[root]
        stack = [root]
        while stack:
            expr = stack[-1]
            if expr in types:
                stack.pop()
                continue
            children = expr.children
            if children:
                pending = [c for c in children if c not in types]
                if pending:
                    pending.reverse()
                    stack += pending
                    continue
            stack.pop()
            types[expr] = rules[type(expr)](self, expr, [types[c] for c in children])
        return types[root]


def _lit_u32(c: ExpressionSite, expr: e.Expr, types: Types) -> DataType:
    return _T.U32


def _lit_i32(c: ExpressionSite, expr: e.Expr, types: Types) -> DataType:
    return _T.I32


def _lit_bool(c: ExpressionSite, expr: e.Expr, types: Types) -> DataType:
    return _T.Bool


def _literal(c: ExpressionSite, expr: e.Literal, types: Types) -> DataType:
    return expr.type


def _var(c: ExpressionSite, expr: e.Var, types: Types) -> DataType | None:
    binding = c.context.variables.get(expr.name)
    if binding is not None:
        return binding.type
    close = c.report.suggest(expr.name, c.context.variables)
    c.fail(
        expr,
        "V006",
        f"the variable {expr.name} is not declared here.{close}",
        f"declare {expr.name} with Let before this place, in this block or one around it.",
    )
    return None


def _identity(c: ExpressionSite, expr: e.InvocationId | e.WorkgroupId | e.LocalId, types: Types) -> DataType:
    if c.context.op_id is not None:
        scalar_only(c, expr, f"{type(expr).__name__} belongs to a kernel")
    elif expr.axis > 2:
        c.fail(
            expr,
            "V007",
            f"{type(expr).__name__} has no axis {expr.axis}.",
            "use axis 0, 1 or 2 (x, y or z).",
        )
    return _T.U32


def _binop(c: ExpressionSite, expr: e.BinOp, types: Types) -> DataType | None:
    left, right = types
    if left is None or right is None:
        return None
    result = binary_type(expr.op, left, right)
    if result is None:
        c.fail(expr, "V021", *binary_message(expr.op, left, right))
    return result


def _unop(c: ExpressionSite, expr: e.UnOp, types: Types) -> DataType | None:
    operand = types[0]
    if operand is None:
        return None
    result = unary_type(expr.op, operand)
    if result is None:
        wanted = "a float type" if expr.op.value.startswith("F") else "U32"
        c.fail(
            expr,
            "V026",
            f"{expr.op.value} does not take {operand.value}.",
            f"give it {wanted}, with Cast or Convert where that is what you mean.",
        )
    return result


def _select(c: ExpressionSite, expr: e.Select, types: Types) -> DataType | None:
    condition, yes, no = types
    if condition is not None and not is_condition(condition):
        c.fail(
            expr,
            "V026",
            f"the condition of Select is {condition.value}, neither U32 nor Bool.",
            "compare it with something, which gives a U32.",
            operand=0,
        )
    if yes is None or no is None:
        return None
    if yes is not no:
        c.fail(
            expr,
            "V026",
            f"Select chooses between {yes.value} and {no.value}.",
            f"give both one type: {conversion_hint(no, yes)} on the second.",
        )
        return None
    return yes


def _cast(c: ExpressionSite, expr: e.Cast, types: Types) -> DataType | None:
    source = types[0]
    target = expr.target
    if source is None:
        return target if target.is_value else None
    source = cast_source(expr, source, c.element)
    if (source, target) in CAST_TABLE:
        return target.loaded
    if target is _T.Bytes:
        c.fail(
            expr,
            "V023",
            "cast to Bytes is unsupported in WGSL lowering.",
            "use buffer load/store directly for byte data.",
        )
        return None
    hint = conversion_hint(source, target)
    fix = hint if "Convert" in hint else f"{hint}; Convert is for integer and float by value only"
    c.fail(expr, "V012", f"there is no cast from {source.value} to {target.value}.", f"{fix}.")
    return target if target.is_value else None


def _convert(c: ExpressionSite, expr: e.Convert, types: Types) -> DataType | None:
    source = types[0]
    if source is None:
        return expr.target if expr.target.is_value else None
    result = convert_type(expr.target, expr.mode, source)
    if result is None:
        exact = convert_type(expr.target, RoundMode.Nearest, source) is not None
        c.fail(
            expr,
            "V026",
            f"Convert does not lead from {source.value} to {expr.target.value} in mode {expr.mode.value}.",
            "use mode Nearest for an integer that becomes a float."
            if exact
            else "convert between U32 or I32 and a float type; use Cast for other pairs.",
        )
    return result


def _lane(c: ExpressionSite, expr: e.Lane, types: Types) -> DataType:
    source = types[0]
    if source is None:
        return _T.U32
    if source not in LANE_TYPES:
        c.fail(
            expr,
            "V026",
            f"{source.value} has no lanes.",
            "take lanes of a U64, U128, Vec2U32 or Vec4U32, or use the value as it is.",
        )
    elif expr.index >= source.lanes:
        c.fail(
            expr,
            "V041",
            f"{source.value} has no lane {expr.index}.",
            f"use a lane from 0 to {source.lanes - 1}.",
        )
    return _T.U32


def _make_vec(c: ExpressionSite, expr: e.MakeVec, types: Types) -> DataType | None:
    target = expr.type
    if target not in LANE_TYPES:
        code = "V013" if target is _T.Bytes else "V026"
        c.fail(
            expr,
            code,
            f"MakeVec cannot make a {target.value}, which has no lanes.",
            "make a U64, U128, Vec2U32 or Vec4U32.",
        )
        return None
    if len(types) != target.lanes:
        c.fail(
            expr,
            "V041",
            f"MakeVec got {len(types)} lanes for a {target.value}.",
            f"give exactly {target.lanes} lanes.",
        )
    for position, found in enumerate(types):
        c.operand(expr, position, found, _T.U32, f"a lane of {target.value}")
    return target


def _fmuladd(c: ExpressionSite, expr: e.FMulAdd, types: Types) -> DataType | None:
    a = types[0]
    if a is None or None in types:
        return None
    if a in FLOAT_TYPES and all(t is a for t in types):
        return a
    shown = ", ".join(t.value for t in types if t is not None)
    c.fail(expr, "V026", f"FMulAdd does not take {shown}.", "give it three operands of one float type.")
    return None


def _approx(c: ExpressionSite, expr: e.Approx, types: Types) -> DataType | None:
    value = types[0]
    if value is None or (value in FLOAT_TYPES and value is not _T.F64):
        return value
    c.fail(expr, "V026", f"{expr.op.value} does not take {value.value}.", "give it an F32, F16 or BF16.")
    return None


_RULES: dict[type[e.Expr], Callable[[ExpressionSite, Any, Types], DataType | None]] = {
    e.LitU32: _lit_u32,
    e.LitI32: _lit_i32,
    e.LitBool: _lit_bool,
    e.Literal: _literal,
    e.Var: _var,
    e.InvocationId: _identity,
    e.WorkgroupId: _identity,
    e.LocalId: _identity,
    e.BinOp: _binop,
    e.UnOp: _unop,
    e.Select: _select,
    e.Cast: _cast,
    e.Convert: _convert,
    e.Lane: _lane,
    e.MakeVec: _make_vec,
    e.FMulAdd: _fmuladd,
    e.Approx: _approx,
    e.Load: load,
    e.BufLen: length,
    e.Atomic: atomic,
    e.FReduce: reduction,
    e.FReduceApprox: reduction,
    e.Call: call,
}
