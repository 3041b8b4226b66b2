"""A kernel with its arguments, queued on a stream by calling it: again and again where they stay the same."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from vyre.backends.cuda.driver import check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.cuda.order import MemoryUse
    from vyre.backends.cuda.pool import CudaOwner

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
    """Launches of one kernel, several where a grid axis is too long for one.

    `owner` keeps it loaded, and `uses` is all the memory that it touches.
    """

    __slots__ = ("_enter", "_owner", "_queue", "_stream", "function", "parts", "size", "uses")

    def __init__(
        self,
        owner: object,
        enter: Callable[[], None],
        queue: Callable[..., Any],
        function: Any,
        size: Grid,
        parts: Sequence[tuple[Grid, LaunchArguments]],
        stream: Any,
        uses: Sequence[MemoryUse],
    ) -> None:
        self._owner = owner
        self._enter = enter
        self._queue = queue
        self._stream = stream
        self.function = function
        self.size = size
        self.parts = parts
        self.uses = uses

    def __call__(self) -> None:
        self._enter()
        for grid, arguments in self.parts:
            answer = self._queue(self.function, *grid, *self.size, 0, self._stream, arguments.address, 0)
            if answer[0] != 0:
                check(answer)


class AddressedLaunch:
    """Launches of one kernel for buffers of certain lengths, called with their addresses, in any thread.

    `parts` are the grids with their hidden words. `owner` keeps the kernel loaded.
    """

    __slots__ = ("_backend", "_function", "_idle", "_owner", "_parts", "_queue", "_size")

    def __init__(
        self,
        owner: object,
        backend: CudaOwner,
        function: Any,
        size: Grid,
        parts: Sequence[tuple[Grid, Sequence[int]]],
    ) -> None:
        self._owner = owner
        self._backend = backend
        self._queue = backend.driver.cuLaunchKernel
        self._function = function
        self._size = size
        self._parts = parts
        self._idle: list[list[tuple[LaunchArguments, tuple[Any, ...]]]] = []

    def __call__(self, addresses: Sequence[int]) -> None:
        try:  # whoever takes arguments has them alone, in whatever thread
            taken = self._idle.pop()
        except IndexError:
            taken = [self._arguments(addresses, grid, words) for grid, words in self._parts]
        self._backend.enter()
        for arguments, given in taken:
            arguments.pointers[:] = addresses
            answer = self._queue(*given)
            if answer[0] != 0:
                check(answer)
        self._idle.append(taken)

    def _arguments(
        self, addresses: Sequence[int], grid: Grid, words: Sequence[int]
    ) -> tuple[LaunchArguments, tuple[Any, ...]]:
        """The arguments, and all that the driver is given with them."""
        made = LaunchArguments(addresses, words)
        return made, (self._function, *grid, *self._size, 0, self._backend.stream, made.address, 0)
