"""Which instructions of a program are installed: settled before anything is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.hardware import instructions
from vyre.compose.registry import default_registry
from vyre.errors import UnsupportedByBackend

if TYPE_CHECKING:
    from vyre.compose.registry import Registry
    from vyre.ir.program import Program


def require_known(program: Program, registry: Registry | None, backend: str) -> None:
    """Refuses an instruction that is not installed: a backend is handed the program, not the registry."""
    for op in instructions(program.entry, registry).values():
        if default_registry().get(op.id) != op:
            raise UnsupportedByBackend(
                op.id,
                backend,
                why="no installed package declares this instruction",
                fix="offer the op in the entry point group `vyre.ops`.",
            )
