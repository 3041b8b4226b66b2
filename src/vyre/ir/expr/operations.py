"""Operations that have no Python operator: choices, conversions, vectors, calls and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.expr.base import BinOp, Expr, lift
from vyre.ir.expr.checks import require_int, require_name, require_op
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import ApproxOp, BinaryOp, RoundMode
from vyre.ir.types import DataType
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.expr.base import Operand


_set = object.__setattr__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Select(Expr):
    """`if_true` where the condition is not zero, else `if_false`; all three are evaluated."""

    condition: Expr
    if_true: Expr
    if_false: Expr

    def __post_init__(self) -> None:
        self._seal(self.condition, self.if_true, self.if_false)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Convert(Expr):
    """Integer to float or float to integer by value, with a declared rounding (decision 6)."""

    target: DataType
    mode: RoundMode
    value: Expr

    def __post_init__(self) -> None:
        require_op("Convert", self.target, DataType)
        require_op("Convert", self.mode, RoundMode)
        self._seal(self.value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MakeVec(Expr):
    """A lane type from its u32 lanes, lane 0 first."""

    _converts = True
    type: DataType
    lanes: tuple[Expr, ...]

    if TYPE_CHECKING:

        def __init__(self, type: DataType, lanes: Iterable[Expr]) -> None: ...

    def __post_init__(self) -> None:
        require_op("MakeVec", self.type, DataType)
        _set(self, "lanes", tuple(self.lanes))
        self._seal(*self.lanes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FMulAdd(Expr):
    """`a * b + c` with one rounding."""

    a: Expr
    b: Expr
    c: Expr

    def __post_init__(self) -> None:
        self._seal(self.a, self.b, self.c)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expr):
    """A value call of a registered op; it vanishes by inlining."""

    _converts = True
    op_id: str
    args: tuple[Expr, ...]

    if TYPE_CHECKING:  # any iterable of expressions is accepted and kept as a tuple

        def __init__(self, op_id: str, args: Iterable[Expr]) -> None: ...

    def __post_init__(self) -> None:
        require_name("Call", self.op_id)
        _set(self, "args", tuple(self.args))
        self._seal(*self.args)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Approx(Expr):
    """A function within `tolerance_ulps` of the correctly rounded result."""

    _exact = int
    op: ApproxOp
    value: Expr
    tolerance_ulps: int

    def __post_init__(self) -> None:
        require_op("Approx", self.op, ApproxOp)
        require_int("Approx", self.tolerance_ulps, 1, U32_MAX)
        self._seal(self.value)


def _float_binary(op: BinaryOp):  # noqa: ANN202 - the inner signature is the documentation
    def build(a: Expr, b: Expr) -> BinOp:
        return BinOp(op, a, b)

    build.__name__ = op.value.lower()
    build.__doc__ = f"The operation `{op.value}`."
    return build


fadd = _float_binary(BinaryOp.FAdd)
fsub = _float_binary(BinaryOp.FSub)
fmul = _float_binary(BinaryOp.FMul)
fdiv = _float_binary(BinaryOp.FDiv)


def mul_hi(a: Operand, b: Operand) -> BinOp:
    """High 32 bits of the 64-bit product."""
    return BinOp(BinaryOp.MulHi, lift(a), lift(b))


def vec(*lanes: Operand) -> MakeVec:
    """A Vec2U32 or Vec4U32 from two or four lanes."""
    kinds = {2: DataType.Vec2U32, 4: DataType.Vec4U32}
    if len(lanes) not in kinds:
        raise VyreError(f"vec() got {len(lanes)} lanes.", fix="give two or four lanes.")
    return MakeVec(kinds[len(lanes)], tuple(lift(x) for x in lanes))


def call(op_id: str, *args: Operand) -> Call:
    return Call(op_id, tuple(lift(a) for a in args))


def select(condition: Operand, if_true: Operand, if_false: Operand) -> Select:
    return Select(lift(condition), lift(if_true), lift(if_false))
