"""A kernel with its arguments, queued on a stream by calling it: again and again where they stay the same."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from vyre.backends.cuda.driver import check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Grid = tuple[int, int, int]


class LaunchArguments:
    """The arguments of a launch as the driver takes them: an array of their addresses."""

    __slots__ = ("_kept", "address", "pointers")

    def __init__(self, addresses: Sequence[int], words: Sequence[int]) -> None:
        pointers = (ctypes.c_uint64 * len(addresses))(*addresses)
        hidden = (ctypes.c_uint32 * len(words))(*words)
        where = [ctypes.addressof(pointers) + 8 * k for k in range(len(addresses))]
        where += [ctypes.addressof(hidden) + 4 * k for k in range(len(words))]
        table = (ctypes.c_void_p * len(where))(*where)
        self.pointers: Any = pointers
        self._kept = (hidden, table)
        self.address = ctypes.addressof(table)


class CudaLaunch:
    """Launches of one kernel, several where a grid axis is too long for one. `owner` keeps it loaded."""

    __slots__ = ("_enter", "_owner", "_queue", "_stream", "function", "parts", "size")

    def __init__(
        self,
        owner: object,
        enter: Callable[[], None],
        queue: Callable[..., Any],
        function: Any,
        size: Grid,
        parts: Sequence[tuple[Grid, LaunchArguments]],
        stream: int,
    ) -> None:
        self._owner = owner
        self._enter = enter
        self._queue = queue
        self._stream = stream
        self.function = function
        self.size = size
        self.parts = parts

    def __call__(self) -> None:
        self._enter()
        for grid, arguments in self.parts:
            answer = self._queue(self.function, *grid, *self.size, 0, self._stream, arguments.address, 0)
            if answer[0] != 0:
                check(answer)
