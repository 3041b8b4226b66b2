"""What an expression of a generated program may name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.ir import BufferDecl, DataType, Expr

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Scope:
    """What an expression may name at one point of the program.

    `own` maps buffers to an index expression that no other invocation uses, so that loads, stores
    and every kind of atomic there are free of races and of order. `readable` are buffers that any
    invocation may read at any index right now. `uniform` lists variables equal in the workgroup.
    """

    readable: list[BufferDecl] = field(default_factory=list[BufferDecl])
    own: dict[str, tuple[BufferDecl, Expr]] = field(default_factory=dict[str, tuple[BufferDecl, Expr]])
    variables: list[tuple[str, DataType]] = field(default_factory=list[tuple[str, DataType]])
    uniform: list[str] = field(default_factory=list[str])
    lengths: list[str] = field(default_factory=list[str])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """How many elements a readable buffer has, where its declaration leaves it open."""
    wide: list[str] = field(default_factory=list[str])
    """U32 variables that take many values, a different one in each invocation."""
    watch: Callable[[Expr, DataType], Expr] | None = None
    """Binds a value, notes it, and gives its name; None where nobody notes anything."""
