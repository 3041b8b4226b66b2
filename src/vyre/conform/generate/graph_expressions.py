"""GraphExpressions for the elements of random graphs: each looks at every operand.

Half of them are plain ones as networks have them, half come from the generator of programs, without what only
a program has: memory and places in a grid.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.compose.registry import default_registry
from vyre.conform.generate.expressions import ExpressionGenerator
from vyre.conform.generate.scope import Scope
from vyre.ir import (
    BinaryOp,
    BinOp,
    Cast,
    Convert,
    DataType,
    Expr,
    FMulAdd,
    Lane,
    LitU32,
    MakeVec,
    RoundMode,
    Select,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.ir.op import Category
from vyre.ir.types import FLOAT_TYPES, VALUE_TYPES
from vyre.ir.typing import CAST_TABLE, convert_type
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

_T = DataType
_FLOAT = (BinaryOp.FAdd, BinaryOp.FSub, BinaryOp.FMul, BinaryOp.FDiv, BinaryOp.FMin, BinaryOp.FMax)
_WORD = (BinaryOp.Add, BinaryOp.Sub, BinaryOp.Mul, BinaryOp.BitXor, BinaryOp.BitAnd, BinaryOp.BitOr)
_FLOAT_TRUTH = (BinaryOp.FLt, BinaryOp.FGe, BinaryOp.FEq)
_TRUTH = (BinaryOp.Lt, BinaryOp.Ge, BinaryOp.Eq)
_FUNCTIONS = (UnaryOp.FExp, UnaryOp.FLog, UnaryOp.FSin, UnaryOp.FExp2)
_TRIES = 6


class _Pure(ExpressionGenerator):
    """GraphExpressions of operands and literals alone."""

    def _leaf_u32(self, scope: Scope) -> Expr:
        words = [name for name, t in scope.variables if t is _T.U32]
        return Var(self.rng.choice(words)) if words and self.rng.randrange(2) else self.literal(_T.U32)


class ElementExpressions:
    """GraphExpressions over `x0`, `x1`, … that compute on floats of these element types alone."""

    def __init__(self, rng: Random, elements: Sequence[DataType]) -> None:
        self._rng = rng
        types = [t for t in VALUE_TYPES if t not in FLOAT_TYPES or t in elements]
        ops = sorted(
            (op for op in default_registry() if op.result is not None and op.category is Category.A),
            key=lambda op: op.id,
        )
        self._plain = _Pure(rng, types, ops, functions=False, approximate=False)
        self._rich = _Pure(rng, types, ops, functions=True, approximate=False)

    def drawn(self, operands: Sequence[DataType], target: DataType, *, functions: bool) -> Expr:
        """An expression of the type `target` over operands of these types, which are types of values."""
        rng = self._rng
        if rng.randrange(2):
            return self.simple(operands, target, functions=functions)
        source = self._rich if functions else self._plain
        names = [f"x{i}" for i in range(len(operands))]
        scope = Scope(variables=list(zip(names, operands, strict=True)))
        scope.wide = [name for name, t in scope.variables if t is _T.U32]
        for _ in range(_TRIES):
            expr = source.expr(scope, target, rng.randrange(1, 4))
            if {part.name for part in postorder(expr) if isinstance(part, Var)} == set(names):
                return expr
        return self.simple(operands, target, functions=functions)

    def simple(self, operands: Sequence[DataType], target: DataType, *, functions: bool = False) -> Expr:
        """What a network would do with operands of these types: sums, products, comparisons, choices."""
        rng = self._rng
        if target is _T.Bool:
            return self._truth(operands)
        parts = [self.toward(Var(f"x{i}"), t, target) for i, t in enumerate(operands)]
        if target.lanes > 1:
            low, high = ([Lane(part, lane) for part in parts] for lane in (0, 1))
            return MakeVec(target, (self._joined(low, _T.U32), self._joined(high, _T.U32)))
        if len(parts) == 3 and operands[0] is _T.Bool and rng.randrange(2):
            return Select(Var("x0"), parts[1], parts[2])
        total = self._joined(parts, target)
        if target.is_float and target is not _T.F64 and functions and rng.randrange(3) == 0:
            return UnOp(rng.choice(_FUNCTIONS), total)
        if target.is_float and rng.randrange(6) == 0:
            return UnOp(rng.choice((UnaryOp.FSqrt, UnaryOp.FNeg, UnaryOp.FAbs)), total)
        return total

    def converted(self, source: DataType, target: DataType) -> Expr:
        """`x0` as another type."""
        return self.toward(Var("x0"), source, target)

    def toward(self, expr: Expr, source: DataType, target: DataType) -> Expr:
        """An expression of one type as another."""
        for converts, goal in _steps(source, target):
            expr = Convert(goal, RoundMode.Nearest, expr) if converts else Cast(goal, expr)
        return expr

    def _joined(self, parts: Sequence[Expr], t: DataType) -> Expr:
        rng = self._rng
        if len(parts) == 1 and rng.randrange(2):
            parts = (*parts, self._plain.ordinary(t))
        if len(parts) == 3 and t.is_float and rng.randrange(2):
            return FMulAdd(*parts)
        total = parts[0]
        for part in parts[1:]:
            total = BinOp(rng.choice(_FLOAT if t.is_float else _WORD), total, part)
        return total

    def _truth(self, operands: Sequence[DataType]) -> Expr:
        rng = self._rng
        floats = [t for t in operands if t.is_float]
        common = floats[0] if floats else _T.U32
        parts = [self.toward(Var(f"x{i}"), t, common) for i, t in enumerate(operands)]
        if len(parts) == 1:
            parts.append(self._plain.ordinary(common) if floats else LitU32(rng.randrange(6)))
        compared = BinOp(rng.choice(_FLOAT_TRUTH if floats else _TRUTH), parts[0], parts[1])
        for part in parts[2:]:
            truth = BinOp(BinaryOp.FLe, part, parts[0]) if floats else BinOp(BinaryOp.Le, part, parts[0])
            compared = BinOp(rng.choice((BinaryOp.And, BinaryOp.Or)), compared, truth)
        return Cast(_T.Bool, compared)


@cache
def _steps(source: DataType, target: DataType) -> tuple[tuple[bool, DataType], ...]:
    """The shortest way from one type to another, by conversions of values before casts."""
    ways: dict[DataType, tuple[tuple[bool, DataType], ...]] = {source: ()}
    queue = [source]
    for at in queue:
        for goal in VALUE_TYPES:
            if goal in ways:
                continue
            if convert_type(goal, RoundMode.Nearest, at) is not None:
                ways[goal] = (*ways[at], (True, goal))
            elif (at, goal) in CAST_TABLE:
                ways[goal] = (*ways[at], (False, goal))
            else:
                continue
            queue.append(goal)
    return ways[target]
