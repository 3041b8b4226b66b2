"""What a program says about a buffer: how it may be used, of what it is made, where it is bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.closed import ClosedEnum
from vyre.slotted import dataclass

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
    Private = "Private"
    Constant = "Constant"

    @property
    def writable(self) -> bool:
        return self in _WRITABLE

    @property
    def atomic(self) -> bool:
        return self in (BufferAccess.ReadWrite, BufferAccess.WorkgroupAtomic)

    @property
    def shared(self) -> bool:
        """True for memory of one workgroup."""
        return self in (BufferAccess.Workgroup, BufferAccess.WorkgroupAtomic)

    @property
    def bound(self) -> bool:
        """True for what the host supplies at a binding; it never sees the others."""
        return self in _BOUND


_WRITABLE = frozenset(
    {BufferAccess.ReadWrite, BufferAccess.Workgroup, BufferAccess.WorkgroupAtomic, BufferAccess.Private}
)
_BOUND = frozenset({BufferAccess.ReadOnly, BufferAccess.ReadWrite, BufferAccess.Uniform})


@dataclass(frozen=True, slots=True)
class BufferDecl:
    """A buffer of a program. `count` 0 means sized by the host.

    Memory of a workgroup, private memory and constant tables have no binding. Private memory is an
    invocation's own and zero when it starts. `data` holds the elements of a constant table as a buffer would.
    """

    name: str
    binding: int | None
    access: BufferAccess
    element: DataType
    count: int = 0
    data: bytes = b""

    def __post_init__(self) -> None:
        if self.access is BufferAccess.Constant:
            if len(self.data) != self.count * self.element.stride:
                raise VyreError(
                    f"the constant table {self.name} has {len(self.data)} bytes, but its {self.count} "
                    f"{self.element.value} elements take {self.count * self.element.stride}.",
                    fix="build it with BufferDecl.constant, which counts the elements.",
                )
        elif self.data:
            raise VyreError(
                f"the {self.access.value} buffer {self.name} is declared with data.",
                fix="build constant tables with BufferDecl.constant; the host supplies other buffers.",
            )

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

    @classmethod
    def private(cls, name: str, element: DataType, count: int) -> BufferDecl:
        """Memory that every invocation has a copy of, zero when it starts."""
        return cls(name, None, BufferAccess.Private, element, count)

    @classmethod
    def constant(cls, name: str, element: DataType, data: bytes) -> BufferDecl:
        """A table that is part of the program; `data` are its elements, little-endian."""
        if not isinstance(data, bytes) or len(data) % element.stride:  # pyright: ignore[reportUnnecessaryIsInstance]
            given = f"{len(data)} bytes" if isinstance(data, bytes) else type(data).__name__  # pyright: ignore[reportUnnecessaryIsInstance]
            raise VyreError(
                f"the constant table {name} got {given}, not a whole number of {element.value} elements.",
                fix=f"pass bytes, {element.stride} for each element.",
            )
        return cls(name, None, BufferAccess.Constant, element, len(data) // element.stride, data)

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
