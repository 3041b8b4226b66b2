"""What calls have to know of a program: its buffers and its workgroup size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.grid import Grid

    class Outline(Protocol):
        """A program, or what is known of one."""

        @property
        def buffers(self) -> tuple[BufferDecl, ...]: ...
        @property
        def workgroup_size(self) -> Grid: ...


class Outlined(NamedTuple):
    """What is known of a program that is on the disk."""

    buffers: tuple[BufferDecl, ...]
    workgroup_size: Grid
