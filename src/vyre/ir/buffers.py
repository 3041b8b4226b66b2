"""What a program says about a buffer: how it may be used, of what it is made, where it is bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.ir.closed import ClosedEnum

if TYPE_CHECKING:
    from vyre.ir.expr import Expr, Load
    from vyre.ir.node import Store
    from vyre.ir.types import DataType


class BufferAccess(ClosedEnum):
    """How a buffer may be used inside a program."""

    ReadOnly = "ReadOnly"
    ReadWrite = "ReadWrite"
    Uniform = "Uniform"
    Workgroup = "Workgroup"
    WorkgroupAtomic = "WorkgroupAtomic"

    @property
    def writable(self) -> bool:
        return self in (BufferAccess.ReadWrite, BufferAccess.Workgroup, BufferAccess.WorkgroupAtomic)

    @property
    def atomic(self) -> bool:
        return self in (BufferAccess.ReadWrite, BufferAccess.WorkgroupAtomic)

    @property
    def shared(self) -> bool:
        """True for memory of one workgroup, which has no binding and is never seen by the host."""
        return self in (BufferAccess.Workgroup, BufferAccess.WorkgroupAtomic)


@dataclass(frozen=True, slots=True)
class BufferDecl:
    """A buffer of a program. `count` 0 means sized by the host; workgroup buffers have no binding."""

    name: str
    binding: int | None
    access: BufferAccess
    element: DataType
    count: int = 0

    @classmethod
    def storage(
        cls, name: str, binding: int, access: BufferAccess, element: DataType, *, count: int = 0
    ) -> BufferDecl:
        return cls(name, binding, access, element, count)

    @classmethod
    def read(cls, name: str, binding: int, element: DataType, *, count: int = 0) -> BufferDecl:
        return cls(name, binding, BufferAccess.ReadOnly, element, count)

    @classmethod
    def read_write(cls, name: str, binding: int, element: DataType, *, count: int = 0) -> BufferDecl:
        return cls(name, binding, BufferAccess.ReadWrite, element, count)

    @classmethod
    def uniform(cls, name: str, binding: int, element: DataType, *, count: int = 0) -> BufferDecl:
        return cls(name, binding, BufferAccess.Uniform, element, count)

    @classmethod
    def workgroup(cls, name: str, element: DataType, count: int, *, atomic: bool = False) -> BufferDecl:
        access = BufferAccess.WorkgroupAtomic if atomic else BufferAccess.Workgroup
        return cls(name, None, access, element, count)

    def __getitem__(self, index: Expr | int) -> Load:
        """`buf[i]` is the expression that loads element `i`."""
        from vyre.ir.expr import Load, lift

        return Load(self.name, lift(index))

    def store(self, index: Expr | int, value: Expr | int) -> Store:
        """The statement that stores `value` at `index`."""
        from vyre.ir.expr import lift
        from vyre.ir.node import Store

        return Store(self.name, lift(index), lift(value))

    @property
    def length(self) -> Expr:
        """The expression for the number of elements."""
        from vyre.ir.expr import BufLen

        return BufLen(self.name)
