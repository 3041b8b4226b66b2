"""A compiled program on plain memory: views of it as the protocol wants them, a run, and the bytes after it.

    execute(executable, program, {"x": array, "out": results}, (4, 1, 1))       in place
    run_bytes(executable, program, {"x": b"…"}, (4, 1, 1))["out"]               on copies

Both leave out the rules of `dispatch` for a caller's arrays: whoever uses them knows the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Executable
    from vyre.ir.program import Program

    Memory = NDArray[Any] | bytes | bytearray | memoryview

_GUARD = bytes([0xA5]) * 256


def execute(
    executable: Executable, program: Program, memory: Mapping[str, Memory], workgroups: tuple[int, int, int]
) -> None:
    """Runs on this memory, contiguous, by the names of the program's storage and uniform buffers."""
    executable.run(
        {b.name: _view(memory[b.name], b.access) for b in program.buffers if b.access.bound}, workgroups
    )


def run_bytes(
    executable: Executable, program: Program, inputs: Mapping[str, bytes], workgroups: tuple[int, int, int]
) -> dict[str, bytes]:
    """The ReadWrite buffers after a run; one that is not given is zeros before it.

    Every buffer lies between guard bytes. Raises `VyreError`, which names the buffer, for a backend that
    changes those, where it would corrupt the process otherwise, or a buffer that is read-only.
    """
    whole: dict[str, bytearray] = {}
    inside: dict[str, memoryview] = {}
    for decl in program.buffers:
        if decl.access.bound:
            data = inputs.get(decl.name, bytes(decl.count * decl.element.stride))
            whole[decl.name] = bytearray(_GUARD + data + _GUARD)
            inside[decl.name] = memoryview(whole[decl.name])[len(_GUARD) : len(_GUARD) + len(data)]
    execute(executable, program, inside, workgroups)
    for decl in program.buffers:
        if decl.access.bound:
            kept = None if decl.access.writable else inputs.get(decl.name)
            _require_untouched(decl.name, whole[decl.name], inside[decl.name], kept)
    return {b.name: bytes(inside[b.name]) for b in program.buffers if b.access is BufferAccess.ReadWrite}


def _view(memory: Memory, access: BufferAccess) -> memoryview:
    view = memory.reshape(-1).view(np.uint8).data if isinstance(memory, np.ndarray) else memoryview(memory)
    return view if access.writable else view.toreadonly()


def _require_untouched(name: str, whole: bytearray, inside: memoryview, kept: bytes | None) -> None:
    if not whole.startswith(_GUARD) or not whole.endswith(_GUARD):
        raise VyreError(
            f"the backend wrote outside of the buffer {name!r}.", fix="check the bounds of every store."
        )
    if kept is not None and bytes(inside) != kept:
        raise VyreError(
            f"the backend changed the buffer {name!r}, which is read-only.",
            fix="leave the memory of ReadOnly and Uniform buffers as it is.",
        )
