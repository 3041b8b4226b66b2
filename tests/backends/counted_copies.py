"""How often memory is copied between the host and a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from vyre.backends.protocol import DeviceMemory


class Counter:
    """Counts the copies between host and device that a backend's memory makes while it is open."""

    def __init__(self, patch: pytest.MonkeyPatch, memory: DeviceMemory) -> None:
        self.count = 0
        kind = type(memory)
        for name in ("read", "write", "copy"):
            patch.setattr(kind, name, self._counting(getattr(kind, name)))

    def _counting(self, inner: Any) -> Any:
        def copy(*arguments: Any) -> Any:
            self.count += 1
            return inner(*arguments)

        return copy
