"""A program: buffers, a workgroup size, and the statements every invocation runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError, boundary
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.node import Node
from vyre.ir.types import DataType
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vyre.errors import SourceLocation

_set = object.__setattr__
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Program:
    """An immutable GPU program. Equal programs have equal wire bytes.

    `locations` maps node paths such as `entry[2].then[0]` to the user's source; it is not part of
    the program's identity and is not shipped. Nor is `inlined`, by which the inliner remembers that what the
    program still calls is hardware.
    """

    buffers: tuple[BufferDecl, ...]
    workgroup_size: tuple[int, int, int]
    entry: tuple[Node, ...]
    locations: Mapping[str, SourceLocation] = field(
        default_factory=dict[str, "SourceLocation"], compare=False, repr=False, kw_only=True
    )
    inlined: bool = field(default=False, init=False, compare=False, repr=False)

    @boundary
    def __init__(
        self,
        buffers: Iterable[BufferDecl],
        workgroup_size: Iterable[int],
        entry: Iterable[Node],
        *,
        locations: Mapping[str, SourceLocation] | None = None,
    ) -> None:
        size = tuple(workgroup_size)
        if len(size) > 3:
            raise VyreError(f"a workgroup has three dimensions, not {len(size)}.", fix="pass (x, y, z).")
        _set(self, "buffers", tuple(buffers))
        _set(self, "workgroup_size", (*size, 1, 1, 1)[:3])
        _set(self, "entry", tuple(entry))
        _set(self, "locations", dict(locations or {}))
        _set(self, "inlined", False)

    def mark_inlined(self) -> Program:
        """The same program, which the inliner need not look at again."""
        _set(self, "inlined", True)
        return self

    @property
    def size(self) -> int:
        """Expression and statement nodes, counted as a tree."""
        return sum(node.size for node in self.entry)

    def buffer(self, name: str) -> BufferDecl | None:
        """The first buffer of that name, or None."""
        return next((b for b in self.buffers if b.name == name), None)

    @boundary
    def to_wire(self) -> bytes:
        """The canonical binary form. Raises `WireError` for a program beyond the shared limits."""
        from vyre.wire import encode

        return encode(self)

    @classmethod
    @boundary
    def from_wire(cls, data: bytes) -> Program:
        """The program of a wire form; anything else in `data` raises `WireError`."""
        from vyre.wire import decode

        return decode(data)

    @boundary
    def to_text(self) -> str:
        """The readable form, which `Program.from_text` reads back without loss."""
        from vyre.text import print_program

        return print_program(self)

    @classmethod
    @boundary
    def from_text(cls, text: str, *, file: str = "<text>") -> Program:
        from vyre.text import parse_program

        return parse_program(text, file=file)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        """The first statements only: a repr is for a debugger's line, `str` shows everything."""
        entry = ", ".join(repr(node) for node in self.entry[:_SHOWN])
        more = f", … {len(self.entry) - _SHOWN} more" if len(self.entry) > _SHOWN else ""
        return (
            f"Program(buffers={self.buffers!r}, workgroup_size={self.workgroup_size!r}, "
            f"entry=({entry}{more}))"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (Program.from_wire, (self.to_wire(),))


def require_program(program: Program) -> None:
    """Python values of the wrong kind are not language errors and have no V-code."""
    for position, buffer in enumerate(program.buffers):
        sound = (
            isinstance(buffer, BufferDecl)  # pyright: ignore[reportUnnecessaryIsInstance]
            and isinstance(buffer.name, str)  # pyright: ignore[reportUnnecessaryIsInstance]
            and isinstance(buffer.access, BufferAccess)  # pyright: ignore[reportUnnecessaryIsInstance]
            and isinstance(buffer.element, DataType)  # pyright: ignore[reportUnnecessaryIsInstance]
        )
        if not sound:
            raise VyreError(
                f"buffers[{position}] is {buffer!r}, not a BufferDecl of name, access and element type.",
                fix="build it with BufferDecl.read, read_write, uniform, workgroup, private or constant.",
            )
    for position, node in enumerate(program.entry):
        if not isinstance(node, Node):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise VyreError(
                f"entry[{position}] is {node!r}, not a statement.",
                fix="pass Let, Assign, Store, If, Loop, Break, Return, Block or Barrier nodes.",
            )
