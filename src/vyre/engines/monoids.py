"""The operations that scans and reductions join elements with: associative, with a neutral element.

`monoid("add", DataType.U64)` is one of a name; `own_monoid(lambda a, b: …, element, neutral)` is the
caller's, as a function on expressions. Two are the same when they build the same expression, so that a
function that is written anew for every call compiles nothing anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Union

from vyre.engines.order import Order
from vyre.errors import VyreError, whole
from vyre.ir.expr import BinOp, Cast, Expr, LitI32, LitU32, Select, Var, call, u64
from vyre.ir.op import Op
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.program import Program

    Joins = Union[Callable[[Expr, Expr], Expr], Op, "OpHolder"]  # noqa: UP007 - the name is not there yet

_A, _B = Var("a"), Var("b")
NAMES = ("add", "mul", "min", "max", "and", "or", "xor")
ELEMENTS = (DataType.U32, DataType.I32, DataType.U64, DataType.I64)
_OPERATORS = {
    "add": BinaryOp.Add,
    "mul": BinaryOp.Mul,
    "and": BinaryOp.BitAnd,
    "or": BinaryOp.BitOr,
    "xor": BinaryOp.BitXor,
}


class OpHolder(Protocol):
    """What has an op and all that it calls: a function under `@vyre.op`."""

    @property
    def op(self) -> Op: ...

    ops: tuple[Op, ...]


@dataclass(frozen=True, slots=True)
class Monoid:
    """An associative operation on the elements of an array; `body` is the join of `a` and `b`."""

    name: str
    element: DataType
    neutral: int
    """Its bits."""
    body: Expr
    commutes: bool
    build: Callable[[Expr, Expr], Expr] = field(compare=False, repr=False)
    ops: tuple[Op, ...] = ()
    """What it calls that only its caller knows."""

    def completed(self, program: Program) -> Program:
        """A program of joins without calls of the caller's own ops."""
        if not self.ops:
            return program
        from vyre.compose.inline import inline
        from vyre.compose.registry import default_registry

        return inline(program, default_registry().extend(self.ops))

    def join(self, left: Expr, right: Expr) -> Expr:
        """The operation on two values; both may appear twice, so they should be names."""
        return self.build(left, right)

    @property
    def value(self) -> DataType:
        """The type of the values, which those of the elements are loaded as."""
        return self.element.loaded

    @property
    def start(self) -> Expr:
        """The neutral element."""
        return literal(self.element, self.neutral)


def literal(element: DataType, bits: int) -> Expr:
    """A value of the type as which elements are loaded."""
    match element.loaded:
        case DataType.I32:
            return LitI32(bits - (bits >> 31 << 32))
        case DataType.U64:
            return u64(bits)
        case _:
            return LitU32(bits)


def require_named(op: str) -> None:
    """Raises `VyreError` for what is not the name of an operation."""
    if op not in NAMES:
        raise VyreError(f"no operation on elements is called {op!r}.", fix=f"use one of {', '.join(NAMES)}.")


def monoid(op: str, element: DataType = DataType.U32) -> Monoid:
    """The operation of that name. Raises `VyreError` for another one."""
    require_named(op)
    ones = (1 << 8 * element.stride) - 1
    signed = element in (DataType.I32, DataType.I64)
    least, greatest = (ones // 2 + 1, ones // 2) if signed else (0, ones)
    neutral = {"mul": 1, "and": ones, "min": greatest, "max": least}.get(op, 0)

    def build(left: Expr, right: Expr) -> Expr:
        if op in ("min", "max"):
            a, b = (left, right) if op == "min" else (right, left)
            return Select(_less(element, a, b), left, right)
        if element.stride == 8:
            return call(f"wide.u64.{op}", left, right)
        return BinOp(_OPERATORS[op], left, right)

    return Monoid(op, element, neutral, build(_A, _B), True, build)


def own_monoid(op: Joins, element: DataType, neutral: int) -> Monoid:
    """The caller's own operation, which must be associative; joined with `neutral` a value stays itself.

    It is a function on expressions, or an op: an `Op`, or what `@vyre.op` makes, which has one and its `ops`.
    """
    definition: Any = op if isinstance(op, Op) else getattr(op, "op", None)
    ops: tuple[Op, ...] = ()
    if isinstance(definition, Op):
        ops = getattr(op, "ops", (definition,))
        name = definition.id
        kinds = (*(param.type for param in definition.params), definition.output)
        if kinds != (element.loaded,) * 3:
            raise VyreError(
                f"{name} does not join two {element.loaded.value} into one.",
                fix=f"use an op with two parameters and a result of {element.loaded.value}.",
            )

        def called(a: Expr, b: Expr) -> Expr:
            return call(name, a, b)

        build = called
    else:
        if not callable(op):
            raise VyreError(
                f"the operation is {op!r}, which joins nothing.",
                fix=f"use one of {', '.join(NAMES)}, an op, or a function of two expressions.",
            )
        build = op
    body = build(_A, _B)
    if not isinstance(body, Expr):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise VyreError(
            f"the operation gave {body!r}, which is not an expression.",
            fix="build an expression of its two parameters, such as lambda a, b: a + b.",
        )
    width, number = 8 * element.stride, whole("neutral", neutral)
    if not -1 << width - 1 <= number < 1 << width:
        raise VyreError(
            f"neutral is {number}, which no element of {width} bits holds.", fix="pass one of the elements."
        )
    bits = number & ((1 << width) - 1)
    return Monoid("own", element, bits, body, False, build, ops)


def _less(element: DataType, left: Expr, right: Expr) -> Expr:
    if element is DataType.I32:
        left, right = Cast(DataType.U32, left), Cast(DataType.U32, right)
    return Order(element).less(left, right)
