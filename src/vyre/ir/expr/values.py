"""Values that are given: literals by their bits, variables, and the ids of an invocation."""

from __future__ import annotations

from vyre.errors import VyreError
from vyre.ir.expr.base import Expr
from vyre.ir.expr.checks import require_int, require_name
from vyre.ir.float_bits import converted, double_bits
from vyre.ir.types import WIDE_LITERAL_TYPES, DataType
from vyre.slotted import dataclass


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expr):
    """A literal given by its bits: U64, U128 and the float types."""

    _exact = int
    type: DataType
    bits: int

    def __post_init__(self) -> None:
        if self.type not in WIDE_LITERAL_TYPES:
            raise VyreError(
                f"Literal has no {self.type}.",
                fix="use LitU32, LitI32 or LitBool, or MakeVec for a vector.",
            )
        require_int(f"Literal of {self.type.value}", self.bits, 0, (1 << self.type.bits) - 1)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Var(Expr):
    name: str

    def __post_init__(self) -> None:
        require_name("Var", self.name)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InvocationId(Expr):
    """Global id of the invocation along `axis`."""

    _exact = int
    axis: int

    def __post_init__(self) -> None:
        require_int("InvocationId", self.axis, 0, 255)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorkgroupId(Expr):
    _exact = int
    axis: int

    def __post_init__(self) -> None:
        require_int("WorkgroupId", self.axis, 0, 255)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LocalId(Expr):
    """Id of the invocation inside its workgroup."""

    _exact = int
    axis: int

    def __post_init__(self) -> None:
        require_int("LocalId", self.axis, 0, 255)
        self._seal()


def f32(value: float) -> Literal:
    """The F32 literal nearest to a Python float (ties to even); NaN is the canonical NaN."""
    return Literal(DataType.F32, converted(DataType.F64, double_bits(value), DataType.F32))


def f64(value: float) -> Literal:
    """The F64 literal of a Python float; NaN is the canonical NaN."""
    return Literal(DataType.F64, converted(DataType.F64, double_bits(value), DataType.F64))


def u64(value: int) -> Literal:
    return Literal(DataType.U64, value)


def u128(value: int) -> Literal:
    return Literal(DataType.U128, value)
