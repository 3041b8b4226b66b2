"""What an expression of a kernel stands for while it is translated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.types import DataType


class Refused(Exception):
    """Something without meaning in a kernel; the translator adds the place and raises `KernelError`."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message, fix)
        self.message = message
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the running kernel. `logical` marks a U32 that is 0 or 1 by construction."""

    expr: Expr
    type: DataType
    logical: bool = False


@dataclass(frozen=True, slots=True)
class Const:
    """A Python number, known now; it takes its type from where it is used."""

    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer itself, which has elements and a length but is no value."""

    decl: BufferDecl


@dataclass(frozen=True, slots=True)
class PyObject:
    """A Python object that the kernel names: a module, function, type, op or str."""

    value: Any


@dataclass(frozen=True, slots=True)
class Effect:
    """A statement in the place of an expression, such as `vyre.barrier()`."""

    node: Node


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Workgroup memory that waits for its name."""

    element: DataType
    count: int
    atomic: bool


Operand = Value | Const | Buffer | PyObject | Effect | SharedMemory


def describe(operand: Operand) -> str:
    """The operand in the words of an error message."""
    match operand:
        case Value(type=t):
            return t.value
        case Const(value=value):
            return repr(value)
        case Buffer(decl=decl):
            return f"the buffer {decl.name!r}"
        case PyObject(value=value):
            name = getattr(value, "__name__", None)
            return f"the Python {type(value).__name__} {name or repr(value)}"
        case Effect(node=node):
            return f"the statement {type(node).__name__}"
        case SharedMemory():
            return "workgroup memory"
