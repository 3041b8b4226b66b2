"""Expressions that touch a buffer: reads, lengths, atomics and reductions."""

from __future__ import annotations

from vyre.errors import VyreError
from vyre.ir.expr.base import Expr
from vyre.ir.expr.checks import require_int, require_name, require_op
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import AtomicOp, ReduceOp, ReduceOrder
from vyre.slotted import dataclass


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Load(Expr):
    """Element `index` of a buffer; zero of the element type when out of bounds."""

    buffer: str
    index: Expr

    def __post_init__(self) -> None:
        require_name("Load", self.buffer)
        self._seal(self.index)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BufLen(Expr):
    """Number of elements of a buffer (u32 words for Bytes)."""

    buffer: str

    def __post_init__(self) -> None:
        require_name("BufLen", self.buffer)
        self._seal()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Atomic(Expr):
    """A read-modify-write of one U32 element; gives the value before. `expected` is for CompareExchange."""

    op: AtomicOp
    buffer: str
    index: Expr
    value: Expr
    expected: Expr | None = None

    def __post_init__(self) -> None:
        require_op("Atomic", self.op, AtomicOp)
        require_name("Atomic", self.buffer)
        if (self.expected is not None) != (self.op is AtomicOp.CompareExchange):
            rule = "needs an" if self.expected is None else "takes no"
            raise VyreError(
                f"Atomic {self.op.value} {rule} `expected`.",
                fix="give `expected` to CompareExchange and to nothing else.",
            )
        extra = () if self.expected is None else (self.expected,)
        self._seal(self.index, self.value, *extra)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FReduce(Expr):
    """Fold of the float elements `start..stop` of a buffer, in a declared order (decision 9)."""

    order: ReduceOrder
    op: ReduceOp
    buffer: str
    start: Expr
    stop: Expr

    def __post_init__(self) -> None:
        require_op("FReduce", self.order, ReduceOrder)
        require_op("FReduce", self.op, ReduceOp)
        require_name("FReduce", self.buffer)
        self._seal(self.start, self.stop)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FReduceApprox(Expr):
    """Fold in any order, within `tolerance_ulps` of the correctly rounded exact result."""

    _exact = int
    op: ReduceOp
    buffer: str
    start: Expr
    stop: Expr
    tolerance_ulps: int

    def __post_init__(self) -> None:
        require_op("FReduceApprox", self.op, ReduceOp)
        require_name("FReduceApprox", self.buffer)
        require_int("FReduceApprox", self.tolerance_ulps, 1, U32_MAX)
        self._seal(self.start, self.stop)
