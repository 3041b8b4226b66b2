"""Device memory that lives as long as somebody holds on to it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.protocol import DeviceMemory


class Claim:
    """Frees memory when the last one who uses it drops this."""

    __slots__ = ("__weakref__", "_memory")

    def __init__(self, memory: DeviceMemory) -> None:
        self._memory = memory

    def __del__(self, _ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not _ending():  # a process takes its memory with it, and drivers may be gone first
            self._memory.free()
