"""What follows each tag: one table that the writer, the reader and the digest share.

An expression entry is its tag, its own fields, then its operands; a statement entry is its tag, its
name if it has one, then its expressions, then its bodies. `docs/wire-form.md` is the same in prose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.limits import U32_MAX
from vyre.ir.types import WIDE_LITERAL_TYPES, DataType
from vyre.wire import tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAGIC: Final = b"\x89VYRE\r\n"
"""Not text, and damaged by any tool that translates line ends."""

GRAPH_MAGIC: Final = b"\x89VYRG\r\n"
"""That of a graph; a reader of programs refuses it at its fifth byte."""

VERSION: Final = 1

MAX_STRING_BYTES: Final = 1024
"""UTF-8 bytes of one name or op id: room for every name the validator accepts, and for many it
does not, so that a wrong program can be shipped in a bug report."""

DIGEST_BYTES: Final = 32

# How a field is written. Plain ints, because the inner loops compare them.
TAG: Final = 0
NAME: Final = 1
NUMBER: Final = 2
SIGNED: Final = 3
FLAG: Final = 4
BITS: Final = 5

VARIADIC: Final = -1
BY_ATOMIC_OP: Final = -2


class Field(NamedTuple):
    """A field of an expression: how it is written, and the range or the tags it may take."""

    attribute: str
    kind: int
    low: int = 0
    high: int = 0
    numbers: Mapping[Any, int] = {}
    members: tuple[Any, ...] = ()


class ExprLayout(NamedTuple):
    """`operands` is a number, VARIADIC (a count is written) or BY_ATOMIC_OP (3 for CompareExchange, else 2).

    `last` says that the last field comes after the operands in the constructor.
    """

    cls: type[e.Expr]
    tag: int
    fields: tuple[Field, ...]
    operands: int
    last: bool = False


class NodeLayout(NamedTuple):
    """`name` is the attribute that holds a name; `exprs` and `bodies` are counts."""

    cls: type[n.Node]
    tag: int
    name: str | None
    exprs: int
    bodies: int


def by_tag(numbered: Iterable[tuple[Any, int]]) -> tuple[Any, ...]:
    """The inverse of a tag table over all 256 bytes; None where a byte is not a tag."""
    members: list[Any] = [None] * 256
    for member, number in numbered:
        members[number] = member
    return tuple(members)


def _tag(attribute: str, numbers: Mapping[Any, int]) -> Field:
    return Field(attribute, TAG, numbers=numbers, members=by_tag(numbers.items()))


def _name(attribute: str) -> Field:
    return Field(attribute, NAME, high=U32_MAX)


def _number(attribute: str, low: int, high: int) -> Field:
    return Field(attribute, NUMBER, low, high)


_WIDE_TYPES = {t: number for t, number in tags.TYPES.items() if t in WIDE_LITERAL_TYPES}
_AXIS = _number("axis", 0, 255)
_TOLERANCE = _number("tolerance_ulps", 1, U32_MAX)
_OP = _tag("op", tags.BINARY_OPS)
_REDUCE = _tag("op", tags.REDUCE_OPS)
_BUFFER = _name("buffer")

_EXPR_SHAPES: Mapping[type[e.Expr], tuple[tuple[Field, ...], int]] = {
    e.LitU32: ((_number("value", 0, U32_MAX),), 0),
    e.LitI32: ((Field("value", SIGNED, 0, U32_MAX),), 0),
    e.LitBool: ((Field("value", FLAG, 0, 1),), 0),
    e.Literal: ((_tag("type", _WIDE_TYPES), Field("bits", BITS)), 0),
    e.Var: ((_name("name"),), 0),
    e.Load: ((_BUFFER,), 1),
    e.BufLen: ((_BUFFER,), 0),
    e.InvocationId: ((_AXIS,), 0),
    e.WorkgroupId: ((_AXIS,), 0),
    e.LocalId: ((_AXIS,), 0),
    e.BinOp: ((_OP,), 2),
    e.UnOp: ((_tag("op", tags.UNARY_OPS),), 1),
    e.Call: ((_name("op_id"),), VARIADIC),
    e.Select: ((), 3),
    e.Cast: ((_tag("target", tags.TYPES),), 1),
    e.Convert: ((_tag("target", tags.TYPES), _tag("mode", tags.ROUND_MODES)), 1),
    e.Lane: ((_number("index", 0, 255),), 1),
    e.MakeVec: ((_tag("type", tags.TYPES),), VARIADIC),
    e.FMulAdd: ((), 3),
    e.Atomic: ((_tag("op", tags.ATOMIC_OPS), _BUFFER), BY_ATOMIC_OP),
    e.FReduce: ((_tag("order", tags.REDUCE_ORDERS), _REDUCE, _BUFFER), 2),
    e.FReduceApprox: ((_REDUCE, _BUFFER, _TOLERANCE), 2),
    e.Approx: ((_tag("op", tags.APPROX_OPS), _TOLERANCE), 1),
}

_NODE_SHAPES: Mapping[type[n.Node], tuple[str | None, int, int]] = {
    n.Let: ("name", 1, 0),
    n.Assign: ("name", 1, 0),
    n.Store: ("buffer", 2, 0),
    n.If: (None, 1, 2),
    n.Loop: ("var", 2, 1),
    n.Return: (None, 0, 0),
    n.Block: (None, 0, 1),
    n.Barrier: (None, 0, 0),
    n.Break: (None, 0, 0),
}

_FIELD_LAST = (e.Lane, e.FReduceApprox, e.Approx)

EXPR_LAYOUTS: Final[Mapping[type[e.Expr], ExprLayout]] = {
    cls: ExprLayout(cls, tags.EXPRESSIONS[cls], fields, operands, cls in _FIELD_LAST)
    for cls, (fields, operands) in _EXPR_SHAPES.items()
}
NODE_LAYOUTS: Final[Mapping[type[n.Node], NodeLayout]] = {
    cls: NodeLayout(cls, tags.STATEMENTS[cls], *shape) for cls, shape in _NODE_SHAPES.items()
}

LITERAL_BYTES: Final[Mapping[DataType, int]] = {t: t.bits // 8 for t in WIDE_LITERAL_TYPES}
"""Bytes of a literal's bits, which are written little-endian at full width."""


def append_varint(out: bytearray, value: int) -> None:
    """LEB128: seven bits a byte, lowest first, the top bit on all but the last."""
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def append_signed(out: bytearray, value: int) -> None:
    """A number n as 2n, or as -2n - 1 when it is negative."""
    append_varint(out, value << 1 if value >= 0 else ~(value << 1))
