"""Memory for engines under test: guards around every buffer, and outputs that hold poison at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.engines.memory import HostMemory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.engines.plan import Space
    from vyre.ir.types import DataType

GUARD = 256
GUARD_BYTE = 0x5C
POISON = 0xC3
"""Every byte of an output that nothing has written yet."""


class GuardedMemory(HostMemory):
    """Host memory that knows afterwards whether anything was written beside the buffers."""

    def __init__(self) -> None:
        super().__init__()
        self._arenas: dict[str, NDArray[np.uint8]] = {}
        self._sizes: dict[str, int] = {}
        self._given: dict[str, bytes] = {}

    def give(self, name: str, element: DataType, value: Any) -> int:
        count = super().give(name, element, value)
        self._given[name] = self.take(name).tobytes()
        return count

    def fresh(self, space: Space, *, output: bool) -> NDArray[Any]:
        array = super().fresh(space, output=output)
        if output:
            array.view(np.uint8)[:] = POISON
        return array

    def placed(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        arena = np.full(2 * GUARD + array.nbytes, GUARD_BYTE, np.uint8)
        inner = arena[GUARD : GUARD + array.nbytes].view(array.dtype)
        inner[:] = array
        self._arenas[name], self._sizes[name] = arena, array.nbytes
        return inner

    def damage(self, written: Mapping[str, int]) -> tuple[str, str, str] | None:
        """The first byte that should not have changed: where, what it was, what it is.

        `written` says how many elements of an output belong to the result; the rest keeps its poison.
        """
        for name, arena in self._arenas.items():
            end = GUARD + self._sizes[name]
            for first, part in ((0, arena[:GUARD]), (end, arena[end:])):
                wrong = np.flatnonzero(part != GUARD_BYTE)
                if wrong.size:
                    at = first + int(wrong[0])
                    return f"{name} byte {at - GUARD}", f"0x{GUARD_BYTE:02X}", f"0x{arena[at]:02X}"
        for name, before in self._given.items():
            if self.take(name).tobytes() != before:
                return f"input {name}", "what it was", "other bytes"
        for name, count in written.items():
            array = self.take(name)
            if count > array.size:
                return f"count of {name}", f"at most {array.size}", str(count)
            left = array[count:].view(np.uint8)
            wrong = np.flatnonzero(left != POISON)
            if wrong.size:
                at = int(wrong[0])
                return (
                    f"{name}[{count + at // array.itemsize}], past its {count} elements",
                    f"0x{POISON:02X}",
                    f"0x{left[at]:02X}",
                )
        return None
