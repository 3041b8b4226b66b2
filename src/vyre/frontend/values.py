"""What an expression of a kernel stands for while it is translated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir.buffers import BufferAccess
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.errors import SourceLocation
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.types import DataType


OPERAND = "\N{LEFT WHITE SQUARE BRACKET}operand\N{RIGHT WHITE SQUARE BRACKET}"
"""Stands in a fix where the user's own expression belongs."""


class Refused(Exception):
    """Something without meaning in a kernel; the translator adds the place and raises `KernelError`.

    `operand` is the one that the fix is about, if it says `OPERAND`.
    """

    def __init__(self, message: str, fix: str, operand: Operand | None = None) -> None:
        super().__init__(message, fix)
        self.message = message
        self.operand = operand
        self._fix = fix

    def fix(self, written: str = "x") -> str:
        """What to write, in terms of the operand as the user wrote it."""
        return self._fix.replace(OPERAND, written)


class BeyondOps(Exception):
    """A function that no op can be, because it reads a table; it is written out where it is called."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the running kernel.

    `logical` marks a U32 that is 0 or 1 by construction, `is_id` an id of the invocation or workgroup as it
    is; `untyped` is the variable that has this type only because plain numbers were assigned to it first,
    and `plain` the number, if it was one.
    """

    expr: Expr
    type: DataType
    logical: bool = False
    is_id: bool = False
    untyped: str = ""
    plain: bool | int | float | None = None
    arms: tuple[Const, Const] | None = None
    """Of a choice between two plain numbers, which takes its type from where it is used as they do."""


@dataclass(frozen=True, slots=True)
class Const:
    """A Python number, known now; it takes its type from where it is used."""

    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer itself, which has elements and a length but is not a value.

    `shape` has a number or the name of a dimension for each coordinate of an element; it is empty where
    elements have one index and the length is all there is to know. `shown` is what a user calls it.
    """

    decl: BufferDecl
    shape: tuple[int | str, ...] = ()
    shown: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.shown or self.decl.name


@dataclass(frozen=True, slots=True)
class PyObject:
    """A Python object that the kernel names: a module, function, type, op or str."""

    value: Any


@dataclass(frozen=True, slots=True)
class Printed:
    """The arguments of `vyre.debug_print`, which is a statement."""

    values: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """A statement in the place of an expression, such as `vyre.barrier()`."""

    node: Node


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a workgroup or an invocation that waits for its name."""

    access: BufferAccess
    element: DataType
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple: coordinates, a shape, or both sides of `a, b = b, a`. It is not a value."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A statement, where it was written, and the statements inside it."""

    node: Node
    location: SourceLocation
    bodies: tuple[list[Written], ...] = ()


Operand = Value | Const | Buffer | PyObject | Effect | Memory | Several | Printed


def describe(operand: Operand) -> str:
    """The operand in the words of an error message."""
    match operand:
        case Value(type=t):
            return t.value
        case Const(value=value):
            return repr(value)
        case Buffer():
            return f"the buffer {operand.name!r}"
        case PyObject(value=value):
            name = getattr(value, "__name__", None)
            return f"the Python {type(value).__name__} {name or repr(value)}"
        case Printed():
            return "vyre.debug_print(…), which is a statement"
        case Effect(node=node):
            return f"the statement {type(node).__name__}"
        case Memory(access=access):
            return "a private array" if access is BufferAccess.Private else "workgroup memory"
        case Several(items=items):
            return f"a tuple of {len(items)}"
